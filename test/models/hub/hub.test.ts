import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { download, type Hub, type HubFile, lookUp } from '../../../models/hub/hub.ts';

const CONTENT = 'the weights of a model, '.repeat(10_000);
const FILE: HubFile = { name: 'weights', bytes: CONTENT.length, revision: 'c0ffee', checksum: '' }; // so that only the length can differ
const PAGE = '<html>Sign in</html>';
const PART = 'weights.c0ffee.part';
const MOST = 20; // requests; then the test fails instead of running for ever

/** Serves one download: `from` is where the requested range begins. */
type Answer = (response: ServerResponse, from: number) => void;

const whole: Answer = (response) => response.writeHead(200, { 'content-length': CONTENT.length }).end(CONTENT);
const rest: Answer = (response, from) => (from ? response.writeHead(206).end(CONTENT.slice(from)) : whole(response, from));
const page =
  (text: string, headers = {}): Answer =>
  (response) =>
    response.writeHead(200, headers).end(text);
const announced = (text: string) => page(text, { 'content-length': text.length });
/** Breaks the connection when so many bytes of it are in the part. */
const cut =
  (part: string, bytes: number): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-length': CONTENT.length }).write(CONTENT.slice(0, bytes));
    while (statSync(part, { throwIfNoEntry: false })?.size !== bytes) await sleep(1);
    response.destroy();
  };

/** Downloads into a folder from a hub that gives these answers in order, the last one for ever. Returns where the requested ranges began. */
async function downloadFrom(t: Test, folder: string, answers: readonly Answer[], file = FILE) {
  const ranges: number[] = [];
  const limit = new AbortController();
  const server = createServer((request, response) => {
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    if (ranges.push(from) > MOST) limit.abort(new Error(`more than ${MOST} requests`));
    answers[Math.min(ranges.length, answers.length) - 1]!(response, from);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hub = { base, repository: 'owner/name', retryDelayMs: 1, signal: limit.signal };
  const error = await download(hub, file, join(folder, 'weights')).then(
    () => null,
    (error: Error) => error,
  );
  return { ranges, error };
}

const found = (bytes: string) =>
  new RegExp(
    `^Cannot get weights of owner/name from http://\\S+: found ${bytes}, wanted ${CONTENT.length}; .* sign in, .*; otherwise use another hub$`,
  );

t.test('download() gives up on complete answers that are too short, and keeps nothing of them', async (t) => {
  for (const answer of [announced(PAGE), page(PAGE)]) {
    const folder = t.testdir();
    const { error, ranges } = await downloadFrom(t, folder, [answer]);
    t.match(error?.message, found('20 bytes'));
    t.strictSame(ranges, [0, 0, 0, 0, 0, 0]);
    t.strictSame(readdirSync(folder), []);
  }
});

t.test('download() continues when a sign-in page gives way to the file', async (t) => {
  for (const answer of [announced(PAGE), page(PAGE)]) {
    const folder = t.testdir();
    t.match(await downloadFrom(t, folder, [answer, answer, rest]), { error: null, ranges: [0, 0, 0] });
    t.equal(readFileSync(join(folder, 'weights'), 'utf8'), CONTENT);
  }
});

t.test('download() refuses at once what is longer than the file, and keeps nothing of it', async (t) => {
  const longer = `${CONTENT}and more`;
  for (const [answer, bytes] of [[announced(longer), `${longer.length} bytes`] as const, [page(longer), 'more than \\d+ bytes'] as const]) {
    const folder = t.testdir();
    const { error, ranges } = await downloadFrom(t, folder, [answer]);
    t.match(error?.message, found(bytes));
    t.equal(ranges.length, 1);
    t.strictSame(readdirSync(folder), []);
  }
});

t.test('download() refuses at once a page instead of the rest of the file, and keeps the part', async (t) => {
  const folder = t.testdir({ [PART]: CONTENT.slice(0, 1000) });
  const { error, ranges } = await downloadFrom(t, folder, [announced(PAGE)]);
  t.match(error?.message, found('20 bytes'));
  t.strictSame(ranges, [1000]);
  t.match(await downloadFrom(t, folder, [rest]), { error: null, ranges: [1000] });
  t.equal(readFileSync(join(folder, 'weights'), 'utf8'), CONTENT);
});

t.test('download() accepts the rest of the file in several answers', async (t) => {
  const folder = t.testdir({ [PART]: CONTENT.slice(0, 1000) });
  const some: Answer = (response, from) => response.writeHead(206).end(CONTENT.slice(from, from + 50_000));
  t.match(await downloadFrom(t, folder, [some]), { error: null, ranges: [1000, 51_000, 101_000, 151_000, 201_000] });
  t.equal(readFileSync(join(folder, 'weights'), 'utf8'), CONTENT);
});

t.test('download() gives up on a server that cannot resume and breaks off later and earlier in turn', async (t) => {
  const folder = t.testdir();
  const cuts = Array.from({ length: MOST + 1 }, (_, i) => cut(join(folder, PART), i % 2 ? 1000 : 50_000));
  const { error, ranges } = await downloadFrom(t, folder, cuts);
  t.match(
    error?.message,
    /^Cannot download weights of owner\/name from http\S+: it broke off after \d+ of \d+ bytes \(terminated\); try again/,
  );
  t.strictSame(ranges, [0, 50_000, 1000, 50_000, 1000, 50_000]);
});

t.test('download() does not compare lengths that it does not know', async (t) => {
  const folder = t.testdir();
  t.match(await downloadFrom(t, folder, [announced(PAGE)], { ...FILE, bytes: Number.NaN }), { error: null, ranges: [0] });
  t.equal(readFileSync(join(folder, 'weights'), 'utf8'), PAGE);
  const packed = gzipSync(CONTENT);
  const compressed: Answer = (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length }).end(packed);
  writeFileSync(join(folder, 'weights'), 'another version');
  t.match(await downloadFrom(t, folder, [compressed]), { error: null, ranges: [0] });
  t.equal(readFileSync(join(folder, 'weights'), 'utf8'), CONTENT);
  t.notOk(existsSync(join(folder, PART)));
});

/** A hub that answers every request like this. */
async function hubWith(t: Test, status: number, headers: Record<string, string | number>, token?: string): Promise<Hub> {
  const server = createServer((_, response) => response.writeHead(status, headers).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, repository: 'owner/name', token };
}

t.test('lookUp() does not take the length of a compressed answer for that of the file', async (t) => {
  const plain = await hubWith(t, 200, { 'content-length': 1000 });
  t.match(await lookUp(plain, 'config.json'), { bytes: 1000 });
  const compressed = await hubWith(t, 200, { 'content-length': 1000, 'content-encoding': 'gzip' });
  t.match(await lookUp(compressed, 'config.json'), { bytes: Number.NaN });
});

t.test('lookUp() keeps the length that the hub reports, if where it redirects reports none', async (t) => {
  const { base } = await hubWith(t, 200, {});
  const hub = await hubWith(t, 302, { location: `${base}/weights`, 'x-linked-size': 1000 });
  t.match(await lookUp(hub, 'weights'), { bytes: 1000 });
});

t.test('lookUp() says what helps against a refusal, with and without a token', async (t) => {
  for (const [status, token, remedy] of [
    [401, undefined, /it answered 401; check the name; if the repository is private or gated, set HF_TOKEN$/],
    [403, undefined, /it answered 403; check the name; if .*, set HF_TOKEN$/],
    [401, 'secret', /it answered 401; check the name and HF_TOKEN$/],
    [403, 'secret', /it answered 403; .*open http:\S+\/owner\/name with the account of HF_TOKEN and accept the terms/],
  ] as const)
    await t.rejects(lookUp(await hubWith(t, status, {}, token), 'config.json'), remedy);
});

/** A hub that answers with these in order, the last one for ever. */
async function busyHub(t: Test, answers: readonly [status: number, headers: Record<string, string | number>][]) {
  let requests = 0;
  const server = createServer((_, response) => {
    const [status, headers] = answers[Math.min(++requests, answers.length) - 1]!;
    response.writeHead(status, headers).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { hub: { base, repository: 'owner/name', retryDelayMs: 1 }, requests: () => requests };
}

t.test('lookUp() asks a busy hub again, after as long as it says', async (t) => {
  const found = [200, { 'content-length': 7 }] as const;
  const limited = { 'retry-after': 1 };
  const { hub, requests } = await busyHub(t, [[503, {}], [429, limited], [...found]]);
  const start = performance.now();
  t.match(await lookUp(hub, 'config.json'), { bytes: 7 });
  t.ok(performance.now() - start > 990, 'it waited for the second that was asked for');
  t.equal(requests(), 3);
  const down = await busyHub(t, [[502, {}]]);
  await t.rejects(lookUp(down.hub, 'config.json'), /it answered 502; try again later$/);
  t.equal(down.requests(), 6);
});

t.test('lookUp() and download() do not wait for longer than a minute, and say how long a hub asks to wait', async (t) => {
  const inTwoMinutes = new Date(Date.now() + 120_000).toUTCString();
  for (const [headers, seconds] of [
    [{ 'retry-after': 300 }, /300/],
    [{ ratelimit: '"resolvers";r=0;t=243' }, /243/],
    [{ 'retry-after': inTwoMinutes }, /1[12]\d/],
  ] as const) {
    const { hub, requests } = await busyHub(t, [[429, headers]]);
    const sentence = new RegExp(`it answered 429; try again in ${seconds.source} s$`);
    await t.rejects(lookUp(hub, 'config.json'), sentence);
    await t.rejects(download(hub, FILE, join(t.testdir({}), 'weights')), sentence);
    t.equal(requests(), 2);
  }
});

t.test('lookUp() says why it cannot reach a hub, and what to do about a certificate that is not trusted', async (t) => {
  const hub = { base: 'http://127.0.0.1:1', repository: 'owner/name' };
  const fails = (cause: object) => {
    t.intercept(globalThis, 'fetch', { value: async () => Promise.reject(new TypeError('fetch failed', { cause })) });
    return lookUp(hub, 'config.json');
  };
  await t.rejects(lookUp(hub, 'config.json'), /^Cannot reach http:\/\/127\.0\.0\.1:1 \(.+\): is this machine online\? .*models import/);
  await t.rejects(fails({ code: 'ENOTFOUND' }), /\(ENOTFOUND\): is this machine online/);
  for (const code of ['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'])
    await t.rejects(fails({ code }), new RegExp(`\\(${code}\\): its certificate is not trusted here; set NODE_EXTRA_CA_CERTS`));
  await t.rejects(fails({ code: 'CERT_HAS_EXPIRED' }), /\(CERT_HAS_EXPIRED\): .* check the clock/);
  await t.rejects(fails({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), /is for another host; check HF_ENDPOINT/);
  const refused = { code: 'UND_ERR_ABORTED', message: 'Proxy response (407) !== 200 when HTTP Tunneling' };
  await t.rejects(
    fails(refused),
    /\(Proxy response \(407\) .*\): the proxy refuses; check its address, user name and password in HTTPS_PROXY/,
  );
  await t.rejects(fails(new DOMException('it took too long', 'TimeoutError')), /\(it took too long\): is this machine online/);
});
