/* Full disks: the spool during an upload, the scratch folder of an engine during decoding, PostgreSQL during writes. */
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startEmbedded } from '../../db/postgres/embedded.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { send } from '../support/api/uploads.ts';
import { aftermath } from '../support/databases/aftermath.ts';
import { migratedCluster } from '../support/databases/cluster.ts';
import { conversation, excerpt, type TranscriptionRow } from '../support/engine/engine.ts';
import { TINY } from '../support/engine/models.ts';
import { noDisks, smallDisk } from '../support/processes/disk.ts';
import { eventually, impatient, openService } from '../support/processes/service.ts';
import { SEED, seeded } from '../support/seeded.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const { random } = seeded();
t.comment(`SEED=${SEED} repeats the random moments`);
const MB = 1_048_576;
const LARGE = JSON.stringify({ note: 'x'.repeat(4000) });
const skip = noDisks() ?? false;
const wish = (name: string) => ({ 'Idempotency-Key': name, 'Content-Disposition': 'attachment; filename="call.wav"' });

/** The result of the first call of a function. */
function once<T>(make: () => T): () => T {
  let made: { result: T } | undefined;
  return () => (made ??= { result: make() }).result;
}

/** One service for all tests, whose spool, scratch folder and database are on disks of their own. */
async function open() {
  const [spool, scratch, database] = [smallDisk(t, 8 * MB), smallDisk(t, 32 * MB), smallDisk(t, 256 * MB)];
  await migratedCluster(database.path);
  const server = await startEmbedded(database.path);
  const db = await openDb({ url: server.url, name: 'longhand-test' });
  t.teardown(async () => {
    await db.close();
    await server.stop();
  });
  const service = await openService(t, { database: { db, url: server.url }, model: TINY });
  const media = { LONGHAND_MEDIA: spool.path };
  const recordings = () => readdirSync(spool.path).filter((name) => !name.startsWith('.')); // without the marker of the spool
  return {
    service,
    spool,
    scratch,
    database,
    recordings,
    api: await service.api(media),
    engine: once(() => service.engine({ ...media, TMPDIR: scratch.path })),
  };
}
const here = skip ? null : await open();

t.test('API with a full spool responds 503 with Retry-After, leaves no partial file, and later accepts the upload', { skip }, async (t) => {
  const { service, spool: disk, api, recordings: files } = here!;
  const wav = await conversation(6); // 3.8 MB
  disk.fill(0);
  t.equal((await fetch(`${api.url}/readyz`)).status, 503, 'load balancers are told not to send uploads');
  const some = Array.from({ length: 2 * ROUNDS }, () => Math.floor(random() * wav.length));
  for (const left of [0, 100_000, ...some]) {
    disk.empty();
    disk.fill(left);
    const answer = await send(api.url, service.key, wish('full'), '', wav);
    t.match({ status: answer.status, code: answer.json?.code }, { status: 503, code: 'service_unavailable' }, `${left} bytes left`);
    t.match(answer.headers.get('retry-after'), /^[1-9]\d*$/);
    t.strictSame(files(), ['filler']);
  }
  t.equal((await service.db.query('*', 'select 1 from transcriptions')).length, 0);
  t.equal((await service.db.query('*', 'select 1 from upload_leases')).length, 0, 'the slots are released');
  disk.empty();
  await eventually(async () => (await fetch(`${api.url}/readyz`)).ok, 'ready again');
  const answer = await send(api.url, service.key, wish('full'), '', wav);
  t.equal(answer.status, 201, 'the key is released');
  t.strictSame(files(), [`${answer.json.uuid}.wav`]);
  const headers = { authorization: `Bearer ${service.key}` };
  t.equal((await fetch(`${api.url}/v1/transcriptions/${answer.json.uuid}`, { method: 'DELETE', headers })).status, 204);
});

t.test('engine without space for samples retries until there is space, and does not fail the recording', { skip }, async (t) => {
  const { service, scratch: disk, api, recordings } = here!;
  const engine = await here!.engine();
  const failures = () => engine.output.stderr.split('cannot do the work now').length - 1;
  impatient(t, service);
  for (let round = 0; round < ROUNDS; round++) {
    const before = failures();
    disk.fill(Math.floor(random() * 1.2 * MB));
    const wav = await conversation(2); // 1.22 MiB of samples
    const id = (await send(api.url, service.key, wish(`scratch ${round}`), '?diarize=0', wav)).json.uuid as string;
    await eventually(() => failures() > before + 5, 'more failures than the limit of attempts');
    t.match(await service.row('transcriptions', id), { status: /queued|processing/, error_code: null, deaths: 0 });
    disk.empty();
    await service.until<TranscriptionRow>(id, ({ status }) => status === 'completed');
  }
  await aftermath(t, service);
  await eventually(() => !recordings().length, 'the removal of the recordings');
});

t.test('API responds 503 while the disk of PostgreSQL is full, and work continues when there is space', { skip }, async (t) => {
  const { service, database: disk, scratch, api, recordings } = here!;
  const engine = await here!.engine();
  const wav = await excerpt();
  for (let round = 0; round < ROUNDS; round++) {
    const first = (await send(api.url, service.key, wish(`first ${round}`), '?diarize=0', wav)).json.uuid as string;
    await service.until<TranscriptionRow>(first, ({ stage, status }) => stage === 'transcribing' || status === 'completed');
    await sleep(random() * 2000);
    disk.fill(0);
    let refused = 0;
    for (let i = 0; i < 300 && refused < 10; i++) {
      const answer = await send(api.url, service.key, { ...wish(`more ${round} ${i}`), 'X-Metadata': LARGE }, '?diarize=0', wav);
      if (answer.status === 201) continue; // it fitted into space that PostgreSQL had reserved
      t.match({ status: answer.status, code: answer.json?.code }, { status: 503, code: 'service_unavailable' }, answer.body);
      t.match(answer.headers.get('retry-after'), /^[1-9]\d*$/);
      refused++;
      await sleep(200);
    }
    t.equal(refused, 10);
    disk.empty();
    const answer = await eventually(async () => {
      const answer = await send(api.url, service.key, wish(`afterwards ${round}`), '?diarize=0', wav);
      return answer.status < 300 ? answer : null;
    }, 'an accepted upload');
    for (const id of [first, answer.json.uuid as string]) {
      await service.until<TranscriptionRow>(id, ({ status }) => status === 'completed', 120);
    }
    await aftermath(t, service);
    await eventually(() => !recordings().length, 'the removal of the recordings');
  }
  t.equal(await engine.stop(), 0);
  t.strictSame(
    readdirSync(scratch.path).filter((name) => name.startsWith('longhand')),
    [],
  );
});
