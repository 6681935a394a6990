import t from 'tap';
import { z } from 'zod';
import { readSettings } from '../../api/contract/settings.ts';
import { BAD_KEYS, openFloods } from '../../api/limits.ts';
import { openMetrics } from '../../api/metrics.ts';
import { json, type Route, route } from '../../api/route.ts';
import { type ServeOptions, serve } from '../../api/server.ts';
import { openLog } from '../../db/log.ts';
import { connectRaw, head } from '../support/raw.ts';

const common = { summary: 'A route', tag: 'Test', access: null, answers: {}, errors: [] } as const;
const MIB = Buffer.alloc(1_048_576, 'a');

/** Lets the requests that wait in /slow go on. */
const slow: (() => void)[] = [];
const waiting = async () => {
  while (!slow.length) await new Promise((resolve) => setTimeout(resolve, 5));
};

const ROUTES: Route[] = [
  route({
    ...common,
    method: 'GET',
    path: '/things/{id}/parts/{name}',
    query: z.object({ format: z.enum(['a', 'b']).default('a') }),
    handler: ({ params, query, request }) => json(200, { ...params, ...query, address: request.address }),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/things',
    body: z.strictObject({ name: z.string() }),
    handler: async (context) => json(201, await context.body()),
  }),
  route({ ...common, method: 'PUT', path: '/things', handler: () => ({ status: 204 }) }),
  route({
    ...common,
    method: 'GET',
    path: '/broken/{how}',
    handler: ({ params }): never => {
      if (params.how === 'database') throw Object.assign(new Error('terminating connection'), { code: '57P01' });
      throw new Error('a secret detail');
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/stream',
    async handler() {
      return {
        status: 200,
        headers: { 'content-type': 'text/plain' },
        stream: (async function* () {
          for (let i = 0; i < 20; i++) yield MIB;
        })(),
      };
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/slow/{name}',
    async handler({ params }) {
      await new Promise<void>((resolve) => slow.push(resolve));
      return json(200, params);
    },
  }),
  route({ ...common, method: 'GET', path: '/files/{path...}', handler: ({ params }) => json(200, params) }),
  route({ ...common, method: 'GET', path: '/split', handler: () => ({ status: 200, headers: { 'x-name': 'a\r\nx-evil: 1' }, body: '' }) }),
];

async function start(environment: Record<string, string> = {}) {
  const settings = readSettings({ LOG_LEVEL: 'silent', ...environment });
  const options = {
    settings,
    limits: settings.limits,
    log: openLog(settings, 'test'),
    metrics: openMetrics(),
    floods: openFloods(BAD_KEYS),
  };
  const served = await serve({ ...options, routes: ROUTES, host: '127.0.0.1', port: 0 } as unknown as ServeOptions); // these routes use nothing else
  t.teardown(() => served.stop(1));
  return `http://127.0.0.1:${served.port}`;
}
const url = await start();

const ERROR = ['code', 'message', 'detail', 'request_id'];
const call = async (path: string, init?: RequestInit) => {
  const answer = await fetch(url + path, init);
  return { status: answer.status, headers: answer.headers, json: (await answer.json().catch(() => null)) as Record<string, unknown> };
};

t.test('serve() decodes path parameters exactly once', async (t) => {
  t.match((await call('/things/a%2Fb/parts/100%25')).json, { id: 'a/b', name: '100%' });
  t.match((await call('/things/%2525/parts/%C3%BC+1')).json, { id: '%25', name: 'ü+1' });
  for (const broken of ['/things/%zz/parts/x', '/things/%ff/parts/x', '/things/%00/parts/x', '/things//parts/x'])
    t.equal((await call(broken)).status, 404, broken);
  t.match((await call('/files/a/b%2Fc')).json, { path: 'a/b/c' });
});

t.test('serve() answers unknown paths with 404 and other methods with 405 and Allow', async (t) => {
  const unknown = await call('/no/such');
  t.match(unknown, { status: 404, json: { code: null, detail: null } });
  t.strictSame(Object.keys(unknown.json), ERROR);
  t.equal(unknown.headers.get('x-request-id'), unknown.json.request_id);
  const wrong = await call('/things', { method: 'DELETE' });
  t.match(wrong, { status: 405, json: { code: 'method_not_allowed' } });
  t.equal(wrong.headers.get('allow'), 'POST, PUT');
  t.equal((await call('/things/a/parts/b', { method: 'POST' })).headers.get('allow'), 'GET, HEAD');
  const strange = await connectRaw(url);
  strange.write(head('BREW', '/things', {}));
  t.match(await strange.answer(), { status: 405, json: { code: 'method_not_allowed' } });
  strange.end();
});

t.test('serve() answers HEAD like GET, without the body', async (t) => {
  const get = await fetch(`${url}/things/a/parts/b`);
  const other = await fetch(`${url}/things/a/parts/b`, { method: 'HEAD' });
  t.equal(other.status, 200);
  t.equal(other.headers.get('content-length'), get.headers.get('content-length'));
  t.equal(await other.text(), '');
});

t.test('serve() refuses queries that repeat or break a known parameter, and ignores unknown ones', async (t) => {
  t.match(await call('/things/a/parts/b?format=b&x=1&x=2'), { status: 200, json: { format: 'b' } });
  const wrong = await call('/things/a/parts/b?format=c');
  t.match(wrong, { status: 422, json: { code: 'validation_error', detail: { errors: [{ field: 'format' }] } } });
  t.match(await call('/things/a/parts/b?format=a&format=a'), { status: 422, json: { code: 'validation_error' } });
  t.match(await call('/things/a/parts/b?format=%00'), { status: 422, json: { code: 'validation_error' } });
});

t.test('serve() takes strict JSON bodies only', async (t) => {
  const post = (body?: BodyInit) => call('/things', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  t.match(await post('{"name":"x"}'), { status: 201, json: { name: 'x' } });
  const bad = ['', '{', '{"name":1}', '{"name":"x","more":1}', '[]', 'null', '{"name":"\\u0000"}', Buffer.from([0x22, 0xff, 0x22])];
  for (const body of [undefined, ...bad]) t.match(await post(body), { status: 422, json: { code: 'validation_error' } }, String(body));
  t.match(await post(JSON.stringify({ name: 'x'.repeat(1_100_000) })), { status: 422, json: { code: 'validation_error' } }, 'over 1 MiB');
});

t.test('serve() waits 10 s for a JSON body that stalls, and not for ever', async (t) => {
  const connection = await connectRaw(url);
  connection.write(`${head('POST', '/things', { 'content-length': 100 })}{`);
  const answer = await connection.answer(14_000);
  t.match(answer, { status: 422, json: { code: 'validation_error' } });
  await connection.closed(5_000);
});

t.test('serve() says nothing about what failed inside', async (t) => {
  const failed = await call('/broken/code');
  t.match(failed, { status: 500, json: { code: 'internal_error' } });
  t.notMatch(JSON.stringify(failed.json), /secret/);
  const away = await call('/broken/database');
  t.match(away, { status: 503, json: { code: 'service_unavailable' } });
  t.match(away.headers.get('retry-after'), /^[1-9]\d*$/);
});

t.test('serve() streams with back-pressure, and survives a client that leaves', async (t) => {
  const whole = await fetch(`${url}/stream`);
  t.equal((await whole.arrayBuffer()).byteLength, 20 * MIB.length);
  const leaver = await connectRaw(url);
  leaver.write(head('GET', '/stream', {}));
  await new Promise((resolve) => setTimeout(resolve, 50));
  leaver.end(true);
  t.equal((await call('/things/a/parts/b')).status, 200);
});

t.test('serve() answers a request that is sent ahead after the one before, and closes when it came in the same segment', async (t) => {
  const ahead = await connectRaw(url);
  ahead.write(head('GET', '/slow/one', {}));
  await waiting();
  ahead.write(head('GET', '/things/a/parts/two', {}));
  await new Promise((resolve) => setTimeout(resolve, 100));
  slow.shift()!();
  t.match(await ahead.answer(), { status: 200, json: { name: 'one' } });
  t.match(await ahead.answer(), { status: 200, json: { name: 'two' } });
  ahead.end();

  const together = await connectRaw(url);
  together.write(head('GET', '/slow/one', {}) + head('GET', '/slow/two', {}));
  t.equal(await together.closed(), '', 'no answer, so none to the wrong request: the client sends both again');
  slow.shift()!();

  const three = await connectRaw(url);
  three.write(head('GET', '/slow/one', {}));
  await waiting();
  for (const name of ['two', 'three']) three.write(head('GET', `/slow/${name}`, {}));
  await new Promise((resolve) => setTimeout(resolve, 100));
  slow.shift()!();
  t.match(await three.answer(), { status: 200, json: { name: 'one' } });
  t.notMatch(await three.closed(), 'two');
  for (const release of slow.splice(0)) release();
  t.equal((await call('/things/a/parts/b')).status, 200);
});

t.test('serve() answers a client that has closed its side after the request', async (t) => {
  const connection = await connectRaw(url);
  connection.write(head('GET', '/slow/one', {}));
  await waiting();
  connection.end();
  await new Promise((resolve) => setTimeout(resolve, 100));
  slow.shift()!();
  t.match(await connection.closed(), '{"name":"one"}');
});

t.test('serve() never lets a value break out of its header', async (t) => {
  const connection = await connectRaw(url);
  connection.write(head('GET', '/split', {}));
  t.notMatch(await connection.closed(), 'x-evil');
});

t.test('serve() reads large heads in any segments, and leaves larger ones to the HTTP parser', async (t) => {
  const connection = await connectRaw(url);
  const text = head('GET', '/things/a/parts/b', { 'x-filler': 'y'.repeat(14_000) });
  connection.write(text.slice(0, 5000));
  await new Promise((resolve) => setTimeout(resolve, 30));
  connection.write(text.slice(5000));
  t.equal((await connection.answer()).status, 200);
  connection.end();
});

t.test('serve() believes X-Forwarded-For from trusted proxies only', async (t) => {
  const trusting = await start({ LONGHAND_TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' });
  const address = async (base: string, forwarded?: string) =>
    (
      (await (await fetch(`${base}/things/a/parts/b`, forwarded ? { headers: { 'x-forwarded-for': forwarded } } : {})).json()) as {
        address: string;
      }
    ).address;
  t.equal(await address(url, '203.0.113.9'), '127.0.0.1');
  t.equal(await address(trusting), '127.0.0.1');
  t.equal(await address(trusting, '203.0.113.9'), '203.0.113.9');
  t.equal(await address(trusting, '198.51.100.1, 203.0.113.9, 10.1.2.3'), '203.0.113.9');
  t.equal(await address(trusting, 'nonsense'), '127.0.0.1');
});
