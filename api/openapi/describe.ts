import type { z } from 'zod';
import { ERRORS, ErrorBody, type ErrorCode } from '../contract/errors.ts';
import type { Answer, Route } from '../http/route.ts';
import type { Media, OpenApi, Operation, Parameter, Response } from './document.ts';
import { type Json, parameterSchema, refer } from './schemas.ts';
import { TAGS } from './tags.ts';

const BASE = '/v1';
const GENERAL: readonly ErrorCode[] = ['internal_error', 'service_unavailable'];
const GENERAL_WITH_KEY: readonly ErrorCode[] = ['unauthorized', 'api_access_required', 'rate_limit_exceeded'];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const WAITING: ReadonlySet<ErrorCode | null> = new Set(['idempotency_conflict', 'transcription_not_completed']); // responses with Retry-After, besides every 429 and 503
const HEADERS = {
  RequestId: ['X-Request-Id', 'Id of this request; `request_id` in errors', 'string'],
  RateLimitLimit: ['RateLimit-Limit', 'Requests per minute; absent if there is no limit', 'integer'],
  RateLimitRemaining: ['RateLimit-Remaining', 'Requests that can be sent immediately', 'integer'],
  RateLimitReset: ['RateLimit-Reset', 'Seconds until the full burst is available again', 'integer'],
  RetryAfter: ['Retry-After', 'Whole seconds to wait, at least 1', 'integer'],
  ContentRange: ['Content-Range', 'The size of the file, after `bytes */`', 'string'],
  ShouldRetry: ['X-Should-Retry', '`false` if the official clients must not retry', 'string'],
  WwwAuthenticate: ['WWW-Authenticate', 'Authentication scheme: Bearer', 'string'],
} as const;

/**
 * The OpenAPI 3.1 description of the routes under /v1, from the schemas that check and the error table that answers. `origin` is where clients
 * reach the service, as `https://host`: generators take a relative address for a file's.
 */
export function describeApi(routes: readonly Route[], origin: string): OpenApi {
  const schemas: Record<string, unknown> = {};
  const paths: OpenApi['paths'] = {};
  const shown = routes.filter((route) => !route.hidden && route.path.startsWith(`${BASE}/`));
  for (const route of shown.sort((a, b) => METHODS.indexOf(a.method) - METHODS.indexOf(b.method))) {
    const path = route.path.slice(BASE.length);
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operation(route, schemas);
  }
  refer(ErrorBody, 'output', schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Longhand',
      version: '1',
      description:
        'Upload a recording, poll until its status is `completed`, and read who said what. Every error response is JSON. Branch on `code`; each response lists its codes under `x-codes`, and new ones may be added. Repeated known query parameters are refused, unknown ones ignored. The HTTP parser itself responds in HTML, before these routes, with 400 (invalid HTTP/1.1), 431 (headers too large) or 505 (unsupported HTTP version, or a URL over 100 KB).',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The operator of this installation', url: origin },
    },
    servers: [{ url: `${origin}${BASE}`, description: 'This installation' }],
    tags: Object.entries(TAGS)
      .filter(([name]) => shown.some((route) => route.tag === name))
      .map(([name, description]) => ({ name, description })),
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key, or an OAuth access token' } },
      headers: Object.fromEntries(Object.entries(HEADERS).map(([id, [, description, type]]) => [id, { description, schema: { type } }])),
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function operation(route: Route, schemas: Json): Operation {
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: `${route.description ?? `${route.summary}.`}\n\n${route.access ? `Permission: \`${route.access.scope}\`.` : 'No key is needed.'}`,
    tags: [route.tag],
    ...(route.access ? { 'x-scope': route.access.scope } : { security: [] }),
    parameters: parameters(route),
    ...requestBody(route, schemas),
    responses: { ...answers(route, schemas), ...refusals(route, schemas) },
  };
}

function operationId({ id, method, path }: Route): string {
  if (!id) throw new Error(`Cannot describe ${method} ${path}: the route has no id`);
  return id;
}

function parameters(route: Route): Parameter[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    ...(route.params?.[name!] && { description: route.params[name!] }),
    schema: { type: 'string', ...(/^(user_)?id$/.test(name!) && { format: 'uuid' }) },
  }));
  const shape = (route.query as z.ZodObject | undefined)?.shape ?? {};
  const inQuery = Object.entries(shape).map(([name, schema]) => {
    const { description, example, ...rest } = parameterSchema(schema as z.ZodType);
    return {
      name,
      in: 'query',
      ...(description ? { description: String(description) } : {}),
      schema: rest,
      ...(example ? { example } : {}),
    };
  });
  const also = Object.entries(route.alsoQuery ?? {}).map(([name, parameter]) => ({ name, in: 'query', ...parameter }));
  const inHeader = Object.entries(route.upload?.headers ?? {}).map(([name, { description, required, example, schema }]) => ({
    ...{ name, in: 'header', required, description, schema: { type: 'string', ...schema }, example },
  }));
  return [...inPath, ...inQuery, ...also, ...inHeader];
}

function requestBody(route: Route, schemas: Json): Pick<Operation, 'requestBody'> & Json {
  if (route.upload) {
    const content = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
    return {
      requestBody: {
        required: true,
        description: `The raw bytes of the file, at least ${route.upload.minBytes}, with a Content-Length`,
        content,
      },
    };
  }
  if (route.form) return { requestBody: { required: true, content: { 'multipart/form-data': { schema: { ...route.form } } } } };
  if (!route.body) return {};
  return { requestBody: { required: true, content: { 'application/json': { schema: refer(route.body, 'input', schemas) } } } };
}

function answers(route: Route, schemas: Json): Operation['responses'] {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, answer]) => {
      const content = answerContent(answer, schemas);
      const own = Object.entries(answer.headers ?? {}).map(([name, description]) => [name, { description, schema: { type: 'string' } }]);
      return [
        status,
        {
          description: answer.description,
          headers: { ...commonHeaders(route), ...Object.fromEntries(own) },
          ...(Object.keys(content).length && { content }),
        },
      ];
    }),
  );
}

function answerContent(answer: Answer, schemas: Json): Record<string, Media> {
  const content: Record<string, Media> = {};
  if (answer.schema) {
    const example = answer.example === undefined ? {} : { example: answer.example };
    content['application/json'] = { schema: refer(answer.schema, 'output', schemas), ...example };
  }
  for (const type of [answer.type ?? []].flat()) {
    content[type] = { schema: { type: 'string', format: 'binary' } };
  }
  return content;
}

/** All errors of the route by status, with an example per code. */
function refusals(route: Route, schemas: Json): Operation['responses'] {
  const codes = [...route.errors, ...(route.access ? GENERAL_WITH_KEY : []), ...GENERAL];
  if (route.access?.tokenError) codes.push(route.access.tokenError);
  if (route.access) codes.push(route.access.scopeError ?? 403);
  const byStatus = new Map<number, Set<ErrorCode | null>>();
  for (const code of codes) {
    const status = typeof code === 'number' ? code : ERRORS[code].status;
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(typeof code === 'number' ? null : code));
  }
  return Object.fromEntries(
    [...byStatus].sort(([a], [b]) => a - b).map(([status, found]) => [status, refusal(route, status, [...found], schemas)]),
  );
}

function refusal(route: Route, status: number, codes: (ErrorCode | null)[], schemas: Json): Response {
  const waits = status === 429 || status === 503 || codes.some((code) => WAITING.has(code));
  return {
    description: codes.map((code) => (code ? `\`${code}\`: ${ERRORS[code].message}` : `no code: ${bare(status)}`)).join('\n\n'),
    'x-codes': codes,
    headers: {
      ...(status === 401 ? pick('RequestId', 'WwwAuthenticate') : commonHeaders(route)),
      ...(waits && pick('RetryAfter')),
      ...(status === 416 && pick('ContentRange')),
      ...(route.refusals && status >= 500 && pick('ShouldRetry')),
    },
    content: {
      'application/json': {
        schema: route.refusals ? refer(route.refusals.schema, 'output', schemas) : { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code ?? 'none', { value: example(route, status, code) }])),
      },
    },
  };
}

function example(route: Route, status: number, code: ErrorCode | null): unknown {
  const details: { [K in ErrorCode]?: Json } = {
    validation_error: { errors: [{ field: 'format', message: 'must be md, txt or json' }] },
    prompt_not_found: { slug: 'no-such-template' },
  };
  const message = code ? ERRORS[code].message : bare(status);
  const detail = (code && details[code]) ?? null;
  if (route.refusals) return route.refusals.body({ status, code, message, detail });
  return { code, message, detail, request_id: '6f1e2d3c-4b5a-4697-8878-695a4b3c2d1e' };
}

function bare(status: number): string {
  return status === 404 ? 'Not found, or not visible to this key' : 'The role or permissions of this key do not allow this';
}

function commonHeaders(route: Route): Json {
  return route.access ? pick('RequestId', 'RateLimitLimit', 'RateLimitRemaining', 'RateLimitReset') : pick('RequestId');
}

function pick(...ids: (keyof typeof HEADERS)[]): Json {
  return Object.fromEntries(ids.map((id) => [HEADERS[id][0], { $ref: `#/components/headers/${id}` }]));
}
