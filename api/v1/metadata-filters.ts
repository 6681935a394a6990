import { invalid } from '../contract/errors.ts';
import type { Parameter } from '../openapi/document.ts';

/** A top-level metadata key, and the text that its value must have. */
export interface MetadataFilter {
  key: string;
  value: string;
}

/** In OpenAPI's syntax: `metadata[key]=value`. */
export const METADATA_PARAMETER: Omit<Parameter, 'name' | 'in'> = {
  description:
    'Exact match on top-level metadata keys, as `metadata[key]=value`; all must match. `metadata.key=value` is equivalent and allows any key. Clients that send the keys as separate parameters need `metadata.key` as the name.',
  style: 'deepObject',
  explode: true,
  example: { deal: '1042' },
  schema: { type: 'object', additionalProperties: { type: 'string' } },
};

/**
 * The filters on metadata among these parameters: behind the first dot, or between the brackets, stands one literal key. Throws
 * `validation_error` for a key that is given twice, and for any other name that begins with `metadata`: to pass over it would answer with a
 * list that is not filtered.
 */
export function metadataFilters(parameters: ReadonlyMap<string, readonly string[]>): MetadataFilter[] {
  const filters = new Map<string, string>();
  const errors: { field: string; message: string }[] = [];
  for (const [name, values] of parameters) {
    if (!/^metadata/i.test(name)) continue;
    const key = keyOf(name);
    if (key === null) errors.push({ field: name, message: 'is not a filter: send metadata.<key>=<value> or metadata[<key>]=<value>' });
    else if (values.length > 1 || filters.has(key)) errors.push({ field: name, message: 'was given more than once' });
    else filters.set(key, values[0]!);
  }
  if (errors.length) throw invalid(errors);
  return [...filters].map(([key, value]) => ({ key, value }));
}

/** `metadata.a.b` -> `a.b`, `metadata[a]` -> `a`; null for anything else. */
function keyOf(name: string): string | null {
  if (name.startsWith('metadata.')) return name.slice('metadata.'.length);
  const inside = /^metadata\[(.+)\]$/s.exec(name)?.[1];
  return inside === undefined || inside.includes('][') ? null : inside;
}
