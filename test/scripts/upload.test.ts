import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { longhand } from '../support/processes.ts';

const folder = t.testdir({ 'a.wav': 'a'.repeat(200_000), 'notes.txt': 'no recording', deep: { 'Größe (1).mp3': 'b'.repeat(3000) } });

interface Seen {
  name: string | undefined;
  key: string | undefined;
  bytes: number;
  url: string | undefined;
  metadata: string | undefined;
}

/** A service that does to each request what `turns` say, and then accepts; it records what it received. */
async function service(t: Test, turns: ((request: IncomingMessage, response: ServerResponse) => unknown)[]) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const turn = turns.shift();
    const { 'content-disposition': name, 'idempotency-key': key, 'x-metadata': metadata } = request.headers as Record<string, string>;
    const entry = { name, key, bytes: 0, url: request.url, metadata };
    seen.push(entry);
    if (turn) return turn(request, response);
    entry.bytes = (await buffer(request)).length;
    response.writeHead(201).end(JSON.stringify({ uuid: `id-${seen.length}`, status: 'queued', reports: [] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Answers early, as the service does: it goes on to take what comes, since closing at once can reset the connection and destroy the answer. */
const refuse = (status: number, headers: Record<string, string>, body: object) => (request: IncomingMessage, response: ServerResponse) => {
  const text = JSON.stringify(body);
  response.writeHead(status, { ...headers, connection: 'close', 'content-length': Buffer.byteLength(text) }).write(text);
  request.once('end', () => response.end()).resume();
};

t.test('upload tries again under one Idempotency-Key after overload and lost connections', async (t) => {
  const { seen, url } = await service(t, [
    refuse(503, { 'retry-after': '1' }, { code: 'service_unavailable', message: 'full' }),
    (request) => request.once('data', () => request.socket.destroy()),
    refuse(409, { 'retry-after': '1' }, { code: 'idempotency_conflict', message: 'in flight' }),
  ]);
  const file = path.join(folder, 'a.wav');
  const { code, stdout } = await longhand([
    'upload',
    file,
    '--url',
    url,
    '--key',
    'k',
    '--metadata',
    '{"wer":"Jürgen"}',
    '--reports',
    'summary',
    '--json',
  ]);
  t.equal(code, 0);
  t.strictSame(JSON.parse(stdout), { file, id: 'id-4', status: 'queued' });
  t.equal(seen.length, 4);
  t.equal(new Set(seen.map(({ key }) => key)).size, 1);
  t.match(seen.at(-1), { bytes: 200_000, url: '/v1/transcriptions?reports=summary', metadata: '{"wer":"J\\u00fcrgen"}' });
});

t.test('upload takes every recording of a folder, and the same key for the same content in a later run', async (t) => {
  const { seen, url } = await service(t, []);
  const first = await longhand(['upload', folder, '--url', `${url}/v1/`, '--key', 'k', '--json']);
  t.equal(first.code, 0);
  t.equal(first.stdout.trim().split('\n').length, 2);
  t.strictSame(seen.map(({ name }) => name).sort(), [
    `attachment; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%281%29.mp3`,
    `attachment; filename*=UTF-8''a.wav`,
  ]);
  await longhand(['upload', path.join(folder, 'a.wav'), '--url', url, '--key', 'k']);
  t.equal(seen.at(-1)!.key, seen.find(({ name }) => name?.endsWith('a.wav'))!.key);
});

t.test('upload takes the recordings that links in a folder lead to, and follows none to a folder', async (t) => {
  const { seen, url } = await service(t, []);
  const links = t.testdir({ 'nowhere.wav': t.fixture('symlink', 'gone.wav') });
  symlinkSync(path.join(folder, 'a.wav'), path.join(links, 'link.wav'));
  symlinkSync(folder, path.join(links, 'folder.wav'));
  const { code } = await longhand(['upload', links, '--url', url, '--key', 'k']);
  t.equal(code, 0);
  t.match(seen, [{ name: `attachment; filename*=UTF-8''link.wav`, bytes: 200_000 }]);
  t.equal(seen.length, 1);
});

t.test('upload says so where something else answers, as a page that wants a sign-in', async (t) => {
  const page = async (request: IncomingMessage, response: ServerResponse) => {
    await buffer(request);
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
  };
  const { seen, url } = await service(t, [page]);
  const { code, stderr } = await longhand(['upload', path.join(folder, 'a.wav'), '--url', url, '--key', 'k', '--wait']);
  t.equal(code, 1);
  t.match(stderr, /a\.wav: the server there is not Longhand: it responded with 200 without JSON/);
  t.equal(seen.length, 1);
});

t.test('upload does not try again what will be refused again, and goes on with the next file', async (t) => {
  const { seen, url } = await service(t, [refuse(413, {}, { code: 'file_size_limit_exceeded', message: 'too large' })]);
  const { code, stdout, stderr } = await longhand(['upload', folder, '--url', url, '--key', 'k']);
  t.equal(code, 1);
  t.equal(seen.length, 2);
  t.match(stderr, /refused with 413 file_size_limit_exceeded: too large/);
  t.match(stdout, /queued/);
});

t.test('upload --parallel sends so many files at once, and tells of them in order', async (t) => {
  let here = 0;
  let bothHere = () => {};
  const both = new Promise<void>((resolve) => {
    bothHere = resolve;
  });
  const together = async (request: IncomingMessage, response: ServerResponse) => {
    if (++here === 2) bothHere();
    await both;
    await buffer(request);
    response.writeHead(201).end(JSON.stringify({ uuid: 'id', status: 'queued', reports: [] }));
  };
  const { url } = await service(t, [together, together]);
  const { code, stdout } = await longhand(['upload', folder, '--url', url, '--key', 'k', '--parallel', '2', '--json']);
  t.equal(code, 0);
  const files = stdout
    .trim()
    .split('\n')
    .map((line) => path.basename(JSON.parse(line).file));
  t.strictSame(files, ['a.wav', 'Größe (1).mp3']);
});
