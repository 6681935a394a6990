import net from 'node:net';
import t from 'tap';
import { z } from 'zod';
import { trusted } from '../../../api/http/client-address.ts';
import { json, type Route, route } from '../../../api/http/route.ts';
import { NO_KEY } from '../../../db/secrets/vault.ts';
import { connectRaw, head } from '../../support/api/raw.ts';
import { PLAIN, serveRoutes } from '../../support/api/serving.ts';

const ROUTES: Route[] = [
  route({
    ...PLAIN,
    method: 'GET',
    path: '/things/{id}/parts/{name}',
    query: z.object({ format: z.enum(['a', 'b']).default('a') }),
    handler: ({ params, query, request }) => json(200, { ...params, ...query, address: request.address }),
  }),
  route({
    ...PLAIN,
    method: 'POST',
    path: '/things',
    body: z.strictObject({ name: z.string() }),
    handler: async (context) => json(201, await context.body()),
  }),
  route({ ...PLAIN, method: 'PUT', path: '/things', handler: () => ({ status: 204 }) }),
  route({
    ...PLAIN,
    method: 'GET',
    path: '/broken/{how}',
    handler: ({ params }): never => {
      if (params.how === 'database') throw Object.assign(new Error('terminating connection'), { code: '57P01' });
      if (params.how === 'key') throw Object.assign(new Error('a master key is missing'), { code: NO_KEY });
      throw new Error('a secret detail');
    },
  }),
  route({ ...PLAIN, method: 'GET', path: '/files/{path...}', handler: ({ params }) => json(200, params) }),
];
const url = await serveRoutes(t, ROUTES);

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

t.test('serve() refuses a known parameter that is repeated or invalid, and ignores unknown ones', async (t) => {
  t.match(await call('/things/a/parts/b?format=b&x=1&x=2'), { status: 200, json: { format: 'b' } });
  const wrong = await call('/things/a/parts/b?format=c');
  t.match(wrong, { status: 422, json: { code: 'validation_error', detail: { errors: [{ field: 'format' }] } } });
  t.match(await call('/things/a/parts/b?format=a&format=a'), { status: 422, json: { code: 'validation_error' } });
  t.match(await call('/things/a/parts/b?format=%00'), { status: 422, json: { code: 'validation_error' } });
});

t.test('serve() accepts only strict JSON bodies', async (t) => {
  const post = (body?: BodyInit) => call('/things', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  t.match(await post('{"name":"x"}'), { status: 201, json: { name: 'x' } });
  const bad = ['', '{', '{"name":1}', '{"name":"x","more":1}', '[]', 'null', '{"name":"\\u0000"}', Buffer.from([0x22, 0xff, 0x22])];
  for (const body of [undefined, ...bad]) t.match(await post(body), { status: 422, json: { code: 'validation_error' } }, String(body));
  t.match(await post(JSON.stringify({ name: 'x'.repeat(1_100_000) })), { status: 422, json: { code: 'validation_error' } }, 'over 1 MiB');
});

t.test('serve() reveals nothing about internal errors', async (t) => {
  const failed = await call('/broken/code');
  t.match(failed, { status: 500, json: { code: 'internal_error' } });
  t.notMatch(JSON.stringify(failed.json), /secret/);
  for (const how of ['database', 'key']) {
    const away = await call(`/broken/${how}`);
    t.match(away, { status: 503, json: { code: 'service_unavailable' } }, how);
    t.match(away.headers.get('retry-after'), /^[1-9]\d*$/);
  }
});

/** Whether a socket that listens on :: is reached by IPv4. */
function isDual(): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer((socket) => void socket.destroy());
    server
      .once('error', () => resolve(false))
      .listen(0, '::', () => {
        const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
        const end = (reached: boolean) => {
          socket.destroy();
          server.close(() => resolve(reached));
        };
        socket.once('connect', () => end(true)).once('error', () => end(false));
      });
  });
}

t.test('trusted() rejects what is not an address or a network, instead of trusting everybody', async (t) => {
  for (const wrong of ['10.0.0.0/', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', '10.0.0.0/+8', 'proxy', '/8'])
    t.throws(() => trusted(`127.0.0.1, ${wrong}`), {
      message: `Cannot trust the proxy ${wrong} of LONGHAND_TRUST_PROXY: it is not an IP address or network`,
    });
  t.ok(trusted('fd00::/8, 10.0.0.0/8').check('fd12::1', 'ipv6'));
});

t.test('serve() accepts X-Forwarded-For only from trusted proxies', async (t) => {
  const trusting = await serveRoutes(t, ROUTES, { LONGHAND_TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' });
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
  t.equal(await address(trusting, '198.51.100.1:80, 203.0.113.9:4711, 10.1.2.3:4712'), '203.0.113.9', 'with ports');
  for (const hop of ['[2001:db8::7]:4711', '[2001:db8::7]']) t.equal(await address(trusting, hop), '2001:db8::7');
  t.equal(await address(trusting, '0:0:0:0:0:ffff:cb00:7109, 10.1.2.3'), '203.0.113.9');
  if (!(await isDual())) return t.comment('this machine has no sockets for IPv4 and IPv6');
  const both = await serveRoutes(t, ROUTES, { HOST: '::', LONGHAND_TRUST_PROXY: '127.0.0.1' });
  t.equal(await address(both), '127.0.0.1', 'and not as an IPv6 address, although the socket is for both versions');
  t.equal(await address(both, '203.0.113.9'), '203.0.113.9');
});
