import { z } from 'zod';

/* Zod schemas as the components and parameters of an OpenAPI document. */

export type Json = Record<string, unknown>;

/** A reference to the schema among the components when it has an id, else the schema itself. Ids inside it become references too. */
export function refer(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const id = schema.meta()?.id;
  const { $defs, ...own } = rewrite(z.toJSONSchema(schema, { io, unrepresentable: 'any' }), io) as Json;
  for (const [name, inner] of Object.entries(($defs as Json | undefined) ?? {})) schemas[name] = inner;
  if (!id || '$ref' in own) return own;
  schemas[id] = own;
  return { $ref: `#/components/schemas/${id}` };
}

/** Without $schema and $id, with references into the components. Answers may gain fields, so they do not forbid others. */
function rewrite(value: unknown, io: 'input' | 'output'): unknown {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, io));
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(
    ([key, inner]) =>
      key !== '$schema' && key !== '$id' && key !== 'id' && !(io === 'output' && key === 'additionalProperties' && inner === false),
  );
  return Object.fromEntries(
    kept.map(([key, inner]) => [key, key === '$ref' ? String(inner).replace('#/$defs/', '#/components/schemas/') : rewrite(inner, io)]),
  );
}

/** A query parameter arrives as text; `.meta({ type })` says what the text holds and then stands for the whole schema. */
export function parameterSchema(schema: z.ZodType): Json {
  const meta = schema.meta() as Json | undefined;
  if (meta?.type) return { ...meta };
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json;
  return rest;
}
