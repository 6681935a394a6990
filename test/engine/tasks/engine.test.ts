import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { conversation, engineBench, excerpt, spokenIn, type TranscriptionRow } from '../../support/engine/engine.ts';
import { addTiny, TINY } from '../../support/engine/models.ts';
import type { Running } from '../../support/processes/processes.ts';
import { eventually } from '../../support/processes/service.ts';

const bench = await engineBench(t);
const { db, vault } = bench;
await addTiny(bench.home);
const engine = await bench.engine();
const courier = await bench.courier({ LONGHAND_WEBHOOK_PRIVATE: 'allow' });
const workspace = await bench.workspace({ minutes: 100 });

interface Row extends TranscriptionRow {
  duration_seconds: number;
  speakers_sealed: Buffer;
  summary_sealed: Buffer;
  summary_writer: string | null;
  media_key_sealed: Buffer | null;
  language: string;
}

const LONG = 30; // times 20 s: enough to be interrupted twice

/** Asks an engine to stop and freezes it for the time that it has to finish its work, so that it does nothing in it. Resolves with its exit code. */
async function stopOutOfTime({ child, output }: Running): Promise<number | null> {
  const ended = once(child, 'close');
  child.kill('SIGTERM');
  await eventually(() => output.stderr.includes('no new work is claimed'), 'the engine to stop');
  child.kill('SIGSTOP');
  await sleep(10_000);
  child.kill('SIGCONT');
  return (await ended)[0];
}

t.test('engine and courier turn an upload into a sealed transcript with its report, charge it once and leave no file', async (t) => {
  const id = await bench.upload(workspace, await conversation(1), { reports: ['summary'], aiMetadata: true });
  const row = await bench.until<Row>(id, ({ status, media_key_sealed }) => status === 'completed' && media_key_sealed === null);
  t.match(row, { language: 'en', error_code: null, lease_token: null });
  t.equal(Math.round(row.duration_seconds), 20);
  t.ok(Math.abs((await bench.balance(workspace)) - (100 - row.duration_seconds / 60)) < 0.001);
  const [segment] = await db.query<{ turns_sealed: Buffer; words_sealed: Buffer }>(
    '*',
    'select * from segments where transcription_id = ?',
    [id],
  );
  const turns = JSON.parse((await vault.text(workspace, `segments|${id}:0|turns`, segment!.turns_sealed))!);
  const words = JSON.parse((await vault.text(workspace, `segments|${id}:0|words`, segment!.words_sealed))!);
  t.match(turns[0], { id: 1, start: Number, end: Number, speaker: 'speaker_1', text: /account of himself/i });
  t.equal(words.length, turns.length);
  t.ok(spokenIn(turns.map((turn: { text: string }) => turn.text).join(' ')).length >= 2);
  t.match(JSON.parse((await vault.text(workspace, `transcriptions|${id}|speakers`, row.speakers_sealed))!), [
    { id: 'speaker_1', name: null },
    { id: 'speaker_2', name: null },
  ]);
  t.ok(await vault.text(workspace, `transcriptions|${id}|summary`, row.summary_sealed));
  t.equal(row.summary_writer, 'extractive');
  for (let report: { status: string } | undefined; report?.status !== 'completed'; await sleep(50)) {
    [report] = await db.query<{ status: string }>('*', 'select status from reports where transcription_id = ?', [id]);
    if (report?.status === 'failed') break;
  }
  t.match(await db.query('*', 'select status, error_code from reports where transcription_id = ?', [id]), [
    { status: 'completed', error_code: null },
  ]);
  t.strictSame(await bench.files(), []);
});

t.test('engine leaves no readable speech in the database, the queue or the log', async (t) => {
  const tables = await db.query<{ name: string }>(
    '*',
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  let rows = 0;
  for (const { name } of tables) {
    for (const { line } of await db.query<{ line: string }>('*', `select x::text as line from ${name} x`)) {
      rows++;
      t.strictSame(spokenIn(line), [], name);
      t.notOk(line.includes('voice.mp3'), name);
      t.strictSame(spokenIn(Buffer.from(line.replace(/[^0-9a-f]/g, ''), 'hex').toString('latin1')), [], name);
    }
  }
  t.ok(rows > 5);
  for (const { output } of [engine, courier]) t.strictSame(spokenIn(output.stderr + output.stdout), []);
});

t.test('engine fails files without a recording with the right code, free of charge, and leaves no file', async (t) => {
  const before = await bench.balance(workspace);
  const wav = await conversation(1);
  const files: [string, Buffer, string][] = [
    ['mp3', Buffer.from('this is a text. '.repeat(200)), 'FILE_CORRUPTED'],
    ['wav', wav.subarray(0, 44 + 16_000), 'RECORDING_TOO_SHORT'],
    ['mp4', Buffer.alloc(4000, 7), 'FILE_CORRUPTED'],
  ];
  for (const [extension, bytes, code] of files) {
    const id = await bench.upload(workspace, bytes, { extension });
    t.match(await bench.until<Row>(id, (row) => row.status === 'failed' && row.media_key_sealed === null), { error_code: code });
  }
  t.equal(await bench.balance(workspace), before);
  t.strictSame(await bench.files(), []);
});

t.test('courier notifies a webhook of the end, signed, and retries after an error response', async (t) => {
  const calls: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    calls.push({ headers: request.headers, body: await text(request) });
    response.writeHead(calls.length === 1 ? 500 : 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const hook = randomUUID();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const secret = await vault.seal(workspace, `webhooks|${hook}|secret`, 'shared secret');
  await db.acrossTenants((tx) =>
    tx.rows('insert into webhooks (id, workspace_id, url, secret_sealed) values (?, ?, ?, ?)', [hook, workspace, url, secret]),
  );
  const id = await bench.upload(workspace, Buffer.from('this is a text. '.repeat(200)));
  await bench.until<Row>(id, ({ status }) => status === 'failed');
  await eventually(async () => {
    await db.acrossTenants((tx) => tx.rows(`update deliveries set next_at = now() where status = 'pending' and last_status is not null`));
    return calls.length > 1;
  }, 'a second call');
  const [first, second] = calls;
  const event = { event: 'transcription.failed', transcription_id: id, status: 'failed', error_code: 'FILE_CORRUPTED', external_id: null };
  t.same(JSON.parse(first!.body), event);
  const { 'longhand-timestamp': time, 'longhand-signature': signature } = first!.headers;
  t.equal(signature, createHmac('sha256', 'shared secret').update(`${time}.${first!.body}`).digest('hex'));
  t.equal(second!.headers['longhand-delivery'], first!.headers['longhand-delivery'], 'a retry has the same delivery id');
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
});

t.test('engine requeues its work on SIGTERM, and another resumes from the finished chunks', async (t) => {
  t.equal(await engine.stop(), 0);
  const quick = { LONGHAND_MODEL: TINY }; // words do not matter
  const first = await bench.engine(quick);
  const id = await bench.upload(workspace, await conversation(LONG));
  const finished = async () => (await db.query('*', 'select 1 from checkpoints where transcription_id = ?', [id])).length;
  await eventually(async () => (await finished()) > 0, 'the first chunk', 300);
  t.equal(await stopOutOfTime(first), 0);
  t.match(await bench.row('transcriptions', id), { status: 'processing', lease_token: null, attempt: 0, deaths: 0 });
  const before = await finished();
  t.ok(before > 0);
  t.equal((await db.query('*', `select 1 from engines where role = 'engine'`)).length, 0);
  const heir = await bench.engine(quick);
  await eventually(async () => (await finished()) > before, 'further chunks, in addition to the earlier ones', 300);

  await t.test('engine stops work on a deleted transcription within 10 s, and continues with others', async (t) => {
    t.match(await bench.row('transcriptions', id), { status: 'processing', lease_token: String });
    await db.acrossTenants((tx) => tx.rows('delete from transcriptions where id = ?', [id]));
    await bench.spool.remove(id, 'wav');
    await eventually(() => new RegExp(`${id}.*deleted or taken over`).test(heir.output.stderr), 'the end of the work on it', 10);
    await eventually(async () => !(await bench.files()).length, 'the removal of its files');
    t.equal(await bench.row('transcriptions', id), null);
    const next = await bench.upload(workspace, await excerpt(5));
    await bench.until<Row>(next, ({ status }) => status === 'completed');
  });
  t.equal(await heir.stop(), 0);
  t.strictSame(await bench.files(), []);
});
