import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openVault } from '../../db/secrets/vault.ts';
import { openSpool } from '../../db/spool/open.ts';
import { connectRaw, head } from '../support/api/raw.ts';
import { send, uploadHeaders } from '../support/api/uploads.ts';
import { testDatabase } from '../support/databases/database.ts';
import { openWorld } from '../support/databases/world.ts';
import { excerpt } from '../support/engine/engine.ts';
import { addTiny, TINY } from '../support/engine/models.ts';
import { program, type Running, start } from '../support/processes/processes.ts';
import { needPrograms } from '../support/processes/programs.ts';
import { CREDENTIALS, startS3 } from '../support/servers/s3.ts';

// An API and an engine process whose spool is a real S3 server, which is stopped and restarted.
const { versitygw } = needPrograms(t, 'versitygw');
const s3 = await startS3(t, versitygw);
const media = await s3.place();
const spool = await openSpool({ LONGHAND_HOME: '.', LONGHAND_MEDIA: media, S3_ENDPOINT: s3.endpoint });
const { url: database, db } = await testDatabase(t);
const folder = mkdtempSync(path.join(tmpdir(), 'longhand-s3-hosts-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const master = randomBytes(32);
const world = openWorld(db, await openVault(db, [master]));
const workspace = await world.workspace({ minutes: 1000 });
const { key } = await world.key(await world.member(workspace, { role: 'owner' }));
const RECORDING = await excerpt();
const WAV = { 'Content-Disposition': 'attachment; filename="call.wav"' };

await addTiny(folder);
const settings = {
  DATABASE_URL: database,
  LONGHAND_HOME: folder,
  LONGHAND_MEDIA: media,
  S3_ENDPOINT: s3.endpoint,
  LONGHAND_MASTER_KEY: master.toString('base64'),
  LONGHAND_RATE_LIMIT: '0',
  LONGHAND_THREADS: '1',
  LONGHAND_MODEL: TINY,
  PORT: '0',
  LOG_FORMAT: 'json',
};
const startApi = async (credentials: Record<string, string>): Promise<{ api: Running; url: string }> => {
  const api = start(t, process.execPath, program('api/main.ts'), { ...settings, ...credentials });
  return { api, url: (await api.said(/listening on (\S+)/))[1]! };
};
const { url } = await startApi(CREDENTIALS);

interface Row {
  status: string;
  error_code: string | null;
}
const row = async (id: string) => (await db.query<Row>('*', 'select status, error_code from transcriptions where id = ?::uuid', [id]))[0];
const stored = async () => {
  const names: string[] = [];
  for await (const { id, extension } of spool.list()) names.push(`${id}.${extension}`);
  return names;
};
/** Waits until a condition holds; throws after `seconds`. */
async function until(holds: () => Promise<boolean>, seconds: number, what: string): Promise<void> {
  for (const end = Date.now() + seconds * 1000; !(await holds()); await sleep(200)) {
    if (Date.now() > end) throw new Error(`Timed out after ${seconds} s: ${what}`);
  }
}

t.test('GET /readyz reports an unusable spool: S3 is down, or the credentials are wrong', async (t) => {
  const ready = async (at: string) => {
    const answer = await fetch(`${at}/readyz`);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  t.match(await ready(url), { status: 200, body: { spool: true } });
  const stranger = await startApi({ ...CREDENTIALS, AWS_SECRET_ACCESS_KEY: 'another' });
  t.match(await ready(stranger.url), { status: 503, body: { status: 'unready', database: true, spool: false } });
  t.match(stranger.api.output.stdout + stranger.api.output.stderr, /SignatureDoesNotMatch/, 'and the log contains the reason');
  t.match(await send(stranger.url, key, WAV), { status: 503, json: { code: 'service_unavailable' } });
  await stranger.api.stop();
  await s3.down();
  await sleep(1_100); // a response is cached for 1 s
  t.match(await ready(url), { status: 503, body: { status: 'unready', database: true, spool: false } });
  await s3.up();
  await sleep(1_100);
  t.match(await ready(url), { status: 200, body: { spool: true } });
});

t.test('an upload during which S3 goes down gets 503, leaves nothing behind, and its key is released', async (t) => {
  const bytes = Buffer.alloc(24_000_000, RECORDING);
  const headers = { 'Idempotency-Key': 'once', ...WAV };
  const connection = await connectRaw(url);
  connection.write(head('POST', '/v1/transcriptions', uploadHeaders(key, { 'Content-Length': bytes.length, ...headers })));
  connection.write(bytes.subarray(0, 12_000_000));
  await until(async () => (await stored()).length > 0, 120, 'a part of the upload is in S3');
  await s3.down();
  connection.write(bytes.subarray(12_000_000));
  const answer = await connection.answer(60_000);
  t.match(answer, { status: 503, json: { code: 'service_unavailable' } });
  t.ok(Number(answer.headers.get('retry-after')) >= 1);
  connection.end();
  t.equal((await db.query('*', 'select 1 from transcriptions')).length, 0);
  await s3.up();
  t.match(await send(url, key, headers, '', RECORDING), { status: 201 });
});

t.test('a recording whose spool is down waits without using an attempt, completes when S3 is back, and leaves nothing in S3', async (t) => {
  const { json } = await send(url, key, WAV, '', RECORDING);
  await s3.down();
  const engine = start(t, process.execPath, program('engine/main.ts'), { ...settings, ...CREDENTIALS });
  await engine.said(/^working/m);
  await until(
    async () => /the spool cannot be read/.test(engine.output.stdout + engine.output.stderr),
    120,
    'the engine has encountered the outage',
  );
  t.match(await row(json.uuid), { error_code: null, status: /queued|processing/ });
  await s3.up();
  await until(async () => (await row(json.uuid))?.status === 'completed', 120, 'the recording is completed');
  await until(
    async () => (await db.query('*', `select 1 from transcriptions where status <> 'completed'`)).length === 0,
    120,
    'the other too',
  );
  await until(async () => (await stored()).length === 0, 120, 'S3 is empty, the incomplete upload included');
  const charges = await db.query<{ transcription_id: string }>('*', 'select transcription_id from ledger where minutes < 0');
  t.equal(charges.length, 2);
});
