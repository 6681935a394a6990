import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';
import { connectRaw, head } from '../../support/api/raw.ts';
import { FILE, send, uploadHeaders } from '../../support/api/uploads.ts';
import { eventually } from '../../support/processes/service.ts';

const POST = 'POST /transcriptions';
const api = await testApi(t, { LONGHAND_LIMIT_UPLOAD_STALL_S: '12', LONGHAND_LIMIT_UPLOAD_TOTAL_S: '20' });
const workspace = await api.world.workspace();
const owner = await api.world.member(workspace, { role: 'owner' });
const { key } = await api.world.key(owner);

const start = async (headers: Record<string, string | number>, query = '') => {
  const connection = await connectRaw(api.url);
  connection.write(head('POST', `/v1/transcriptions${query}`, uploadHeaders(key, headers)));
  return connection;
};
const record = async (externalId: string) => {
  const found = await eventually(async () => {
    const { json } = await api.call(key, 'GET', `/v1/transcriptions?status=failed&external_id=${externalId}`);
    return json.items[0];
  }, `the record ${externalId}`);
  return (await api.call(key, 'GET', `/v1/transcriptions/${found.id}`)).json;
};
const spooled = async () => {
  let count = 0;
  for await (const _ of api.spool.list()) count++;
  return count;
};
const leases = async () =>
  api.db.acrossTenants((tx) =>
    tx.rows('select id from upload_leases union all select transcription_id from idempotency_keys where answer is null'),
  );

t.test('an upload has limits on stalls and on total time', async (t) => {
  t.jobs = 3; // they mostly wait
  t.test('a stalled upload is answered 408 after the limit, and leaves a failed record', { buffered: true }, async (t) => {
    const connection = await start({ 'X-External-Id': 'stalled', 'X-Metadata': '{"a":1}', 'Idempotency-Key': 'stall' });
    connection.write(FILE.subarray(0, 1500));
    const answer = await connection.answer(25_000); // uWebSockets alone would close it after 10 s
    t.match(answer, provokes(POST, 408, 'upload_timeout'));
    t.equal(answer.headers.get('connection'), 'close');
    await connection.closed(8_000);
    t.match(await record('stalled'), { status: 'failed', error_code: 'UPLOAD_INCOMPLETE', external_id: 'stalled', metadata: { a: 1 } });
    t.equal((await send(api.url, key, { 'Idempotency-Key': 'stall' })).status, 201, 'the key is free again');
  });

  t.test('an upload that takes longer than the total limit is answered 408 although it never stalls', { buffered: true }, async (t) => {
    const connection = await start({ 'X-External-Id': 'endless' });
    const drip = setInterval(() => connection.write('x'.repeat(20)), 1000);
    const answer = await connection.answer(40_000);
    clearInterval(drip);
    t.match(answer, provokes(POST, 408, 'upload_timeout'));
    await connection.closed(8_000);
    t.match(await record('endless'), { error_code: 'UPLOAD_INCOMPLETE' });
  });

  t.test('a very slow upload succeeds', { buffered: true }, async (t) => {
    const connection = await start({});
    for (let sent = 0; sent < FILE.length; sent += 150) {
      connection.write(FILE.subarray(sent, sent + 150));
      await sleep(1000);
    }
    t.equal((await connection.answer()).status, 201);
    connection.end();
  });
});

t.test('a body that breaks off leaves a failed record and no file, and releases its slot and Idempotency-Key', async (t) => {
  const before = await spooled();
  const connection = await start({ 'X-External-Id': 'broken', 'Idempotency-Key': 'broken' });
  connection.write(FILE.subarray(0, 2000));
  await eventually(async () => (await leases()).length === 2, 'slot and key');
  connection.end(true);
  t.match(await record('broken'), { status: 'failed', error_code: 'UPLOAD_INCOMPLETE', duration_seconds: null });
  await eventually(async () => !(await leases()).length, 'the release of slot and key');
  t.equal(await spooled(), before);
  t.equal((await send(api.url, key, { 'Idempotency-Key': 'broken' })).status, 201);
});

t.test('a head and a body in single bytes and odd segments arrive intact', async (t) => {
  const connection = await connectRaw(api.url);
  const text = head(
    'POST',
    '/v1/transcriptions',
    uploadHeaders(key, { 'X-Metadata': `{"a":"${'x'.repeat(4000)}"}`, 'X-Filler': 'y'.repeat(8000) }),
  );
  for (let at = 0; at < text.length; at += 997) {
    connection.write(text.slice(at, at + 997));
    await sleep(2);
  }
  for (let at = 0; at < FILE.length; at += 301) {
    connection.write(FILE.subarray(at, at + 301));
    await sleep(2);
  }
  const answer = await connection.answer();
  t.equal(answer.status, 201);
  const { json } = await api.call(key, 'GET', `/v1/transcriptions/${answer.json.uuid}`);
  t.equal(json.metadata.a.length, 4000);
  connection.end();
});

t.test('an early answer arrives in full while the client still sends, and the connection closes once the client stops', async (t) => {
  const connection = await connectRaw(api.url);
  connection.write(head('POST', '/v1/transcriptions', uploadHeaders('nobody', { 'Content-Length': 50_000_000 })));
  connection.write(Buffer.alloc(1_000_000));
  const answer = await connection.answer();
  t.match(answer, { status: 401, json: { code: 'unauthorized' } });
  t.equal(answer.headers.get('connection'), 'close');
  await connection.closed(8_000);
});

t.test('an early answer survives a client that sends everything before it reads', async (t) => {
  const body = Buffer.alloc(30_000_000);
  for (const more of [{}, { Connection: 'close' }]) {
    const connection = await connectRaw(api.url);
    connection.write(
      head('POST', '/v1/transcriptions', uploadHeaders(key, { 'Content-Disposition': 'x', 'Content-Length': body.length, ...more })),
    );
    connection.write(body);
    t.match(await connection.answer(), { status: 400, json: { code: 'filename_required' } });
    await connection.closed(4_500);
  }
});

t.test('a connection is reused after an upload, and after an answer to a complete body', async (t) => {
  const connection = await connectRaw(api.url);
  for (const [disposition, status] of [
    ['attachment; filename="1.mp3"', 201],
    ['none', 400],
    ['attachment; filename="2.mp3"', 201],
  ] as const) {
    const request = head('POST', '/v1/transcriptions', uploadHeaders(key, { 'Content-Disposition': disposition }));
    connection.write(Buffer.concat([Buffer.from(request), FILE]));
    t.equal((await connection.answer()).status, status);
  }
  connection.write(head('GET', '/v1/workspace', { Authorization: `Bearer ${key}` }));
  t.equal((await connection.answer()).status, 200);
  connection.end();
});

t.test('a pipelined request after an upload is answered in order; in one segment with its end the connection closes', async (t) => {
  const get = head('GET', '/v1/workspace', { Authorization: `Bearer ${key}` });
  for (let pause = 1; ; pause *= 2) {
    const ahead = await start({});
    ahead.write(FILE);
    await sleep(pause);
    ahead.write(get);
    const first = await ahead.answer().catch((error: Error) => error);
    if (first instanceof Error && pause < 1000) continue; // a busy server read both in one segment, as below
    t.match(first, { status: 201, json: { status: 'queued' } });
    t.match(await ahead.answer(), { status: 200, json: { workspace: { id: workspace } } });
    ahead.end();
    break;
  }

  const together = await start({ 'Idempotency-Key': 'pipelined' });
  await sleep(200);
  together.write(Buffer.concat([FILE, Buffer.from(get)]));
  t.equal(await together.closed(5_000), '', 'neither request is answered, so none is answered wrongly');
  let again = await send(api.url, key, { 'Idempotency-Key': 'pipelined' });
  while (again.status === 409) again = await send(api.url, key, { 'Idempotency-Key': 'pipelined' });
  t.equal(again.status, 200, 'the file had arrived: a retry with its Idempotency-Key returns it, stored once');
});

t.test('Expect: 100-continue is answered 100 by the HTTP layer, then the checks are the same', async (t) => {
  const connection = await start({ Expect: '100-continue' });
  connection.write(FILE);
  t.equal((await connection.answer()).status, 201);
  connection.end();
});

t.test('a large upload arrives unchanged', async (t) => {
  const body = Buffer.allocUnsafe(20_000_000);
  for (let at = 0; at < body.length; at += 4) body.writeUInt32LE((Math.imul(at, 2654435761) >>> 0) % 4294967296, at);
  const { json } = await send(api.url, key, {}, '', body);
  const row = await api.db.acrossTenants((tx) =>
    tx.row<{ media_key_sealed: Buffer }>('select media_key_sealed from transcriptions where id = ?', [json.uuid]),
  );
  const sealKey = await api.vault.open(workspace, `transcriptions|${json.uuid}|media_key`, row!.media_key_sealed);
  const folder = await mkdtemp('/tmp/longhand-wire-');
  try {
    await api.spool.open(json.uuid, 'mp3', sealKey, `${folder}/plain`);
    const sum = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
    t.equal(sum(await readFile(`${folder}/plain`)), sum(body));
  } finally {
    await rm(folder, { recursive: true });
  }
});
