/** As much of an OpenAPI document as the reference page reads. */
export interface OpenApi {
  openapi: string;
  info: { title: string; version: string; description: string; license: object; contact: object };
  servers: { url: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> } & Record<string, unknown>;
  [more: string]: unknown;
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  'x-scope'?: string;
  parameters: Parameter[];
  requestBody?: { required: boolean; description?: string; content: Record<string, Media> };
  responses: Record<string, Response>;
  [more: string]: unknown;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  style?: string;
  explode?: boolean;
  schema: { type?: string; format?: string; enum?: string[]; default?: unknown; [more: string]: unknown };
}

export interface Response {
  description: string;
  /** Of a refusal: the values of `code`; null where there is none. */
  'x-codes'?: (string | null)[];
  content?: Record<string, Media>;
  headers: Record<string, unknown>;
}

export interface Media {
  schema: { $ref?: string; [more: string]: unknown };
  example?: unknown;
  examples?: Record<string, unknown>;
}
