import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { ERRORS } from '../../../api/contract/errors.ts';
import { describeApi } from '../../../api/openapi/describe.ts';
import type { Operation } from '../../../api/openapi/document.ts';
import { ROUTES } from '../../../api/v1/routes.ts';
import { testApi } from '../../support/api/client.ts';
import { EVERYWHERE, PAIRS } from '../codes.ts';

const REVIEWED = new URL('../openapi.json', import.meta.url);
const document = JSON.parse(JSON.stringify(describeApi(ROUTES, 'https://longhand.example'))) as ReturnType<typeof describeApi>;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ endpoint: `${method.toUpperCase()} ${path}`, operation })),
);

/** The codes that an operation documents under a status. */
function documented(operation: Operation, status: number): (string | null)[] {
  return operation.responses[status]?.['x-codes'] ?? [];
}

t.test(
  'describeApi() equals the reviewed copy; `npx tap test/api/openapi/describe.test.ts` with REVIEW=1 rewrites it for review',
  async (t) => {
    if (process.env.REVIEW) writeFileSync(REVIEWED, `${JSON.stringify(document, null, 1)}\n`);
    t.strictSame(document, JSON.parse(readFileSync(REVIEWED, 'utf8')));
  },
);

t.test('describeApi() documents every code of part 7 at its endpoint, and no others', async (t) => {
  for (const [endpoint, status, code] of PAIRS) {
    const found = operations.find((each) => each.endpoint === endpoint);
    t.ok(found && documented(found.operation, status).includes(code), `${endpoint} ${status} ${code}`);
  }
  for (const { endpoint, operation } of operations) {
    for (const [status, code] of EVERYWHERE) if (status !== 405) t.ok(documented(operation, status).includes(code), `${endpoint} ${code}`);
    for (const status of Object.keys(operation.responses)) {
      for (const code of documented(operation, Number(status))) if (code) t.ok(code in ERRORS, code);
    }
  }
});

t.test('describeApi() returns a document without dangling references', async (t) => {
  const text = JSON.stringify(document);
  t.notMatch(text, /"\$schema"|"\$id"|"\$defs"|#\/\$defs/);
  for (const [, id] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) t.ok(id! in document.components.schemas, id!);
  t.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length);
  for (const { endpoint, operation } of operations) {
    t.equal((endpoint.match(/\{/g) ?? []).length, operation.parameters.filter((parameter) => parameter.in === 'path').length, endpoint);
    for (const [status, response] of Object.entries(operation.responses)) t.ok(response.headers['X-Request-Id'], `${endpoint} ${status}`);
  }
});

t.test('describeApi() requires only the mandatory parts of a request', async (t) => {
  const required = (name: string) => (document.components.schemas[name] as { required?: string[] }).required;
  t.strictSame(required('BulkExport'), ['ids']);
  const upload = document.paths['/transcriptions']!.post!;
  t.strictSame(
    upload.parameters.filter((parameter) => parameter.required).map(({ name }) => name),
    ['Content-Disposition'],
  );
  t.equal(upload.requestBody?.required, true);
});

t.test('GET /v1/openapi.json needs no key, and names the address at which it was requested', async (t) => {
  const api = await testApi(t);
  const served = JSON.parse(JSON.stringify(describeApi(ROUTES, api.url)));
  t.strictSame((await api.call('', 'GET', '/v1/openapi.json')).json, served);
});
