import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { z } from 'zod';
import { ApiError } from '../../api/contract/errors.ts';
import { json, type Route, route } from '../../api/http/route.ts';
import { connectRaw, head } from '../support/api/raw.ts';
import { PLAIN, serveRoutes } from '../support/api/serving.ts';

const MIB = Buffer.alloc(1_048_576, 'a');

/** Releases the requests waiting in /slow. */
const slow: (() => void)[] = [];
const waiting = async () => {
  while (!slow.length) await sleep(5);
};

const ROUTES: Route[] = [
  route({ ...PLAIN, method: 'GET', path: '/fast/{name}', handler: ({ params }) => json(200, params) }),
  route({
    ...PLAIN,
    method: 'POST',
    path: '/bodies',
    body: z.strictObject({ name: z.string() }),
    handler: async (context) => json(201, await context.body()),
  }),
  route({
    ...PLAIN,
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
    ...PLAIN,
    method: 'GET',
    path: '/slow/{name}',
    async handler({ params }) {
      await new Promise<void>((resolve) => slow.push(resolve));
      return json(200, params);
    },
  }),
  route({
    ...PLAIN,
    method: 'POST',
    path: '/refused',
    handler: (): never => {
      throw new ApiError('insufficient_balance');
    },
  }),
  route({ ...PLAIN, method: 'GET', path: '/split', handler: () => ({ status: 200, headers: { 'x-name': 'a\r\nx-evil: 1' }, body: '' }) }),
];
const url = await serveRoutes(t, ROUTES);
const alive = async () => (await fetch(`${url}/fast/x`)).status === 200;

t.test('serve() waits 10 s for a stalled JSON body, and no longer', async (t) => {
  const connection = await connectRaw(url);
  connection.write(`${head('POST', '/bodies', { 'content-length': 100 })}{`);
  const answer = await connection.answer(14_000);
  t.match(answer, { status: 422, json: { code: 'validation_error' } });
  await connection.closed(5_000);
});

t.test('serve() streams with back-pressure, and survives a client that disconnects', async (t) => {
  const whole = await fetch(`${url}/stream`);
  t.equal((await whole.arrayBuffer()).byteLength, 20 * MIB.length);
  const leaver = await connectRaw(url);
  leaver.write(head('GET', '/stream', {}));
  await sleep(50);
  leaver.end(true);
  t.ok(await alive());
});

t.test('serve() answers a pipelined request in order, and closes the connection when it arrives in the same segment', async (t) => {
  const ahead = await connectRaw(url);
  ahead.write(head('GET', '/slow/one', {}));
  await waiting();
  ahead.write(head('GET', '/fast/two', {}));
  await sleep(100);
  slow.shift()!();
  t.match(await ahead.answer(), { status: 200, json: { name: 'one' } });
  t.match(await ahead.answer(), { status: 200, json: { name: 'two' } });
  ahead.end();

  const together = await connectRaw(url);
  together.write(head('GET', '/slow/one', {}) + head('GET', '/slow/two', {}));
  t.equal(await together.closed(), '', 'no response, so none is misattributed: the client repeats both requests');
  slow.shift()!();

  const three = await connectRaw(url);
  three.write(head('GET', '/slow/one', {}));
  await waiting();
  for (const name of ['two', 'three']) three.write(head('GET', `/slow/${name}`, {}));
  await sleep(100);
  slow.shift()!();
  t.match(await three.answer(), { status: 200, json: { name: 'one' } });
  t.notMatch(await three.closed(), 'two');
  for (const release of slow.splice(0)) release();
  t.ok(await alive());
});

t.test('serve() answers a client that half-closes the connection after its request', async (t) => {
  const connection = await connectRaw(url);
  connection.write(head('GET', '/slow/one', {}));
  await waiting();
  connection.end();
  await sleep(100);
  slow.shift()!();
  t.match(await connection.closed(), '{"name":"one"}');
});

t.test('serve() never lets a value break out of its header', async (t) => {
  const connection = await connectRaw(url);
  connection.write(head('GET', '/split', {}));
  t.notMatch(await connection.closed(), 'x-evil');
});

t.test('serve() reads heads of up to 32 KB in any segmentation, and leaves larger ones to the HTTP parser', async (t) => {
  const connection = await connectRaw(url);
  const text = head('GET', '/fast/b', { 'x-filler': 'y'.repeat(32_000) });
  connection.write(text.slice(0, 5000));
  await sleep(30);
  connection.write(text.slice(5000));
  t.equal((await connection.answer()).status, 200);
  connection.end();
  const larger = await connectRaw(url);
  larger.write(head('GET', '/fast/b', { 'x-filler': 'y'.repeat(33_000) }).slice(0, -2)); // a complete head in one segment would be read
  t.match(await larger.closed(), /^HTTP\/1\.1 431 /);
});

t.test('serve() answers an expectation in any letter case with 100 Continue, then sends the response', async (t) => {
  for (const expect of ['100-continue', '100-Continue', '100-CONTINUE']) {
    const connection = await connectRaw(url);
    connection.write(head('POST', '/bodies', { expect, 'content-length': 12 }));
    await connection.received(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    connection.write('{"name":"a"}');
    t.match(await connection.answer(), { status: 201, json: { name: 'a' } }, expect);
    connection.write(head('GET', '/fast/b', {}));
    t.match(await connection.answer(), { status: 200, json: { name: 'b' } }, 'the connection stays usable');
    connection.end();
  }
});

t.test('serve() keeps an early answer readable while a slow client still sends, and closes once the client stops', async (t) => {
  const slow = await connectRaw(url);
  slow.write(head('POST', '/refused', { 'content-length': 1_000_000 }));
  for (let i = 0; i < 12; i++) {
    slow.write(Buffer.alloc(1000)); // for longer than 3 s (an earlier limit), with pauses shorter than 5 s
    await sleep(400);
  }
  t.match(await slow.answer(), { status: 402, json: { code: 'insufficient_balance' } });
  const since = performance.now();
  await slow.closed(9_000);
  t.ok(performance.now() - since > 3_000, 'the connection stays open for a few seconds of silence');
});
