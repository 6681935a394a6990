/** The parts of an OpenAPI document that the reference page uses. */
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
  /** For errors: the values of `code`; null if there is none. */
  'x-codes'?: (string | null)[];
  content?: Record<string, Media>;
  headers: Record<string, unknown>;
}

export interface Media {
  schema: { $ref?: string; [more: string]: unknown };
  example?: unknown;
  examples?: Record<string, unknown>;
}
