import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { findRecordings, moveTo } from '../../scripts/commands/recordings.ts';
import { longhandHere } from '../support/here.ts';
import { finish, LONGHAND, start } from '../support/processes.ts';
import { findProgram } from '../support/programs.ts';

/** Environment with a ledger for this test file. */
const longhand = (args: readonly string[], env: Record<string, string> = {}) =>
  longhandHere(args, { XDG_STATE_HOME: path.join(folder, 'state'), ...env });
const folder = t.testdir({ 'a.wav': 'a'.repeat(200_000), 'notes.txt': 'no recording', deep: { 'Größe (1).mp3': 'b'.repeat(3000) } });

interface Seen {
  name: string | undefined;
  key: string | undefined;
  bytes: number;
  url: string | undefined;
  metadata: string | undefined;
}

/** A service that handles requests with `turns` in order, and accepts further ones; it records the requests. */
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

/** Responds early like the service, and keeps reading the body: closing immediately could reset the connection and lose the response. */
const refuse = (status: number, headers: Record<string, string>, body: object) => (request: IncomingMessage, response: ServerResponse) => {
  const text = JSON.stringify(body);
  response.writeHead(status, { ...headers, connection: 'close', 'content-length': Buffer.byteLength(text) }).write(text);
  request.once('end', () => response.end()).resume();
};

t.test('upload retries with the same Idempotency-Key after overload and lost connections', async (t) => {
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

t.test('upload sends every recording of a folder, and no content again in a later run, even if renamed', async (t) => {
  const { seen, url } = await service(t, []);
  const first = await longhand(['upload', folder, '--url', `${url}/v1/`, '--key', 'k', '--json']);
  t.equal(first.code, 0);
  t.equal(first.stdout.trim().split('\n').length, 2);
  t.strictSame(seen.map(({ name }) => name).sort(), [
    `attachment; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%281%29.mp3`,
    `attachment; filename*=UTF-8''a.wav`,
  ]);
  t.equal(new Set(seen.map(({ key }) => key)).size, 2);
  const again = await longhand(['upload', path.join(folder, 'a.wav'), '--url', url, '--json'], { LONGHAND_KEY: 'k' });
  t.match(JSON.parse(again.stdout), { id: 'id-1', status: 'sent before' });
  const elsewhere = t.testdir({ 'other name.wav': 'a'.repeat(200_000) });
  t.match(await longhand(['upload', elsewhere], { LONGHAND_KEY: 'k', LONGHAND_URL: url }), { code: 0, stdout: /sent before/ });
  t.equal(seen.length, 2, 'no further upload');
  writeFileSync(path.join(elsewhere, 'other name.wav'), 'c'.repeat(200_000));
  t.equal((await longhand(['upload', elsewhere], { LONGHAND_KEY: 'k', LONGHAND_URL: url })).code, 0);
  t.equal(seen.length, 3, 'another recording under a known name is sent');
  await longhand(['upload', elsewhere, '--again'], { LONGHAND_KEY: 'k', LONGHAND_URL: url });
  t.equal(seen.length, 4);
  t.not(seen[3]!.key, seen[2]!.key, 'a new key: otherwise the service would return the first response');
});

t.test('upload --min-age skips recently changed files, and --done-dir receives uploaded files, also inside the folder', async (t) => {
  const { seen, url } = await service(t, []);
  const spool = t.testdir({ 'old.wav': 'o'.repeat(5000), 'young.wav': 'y'.repeat(5000), deep: { 'old.wav': 'p'.repeat(5000) } });
  const ago = new Date(Date.now() - 90_000);
  for (const file of ['old.wav', 'deep/old.wav']) utimesSync(path.join(spool, file), ago, ago);
  const done = path.join(spool, 'done');
  const once = () => longhand(['upload', spool, '--min-age', '1m', '--done-dir', done], { LONGHAND_KEY: 'k', LONGHAND_URL: url });
  t.match(await once(), { code: 0 });
  t.strictSame(readdirSync(spool, { recursive: true }).sort(), [
    'deep',
    'done',
    'done/deep',
    'done/deep/old.wav',
    'done/old.wav',
    'young.wav',
  ]);
  t.match(await once(), { code: 0, stdout: '' }, 'nothing to upload is not a failure');
  t.equal(seen.length, 2);
  writeFileSync(path.join(spool, 'old.wav'), 'q'.repeat(5000));
  utimesSync(path.join(spool, 'old.wav'), ago, ago);
  await once();
  t.equal(seen.length, 3);
  t.ok(existsSync(path.join(done, 'old (2).wav')), 'both files are kept');
  for (const odd of ['1 day', '-1', 'm']) t.equal((await longhand(['upload', spool, '--key', 'k', '--min-age', odd])).code, 2, odd);
});

t.test('upload that was killed before the response queries whether the service has the file, and does not send it again', async (t) => {
  let listed: { id: string; status: string; created_at: string }[] = [];
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://service');
    requests.push(`${request.method} ${pathname}${searchParams.has('status') ? ` ${searchParams.get('status')}` : ''}`);
    if (request.method === 'POST') return void (await buffer(request)); // and never responds
    const items = listed.filter(({ status }) => status === searchParams.get('status')).map(({ id, created_at }) => ({ id, created_at }));
    response.end(JSON.stringify(searchParams.size ? { items } : { error_code: 'UPLOAD_INCOMPLETE' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const spool = t.testdir({ 'call.wav': 'k'.repeat(9000) });
  const env = { LONGHAND_KEY: 'k', LONGHAND_URL: url, XDG_STATE_HOME: path.join(folder, 'state') };
  const sent = () => requests.filter((each) => each.startsWith('POST')).length;
  const upload = async (wanted: number) => {
    const running = start(t, LONGHAND, ['upload', spool], env);
    while (sent() < wanted && running.child.exitCode === null) await sleep(50);
    await running.stop('SIGKILL');
  };
  await upload(1);
  t.strictSame(requests, ['POST /v1/transcriptions']);
  const created_at = new Date().toISOString();
  listed = [{ id: 'broken', status: 'failed', created_at }];
  await upload(2);
  const list = (...statuses: string[]) => statuses.map((status) => `GET /v1/transcriptions ${status}`);
  t.strictSame(
    requests.slice(1),
    [
      ...list('queued', 'processing', 'queued', 'completed', 'failed'),
      'GET /v1/transcriptions/broken',
      ...list('insufficient_balance'),
      'POST /v1/transcriptions',
    ],
    'an incomplete upload does not count',
  );
  listed = [
    { id: 'old', status: 'completed', created_at: '2020-01-01T00:00:00.000Z' },
    { id: 'there', status: 'completed', created_at },
  ];
  const { code, stdout } = await longhand(['upload', spool, '--json'], env);
  t.equal(code, 0);
  t.match(JSON.parse(stdout), { id: 'there', status: 'completed' });
  t.equal(sent(), 2, 'no further upload, regardless of time');
  t.match(JSON.parse((await longhand(['upload', spool, '--json'], env)).stdout), { id: 'there', status: 'sent before' });
});

t.test('upload follows symbolic links to recordings, but not to folders', async (t) => {
  const { seen, url } = await service(t, []);
  const links = t.testdir({ 'nowhere.wav': t.fixture('symlink', 'gone.wav') });
  symlinkSync(path.join(folder, 'a.wav'), path.join(links, 'link.wav'));
  symlinkSync(folder, path.join(links, 'folder.wav'));
  const { code } = await longhand(['upload', links, '--url', url, '--key', 'k']);
  t.equal(code, 0);
  t.match(seen, [{ name: `attachment; filename*=UTF-8''link.wav`, bytes: 200_000 }]);
  t.equal(seen.length, 1);
});

t.test('upload reports a response that is not from Longhand, such as a sign-in page', async (t) => {
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

t.test('upload does not retry permanent errors, and continues with the next file', async (t) => {
  const { seen, url } = await service(t, [refuse(413, {}, { code: 'file_size_limit_exceeded', message: 'too large' })]);
  const { code, stdout, stderr } = await longhand(['upload', folder, '--url', url, '--key', 'k']);
  t.equal(code, 1);
  t.equal(seen.length, 2);
  t.match(stderr, /refused with 413 file_size_limit_exceeded: too large/);
  t.match(stdout, /queued/);
});

t.test('upload counts a file of a folder that was refused before like one that was sent before', async (t) => {
  const tooSmall = refuse(400, {}, { code: 'file_too_small', message: 'too small' });
  const { seen, url } = await service(t, [tooSmall]);
  const spool = t.testdir({ 'a.wav': 'refused', 'b.wav': 'taken'.repeat(1000) });
  const upload = (...args: string[]) => longhand(['upload', ...args, '--url', url, '--key', 'k']);
  t.match(await upload(spool), { code: 1, stderr: /a\.wav: refused with 400 file_too_small: too small/, stdout: /queued/ });
  t.match(await upload(spool), {
    code: 0,
    stdout: '',
    stderr: /^1 uploaded before; .*\n1 refused before because of the file itself; --again tries them again\n$/,
  });
  t.equal(seen.length, 2);
});

t.test('upload of a named file that was refused before fails, because the service does not have it', async (t) => {
  const tooSmall = refuse(400, {}, { code: 'file_too_small', message: 'too small' });
  const { seen, url } = await service(t, [tooSmall]);
  const spool = t.testdir({ 'a.wav': 'refused', 'b.wav': 'taken'.repeat(1001) });
  const upload = (...args: string[]) => longhand(['upload', ...args, '--url', url, '--key', 'k', '--ledger', path.join(spool, 'ledger')]);
  await upload(spool);
  const alone = path.join(spool, 'a.wav');
  const reason = /refused before: refused with 400 file_too_small: too small; --again tries it again/;
  t.match(await upload(alone), { code: 1, stdout: reason, stderr: reason });
  t.match(await upload(alone, '--wait'), { code: 1, stdout: '', stderr: reason });
  t.match(await upload(alone, '--json'), { code: 1, stderr: reason });
  t.match(await upload(alone, path.join(spool, 'b.wav')), { code: 1, stdout: reason, stderr: /1 uploaded before/ });
  t.match(await upload(spool, alone), { code: 1, stderr: /1 refused before because of the file itself/ });
  t.equal(seen.length, 2);
});

t.test('findRecordings() skips unreadable folders inside the named one, and reports them', async (t) => {
  const spool = t.testdir({ 'a.wav': '', 'b.txt': '', deep: { 'b.wav': '' }, done: { 'c.wav': '' }, shut: {}, gone: {}, 'lost+found': {} });
  const codes: Record<string, string> = { shut: 'EACCES', 'lost+found': 'EACCES', gone: 'ENOENT' };
  const listed: string[] = [];
  const list = async (folder: string) => {
    listed.push(path.relative(spool, folder));
    const code = codes[path.basename(folder)];
    if (code) throw Object.assign(new Error(`${code}: ${folder}`), { code });
    return readdir(folder, { withFileTypes: true });
  };
  const skipped: string[] = [];
  const onUnreadable = (at: string) => void skipped.push(path.relative(spool, at));
  const found = await findRecordings([spool], { list, onUnreadable, doneDir: path.join(spool, 'done') });
  t.strictSame(
    found.map(({ name, listed }) => [name, listed]),
    [
      ['a.wav', true],
      [path.join('deep', 'b.wav'), true],
    ],
  );
  t.match(await findRecordings([path.join(spool, 'b.txt')]), [{ name: 'b.txt', listed: false }]);
  t.strictSame(skipped, ['shut']);
  t.notOk(listed.includes('done'), 'sent recordings are not looked through');
  await t.rejects(findRecordings([path.join(spool, 'shut')], { list }), { code: 'EACCES' }, 'the named folder itself');
});

t.test('moveTo() keeps every file, even if several of the same name are moved at once', async (t) => {
  const folders = Array.from({ length: 20 }, (_, index) => `from ${index}`);
  const spool = t.testdir(Object.fromEntries(folders.map((folder) => [folder, { 'call.wav': folder }])));
  const done = path.join(spool, 'done');
  await Promise.all(folders.map((folder) => moveTo(done, { file: path.join(spool, folder, 'call.wav'), name: 'call.wav', listed: false })));
  const kept = readdirSync(done).map((name) => readFileSync(path.join(done, name), 'utf8'));
  t.strictSame(kept.sort(), [...folders].sort());
  t.ok(existsSync(path.join(done, 'call (20).wav')));
  await t.rejects(moveTo(done, { file: path.join(spool, 'gone.wav'), name: 'gone.wav', listed: true }), { code: 'ENOENT' });
  t.notOk(existsSync(path.join(done, 'gone.wav')), 'no empty file is left');
});

const setpriv = process.getuid?.() === 0 ? findProgram('setpriv') : null;
const noOther = process.getuid?.() === 0 && !setpriv && 'needs setpriv, because root may read every folder';
t.test('upload sends the rest of a folder in which one is unreadable, and exits with 1', { skip: noOther }, async (t) => {
  const { seen, url } = await service(t, []);
  const spool = mkdtempSync(path.join(tmpdir(), 'longhand-upload-')); // where another account may go
  t.teardown(() => rmSync(spool, { recursive: true }));
  mkdirSync(path.join(spool, 'shut'));
  for (const file of ['a.wav', 'shut/b.wav']) writeFileSync(path.join(spool, file), file.repeat(1000));
  chmodSync(path.join(spool, 'shut'), 0);
  t.teardown(() => chmodSync(path.join(spool, 'shut'), 0o700));
  const args = ['upload', spool, '--json', '--ledger', path.join(spool, 'state', 'ledger.jsonl')];
  const env = { LONGHAND_KEY: 'k', LONGHAND_URL: url };
  const call: [string, string[]] = setpriv ? [setpriv, ['--bounding-set=-all', '--inh-caps=-all', LONGHAND, ...args]] : [LONGHAND, args];
  const { code, stdout, stderr } = await finish(...call, env);
  t.equal(code, 1, stderr);
  t.match(JSON.parse(stdout), { file: path.join(spool, 'a.wav'), status: 'queued' });
  t.match(stderr, /^Skipped .*shut: permission denied for this account; let this account read it, or name the other folders$/m);
  t.equal(seen.length, 1);
});

t.test('upload --wait prints the other transcripts if one was deleted meanwhile', async (t) => {
  const record = (id: string) => ({ id, status: 'completed', error_code: null, text: `text of ${id}`, prompt_results: [] });
  const server = createServer(async (request, response) => {
    const name = /filename\*=UTF-8''(\w)/.exec(request.headers['content-disposition'] ?? '')?.[1];
    await buffer(request);
    if (name) return response.writeHead(201).end(JSON.stringify({ uuid: name, status: 'queued', reports: [] }));
    const id = path.basename(request.url!);
    if (id === 'a') return response.writeHead(404).end(JSON.stringify({ code: null, message: 'No such transcription' }));
    response.end(JSON.stringify(record(id)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const spool = t.testdir({ 'a.wav': '1'.repeat(3000), 'b.wav': '2'.repeat(3000) });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, stdout, stderr } = await longhand(['upload', spool, '--url', url, '--key', 'k', '--wait', '--json']);
  t.equal(code, 1);
  t.match(stderr, /a\.wav: refused with 404: No such transcription/);
  t.match(JSON.parse(stdout), { file: path.join(spool, 'b.wav'), text: 'text of b' });
});

t.test('upload --parallel sends that many files concurrently, and reports them in order', async (t) => {
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
