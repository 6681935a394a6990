/* The clock of PostgreSQL, which is authoritative, jumps by 10 minutes during work (using libfaketime). */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startEmbedded } from '../../db/postgres/embedded.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { connectRaw, head, type RawAnswer } from '../support/api/raw.ts';
import { send, uploadHeaders } from '../support/api/uploads.ts';
import { aftermath } from '../support/databases/aftermath.ts';
import { migratedCluster } from '../support/databases/cluster.ts';
import { conversation, excerpt, type TranscriptionRow } from '../support/engine/engine.ts';
import { TINY } from '../support/engine/models.ts';
import { eventually, openService } from '../support/processes/service.ts';
import { SEED, seeded } from '../support/seeded.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const { random } = seeded();
t.comment(`SEED=${SEED} repeats the random moments`);
const FAKETIME = findLibrary();

/** Path of libfaketime, as installed on Debian and others. */
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
  'PostgreSQL whose clock jumps 10 minutes ahead and back loses no work and assigns none twice',
  { skip: !FAKETIME && 'needs libfaketime: apt-get install faketime' },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'longhand-clock-'));
    const offset = join(folder, 'offset');
    const leap = (by: string) => writeFileSync(offset, `${by}\n`, { mode: 0o644 });
    leap('+0');
    const fake = { LD_PRELOAD: FAKETIME!, FAKETIME_TIMESTAMP_FILE: offset, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' };
    await migratedCluster(join(folder, 'postgres'));
    const server = await preloaded(fake, () => startEmbedded(join(folder, 'postgres')));
    const db = await openDb({ url: server.url, name: 'longhand-test' });
    t.teardown(async () => {
      await db.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const seconds = async () => (await db.query<{ at: number }>('*', 'select extract(epoch from clock_timestamp())::float8 as at'))[0]!.at;
    const [before] = [await seconds(), leap('+600s')];
    if ((await seconds()) - before < 300) return t.plan(0, 'libfaketime has no effect on this PostgreSQL');
    leap('+0');
    const service = await openService(t, { database: { db, url: server.url }, model: TINY });
    const workspaceId = await service.workspace({ concurrency: 1 });
    const engines = [await service.engine(), await service.engine()];
    const wav = await conversation(2);
    const short = await excerpt();
    const api = await service.api();
    const sending = await beginUpload(api.url, service.key, short);
    await eventually(() => service.spooled().length > 0, 'a file in the spool');
    leap('+600s');
    const retry = await send(api.url, service.key, { ...uploadOf(short), ...ONCE }, '', short);
    t.match(retry, { status: 409, json: { code: 'idempotency_conflict' } }, 'an upload in progress keeps its Idempotency-Key');
    const beside = await send(api.url, service.key, uploadOf(short), '', short); // counts the uploads in progress of the workspace
    const answer = await sending();
    if (!t.strictSame([beside.status, answer.status], [201, 201], 'an upload in progress keeps its slot')) return;
    for (const { json } of [beside, answer]) await service.until(json.uuid, ({ status }) => status === 'completed', 300);
    leap('+0');
    const upload = (bytes: Buffer) => service.upload(workspaceId, bytes, { diarize: false });
    const retried = () =>
      engines.flatMap(({ output }) => output.stderr.split('\n').filter((line) => line.includes('failed; it will be retried')));
    const ended = async (id: string) => {
      const row = await service.until<TranscriptionRow>(id, ({ status }) => status === 'completed', 300);
      t.same(retried(), [], 'no attempt failed');
      t.match(row, { deaths: 0, attempt: 1 }, 'no engine was declared dead');
    };
    /** A point in the work at which the clock jumps. */
    const begun = (id: string) => {
      const chance = random();
      return service.until<TranscriptionRow>(id, ({ status, fraction }) => status !== 'queued' && fraction >= 0.7 * chance, 300);
    };
    for (let round = 0; round < ROUNDS; round++) {
      const ids = [await upload(wav), await upload(wav)];
      await begun(ids[0]!);
      leap('+600s');
      await ended(ids[0]!);
      await begun(ids[1]!);
      const waiting = await upload(short); // its timestamps will be 10 minutes in the future
      leap('+0');
      await ended(ids[1]!);
      await ended(waiting);
      await aftermath(t, service);
    }
    for (const engine of engines) t.equal(await engine.stop(), 0);
  },
);

const ONCE = { 'Idempotency-Key': 'leap' };
const uploadOf = (wav: Buffer) => ({ 'Content-Length': wav.length, 'Content-Disposition': 'attachment; filename="call.wav"' });

/** Sends all but the last byte of an upload; call the result to send it. */
async function beginUpload(url: string, key: string, wav: Buffer): Promise<() => Promise<RawAnswer>> {
  const connection = await connectRaw(url);
  connection.write(head('POST', '/v1/transcriptions', uploadHeaders(key, { ...uploadOf(wav), ...ONCE })));
  connection.write(wav.subarray(0, -1));
  return async () => {
    connection.write(wav.subarray(-1));
    return connection.answer().finally(() => connection.end());
  };
}

/** Starts a program with additional environment variables. */
async function preloaded<T>(variables: Record<string, string>, begin: () => Promise<T>): Promise<T> {
  Object.assign(process.env, variables);
  try {
    return await begin();
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
}
