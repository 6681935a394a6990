/*
 * Clocks that are wrong: those of hosts by a day in either direction, and that of PostgreSQL, which decides, leaping by ten minutes in the midst of
 * work (under libfaketime).
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startEmbedded } from '../../db/embedded.ts';
import { migrate } from '../../db/migrate.ts';
import { openDb } from '../../db/orm.ts';
import { aftermath } from '../support/aftermath.ts';
import { conversation, type TranscriptionRow } from '../support/engine.ts';
import { ROOT } from '../support/processes.ts';
import { connectRaw, head } from '../support/raw.ts';
import { eventually, openService } from '../support/service.ts';
import { send, uploadHeaders } from '../support/uploads.ts';

const DAY_MS = 86_400_000;
const WAV = { 'Content-Disposition': 'attachment; filename="call.wav"' };

t.test('hosts whose clocks are wrong by a day in either direction work together as if they were right', async (t) => {
  const service = await openService(t);
  const { db, key, workspaceId } = service;
  const shifted = (ms: number) => ({ CLOCK_SHIFT_MS: String(ms), NODE_OPTIONS: `--import=${join(ROOT, 'test/support/shifted.mjs')}` });
  const [ahead, behind] = await Promise.all([service.api(shifted(DAY_MS)), service.api(shifted(-DAY_MS))]);
  await db.read('*', `update api_keys set expires_at = now() + interval '1 hour'`);
  const wav = await conversation(1);
  const slow = await connectRaw(ahead.url);
  slow.write(head('POST', '/v1/transcriptions', uploadHeaders(key, { ...WAV, 'Content-Length': wav.length })));
  let sent = 0;
  const drip = setInterval(() => slow.write(wav.subarray(sent, (sent += 100))), 2000); // the sweepers of both engines see it in flight
  t.teardown(() => clearInterval(drip));

  const [first, second] = await Promise.all([
    send(ahead.url, key, { ...WAV, 'Idempotency-Key': 'one' }, '', wav),
    send(behind.url, key, { ...WAV, 'Idempotency-Key': 'two' }, '', wav),
  ]);
  t.strictSame([first.status, second.status], [201, 201], 'a key that is good for an hour is good on both');
  t.equal((await send(behind.url, key, { ...WAV, 'Idempotency-Key': 'one' }, '', wav)).json.uuid, first.json.uuid);
  t.equal((await send(ahead.url, key, { ...WAV, 'Idempotency-Key': 'two' }, '', wav)).json.uuid, second.json.uuid);
  const broken = await connectRaw(ahead.url);
  broken.write(head('POST', '/v1/transcriptions', uploadHeaders(key, { ...WAV, 'Content-Length': wav.length, 'X-External-Id': 'broken' })));
  broken.write(wav.subarray(0, 5000));
  await eventually(async () => (await db.read('*', 'select 1 from upload_leases')).length === 2, 'both slow uploads in flight');
  broken.end(true);
  await eventually(async () => (await db.read('*', `select 1 from transcriptions where status = 'failed'`)).length, 'the broken one kept');

  const engines = await Promise.all([service.engine(shifted(DAY_MS)), service.engine(shifted(-DAY_MS))]);
  const swept = () => engines.every(({ output }) => /"msg":"working"/.test(output.stderr));
  await eventually(swept, 'both engines at work');
  for (const { json } of [first, second]) await service.until<TranscriptionRow>(json.uuid, ({ status }) => status === 'completed', 300);
  clearInterval(drip);
  slow.write(wav.subarray(sent));
  const third = await slow.answer();
  t.equal(third.status, 201, 'its place was kept');
  await service.until<TranscriptionRow>(third.json.uuid, ({ status }) => status === 'completed', 240);
  for (const { json } of [first, second, third]) {
    t.match(await service.row('transcriptions', json.uuid), { deaths: 0, error_code: null }, 'nobody was taken for dead');
  }
  await aftermath(t, service);
  const times = await db.read<{ column: string; apart: number }>(
    '*',
    `select c.name as column, extract(epoch from now() - c.at)::float8 as apart from transcriptions t cross join lateral (values
       ('created_at', t.created_at), ('updated_at', t.updated_at), ('completed_at', t.completed_at), ('started_at', t.started_at)) c (name, at)
     where c.at is not null and t.workspace_id = ?`,
    [workspaceId],
  );
  t.ok(times.length >= 14, 'the broken upload included');
  t.strictSame(
    times.filter(({ apart }) => apart < -5 || apart > 1200),
    [],
    'no time was written by a host',
  );
});

const FAKETIME = findLibrary();

/** libfaketime, as Debian and others install it. */
function findLibrary(): string | null {
  const folders = [
    '/usr/lib',
    '/usr/lib64',
    '/usr/local/lib',
    ...readdirSync('/usr/lib')
      .filter((name) => name.includes('-linux-'))
      .map((name) => `/usr/lib/${name}`),
  ];
  return folders.map((folder) => join(folder, 'faketime', 'libfaketimeMT.so.1')).find((file) => existsSync(file)) ?? null;
}

t.test(
  'a PostgreSQL whose clock leaps ten minutes ahead, and back, loses no work and hands none to two',
  { skip: !FAKETIME && 'needs libfaketime: apt-get install faketime' },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'longhand-clock-'));
    const offset = join(folder, 'offset');
    const leap = (by: string) => writeFileSync(offset, `${by}\n`, { mode: 0o644 });
    leap('+0');
    const fake = { LD_PRELOAD: FAKETIME!, FAKETIME_TIMESTAMP_FILE: offset, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' };
    const server = await preloaded(fake, () => startEmbedded(join(folder, 'postgres')));
    const db = await openDb({ url: server.url, name: 'longhand-test' });
    t.teardown(async () => {
      await db.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const seconds = async () => (await db.read<{ at: number }>('*', 'select extract(epoch from clock_timestamp())::float8 as at'))[0]!.at;
    const [before] = [await seconds(), leap('+600s')];
    if ((await seconds()) - before < 300) return t.plan(0, 'this PostgreSQL does not heed libfaketime');
    leap('+0');
    await migrate(db);
    const service = await openService(t, { database: { db, url: server.url } });
    const workspaceId = await service.workspace({ concurrency: 1 });
    const engines = [await service.engine(), await service.engine()];
    const wav = await conversation(3);
    const ended = async (id: string) => {
      const row = await service.until<TranscriptionRow>(id, ({ status }) => status === 'completed', 300);
      t.match(row, { deaths: 0, attempt: 1 }, 'nobody was taken for dead');
    };
    const ids = [await service.upload(workspaceId, wav), await service.upload(workspaceId, wav)];
    await service.until<TranscriptionRow>(ids[0]!, ({ fraction }) => fraction > 0.2, 300);
    leap('+600s');
    await ended(ids[0]!);
    await service.until<TranscriptionRow>(ids[1]!, ({ fraction }) => fraction > 0.2, 300);
    const waiting = await service.upload(workspaceId, await conversation(1)); // its times will lie ten minutes ahead
    leap('+0');
    await ended(ids[1]!);
    await ended(waiting);
    await aftermath(t, service);
    for (const engine of engines) t.equal(await engine.stop(), 0);
  },
);

/** Starts something with variables that nothing else gets. */
async function preloaded<T>(variables: Record<string, string>, begin: () => Promise<T>): Promise<T> {
  Object.assign(process.env, variables);
  try {
    return await begin();
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
}
