import { z } from 'zod';

/* Converts zod schemas to components and parameters of an OpenAPI document. */

export type Json = Record<string, unknown>;

const FORMATS_SAY_IT: ReadonlySet<unknown> = new Set(['uuid', 'date-time', 'date', 'email', 'uri']); // formats that make a pattern redundant
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs']); // objects whose keys are names, not keywords

/** A reference to the schema's component if it has an id, else the schema itself. Nested ids become references too. */
export function refer(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const id = schema.meta()?.id;
  const { $defs, ...own } = rewrite(z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json, io);
  for (const [name, inner] of Object.entries(($defs as Json | undefined) ?? {})) schemas[name] = inner;
  if (!id || '$ref' in own) return own;
  schemas[id] = own;
  return { $ref: `#/components/schemas/${id}` };
}

/** Simplifies a schema for client generators: references to components, `double` for numbers, no bounds that are only JavaScript's. */
function rewrite(schema: Json, io: 'input' | 'output'): Json {
  const kept = Object.entries(schema).filter(([key, value]) => !superfluous(key, value, schema, io));
  const own = Object.fromEntries(kept.map(([key, value]) => [key, key === '$ref' ? componentOf(String(value)) : inner(key, value, io)]));
  return [own.type].flat().includes('number') ? { ...own, format: 'double' } : own;
}

function inner(key: string, value: unknown, io: 'input' | 'output'): unknown {
  if (Array.isArray(value)) return value.map((item) => inner('', item, io));
  if (value === null || typeof value !== 'object' || key === 'example' || key === 'default') return value;
  if (!NAMED.has(key)) return rewrite(value as Json, io);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, rewrite(each as Json, io)]));
}

/** Responses may gain fields, so other properties are not forbidden. */
function superfluous(key: string, value: unknown, { format }: Json, io: 'input' | 'output'): boolean {
  if (key === '$schema' || key === '$id' || key === 'id' || key === 'propertyNames') return true; // names are always strings
  if (key === 'additionalProperties') return io === 'output' && value === false;
  if (key === 'pattern') return FORMATS_SAY_IT.has(format);
  return (key === 'minimum' || key === 'maximum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
}

function componentOf(reference: string): string {
  return reference.replace('#/$defs/', '#/components/schemas/');
}

/** A query parameter arrives as text; `.meta({ type })` declares its type and replaces the schema except for the default. */
export function parameterSchema(schema: z.ZodType): Json {
  const meta = schema.meta() as Json | undefined;
  const own = rewrite(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json, 'input');
  if (!meta?.type) return own;
  const { default: value } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }); // the input schema of a transform has none
  return value === undefined ? { ...meta } : { ...meta, default: value };
}
