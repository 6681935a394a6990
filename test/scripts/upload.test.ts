import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { longhandHere } from '../support/processes/here.ts';
import { LONGHAND, start } from '../support/processes/processes.ts';
import { refuse, serverOf, uploadService } from '../support/servers/upload-server.ts';

/** Environment with a ledger for this test file. */
const longhand = (args: readonly string[], env: Record<string, string> = {}) =>
  longhandHere(args, { XDG_STATE_HOME: path.join(folder, 'state'), ...env });
const folder = t.testdir({ 'a.wav': 'a'.repeat(200_000), 'notes.txt': 'no recording', deep: { 'Größe (1).mp3': 'b'.repeat(3000) } });

t.test('upload retries with the same Idempotency-Key after overload and lost connections', async (t) => {
  const { seen, url } = await uploadService(t, [
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
  const { seen, url } = await uploadService(t, []);
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

t.test('upload that was killed before the response queries whether the service has the file, and does not send it again', async (t) => {
  let listed: { id: string; status: string; created_at: string }[] = [];
  const requests: string[] = [];
  const url = await serverOf(t, async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://service');
    requests.push(`${request.method} ${pathname}${searchParams.has('status') ? ` ${searchParams.get('status')}` : ''}`);
    if (request.method === 'POST') return void (await buffer(request)); // and never responds
    const items = listed.filter(({ status }) => status === searchParams.get('status')).map(({ id, created_at }) => ({ id, created_at }));
    response.end(JSON.stringify(searchParams.size ? { items } : { error_code: 'UPLOAD_INCOMPLETE' }));
  });
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

/** A service without minutes at first, and what it then has under an external id. `list`: answers a list. */
async function pennyless(t: Test, list: (response: ServerResponse) => unknown) {
  const names: (string | undefined)[] = [];
  let broke = true;
  const url = await serverOf(t, async (request, response) => {
    if (request.method === 'GET') return list(response);
    if (broke) return refuse(402, {}, { code: 'insufficient_balance', message: 'no minutes are left' })(request, response);
    await buffer(request);
    names.push(request.headers['content-disposition']?.split("''")[1]);
    response.writeHead(201).end(JSON.stringify({ uuid: `${names.length}-${names.at(-1)}`, status: 'queued', reports: [] }));
  });
  const env = { LONGHAND_KEY: 'k', LONGHAND_URL: url, XDG_STATE_HOME: t.testdir() };
  const topUp = () => {
    broke = false;
  };
  return { names, env, topUp };
}

t.test('upload does not take another recording with the same --external-id for one whose first attempt failed', async (t) => {
  const { names, env, topUp } = await pennyless(t, (response) => {
    const items = [...names, 'foreign.wav'].map((title, i) => ({ id: `${i + 1}-${title}`, title, created_at: new Date().toISOString() }));
    response.end(JSON.stringify({ items }));
  });
  const calls = t.testdir({ 'one.wav': '1'.repeat(2000), 'two.wav': '2'.repeat(2000), later: { 'one.wav': '3'.repeat(2000) } });
  const send = (name: string) => longhand(['upload', path.join(calls, name), '--external-id', 'deal-1', '--json'], env);
  t.equal((await send('one.wav')).code, 1);
  topUp();
  t.match(JSON.parse((await send('two.wav')).stdout), { id: '1-two.wav' });
  t.match(JSON.parse((await send('later/one.wav')).stdout), { id: '2-one.wav' });
  t.match(JSON.parse((await send('one.wav')).stdout), { id: '3-one.wav' }, 'even if it has the same name');
  t.strictSame(names, ['two.wav', 'one.wav', 'one.wav']);
});

t.test('upload tries again with a key that may not read, as long as the service remembers the first attempt', async (t) => {
  const { names, env, topUp } = await pennyless(t, (response) =>
    response.writeHead(403).end(JSON.stringify({ code: null, message: 'the permission read is missing' })),
  );
  const call = path.join(t.testdir({ 'call.wav': 'c'.repeat(2000) }), 'call.wav');
  t.equal((await longhand(['upload', call], env)).code, 1);
  topUp();
  const ledger = path.join(env.XDG_STATE_HOME, 'longhand', 'uploads.jsonl');
  const young = readFileSync(ledger, 'utf8');
  writeFileSync(ledger, young.replace(/"at":"[^"]+"/, '"at":"2020-01-01T00:00:00.000Z"'));
  t.match(await longhand(['upload', call], env), {
    code: 1,
    stderr: /use a key with the permission read, or upload it anyway with --again/,
  });
  writeFileSync(ledger, young);
  t.match(await longhand(['upload', call, '--json'], env), { code: 0, stdout: /1-call.wav/ });
  t.strictSame(names, ['call.wav']);
});

t.test('upload --wait prints the other transcripts if one was deleted meanwhile', async (t) => {
  const record = (id: string) => ({ id, status: 'completed', error_code: null, text: `text of ${id}`, prompt_results: [] });
  const url = await serverOf(t, async (request, response) => {
    const name = /filename\*=UTF-8''(\w)/.exec(request.headers['content-disposition'] ?? '')?.[1];
    await buffer(request);
    if (name) return response.writeHead(201).end(JSON.stringify({ uuid: name, status: 'queued', reports: [] }));
    const id = path.basename(request.url!);
    if (id === 'a') return response.writeHead(404).end(JSON.stringify({ code: null, message: 'No such transcription' }));
    response.end(JSON.stringify(record(id)));
  });
  const spool = t.testdir({ 'a.wav': '1'.repeat(3000), 'b.wav': '2'.repeat(3000) });
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
  const { url } = await uploadService(t, [together, together]);
  const { code, stdout } = await longhand(['upload', folder, '--url', url, '--key', 'k', '--parallel', '2', '--json']);
  t.equal(code, 0);
  const files = stdout
    .trim()
    .split('\n')
    .map((line) => path.basename(JSON.parse(line).file));
  t.strictSame(files, ['a.wav', 'Größe (1).mp3']);
});
