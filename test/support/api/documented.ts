import { routeTable } from '../../../api/http/router.ts';
import { describeApi } from '../../../api/openapi/describe.ts';
import { ROUTES } from '../../../api/v1/routes.ts';

/** Headers that every response may have without being documented: those of the transport, not of the content. */
const PLAIN = new Set([
  'content-type',
  'content-length',
  'transfer-encoding',
  'connection',
  'date',
  'cache-control',
  'x-content-type-options',
]);
const LISTED = ROUTES.filter(({ hidden }) => !hidden);

const match = routeTable(ROUTES);
const { paths } = describeApi(LISTED, 'http://localhost');

/**
 * Throws if a response of /v1 differs from the OpenAPI document in status, code, content type, headers or schema. The test clients check every
 * response with it, so that every response that a test provokes is documented. Ignores responses that belong to no endpoint (an unknown path,
 * another method) and those of the HTTP parser.
 */
export function checkDocumented(
  method: string,
  path: string,
  answer: { status: number; headers: ReadonlyMap<string, string>; json: unknown },
): void {
  const { status, headers, json } = answer;
  if (!headers.has('x-request-id') || status === 405) return;
  const route = routeOf(method, path.split('?')[0]!);
  if (!route || route.hidden) return;
  const where = `${method} ${path.slice(0, 100)} has the response ${status}`;
  const response = paths[route.path.slice('/v1'.length)]![route.method.toLowerCase()]!.responses[status];
  if (!response) throw new Error(`${where}, which is not documented`);
  const named = new Set(Object.keys(response.headers).map((name) => name.toLowerCase()));
  for (const name of headers.keys()) {
    if (!PLAIN.has(name) && !named.has(name)) throw new Error(`${where} with the header ${name}, which is not documented`);
  }
  if (method === 'HEAD' || status === 204 || status === 304) return;
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  const media = response.content?.[type];
  if (!media) throw new Error(`${where} as ${type}, which is not documented`);
  if (status >= 400) {
    const { code } = ((json as { error?: object }).error ?? json) as { code: string | null };
    if (!response['x-codes']?.includes(code)) throw new Error(`${where} ${code}, which is not documented`);
    return;
  }
  const schema = type === 'application/json' ? route.answers[status]!.schema : undefined;
  const parsed = schema?.safeParse(json);
  if (parsed && !parsed.success) throw new Error(`${where} with a body that does not match its schema: ${parsed.error.message}`);
}

function routeOf(method: string, path: string) {
  try {
    return match(method, path).route;
  } catch {
    return null; // 404 or 405: no endpoint
  }
}
