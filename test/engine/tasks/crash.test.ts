/* Engines are killed, frozen and disconnected from the database at every stage; the result must be the same as without faults. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { aftermath } from '../../support/databases/aftermath.ts';
import { holdCommits, holding, quiet, statements, waiting } from '../../support/databases/gate.ts';
import { conversation, engineBench, type TranscriptionRow } from '../../support/engine/engine.ts';
import { TINY } from '../../support/engine/models.ts';
import { mediaPrograms, runs, stateOf } from '../../support/processes/hunt.ts';
import type { Running } from '../../support/processes/processes.ts';
import { eventually } from '../../support/processes/service.ts';
import { SEED, seeded } from '../../support/seeded.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1); // more for a nightly run
const ENGINE = 'longhand-engine'; // application_name in PostgreSQL
const { random } = seeded();
t.comment(`SEED=${SEED} repeats the random moments`);
const bench = await engineBench(t, { model: TINY });
const { db } = bench;
const workspace = await bench.workspace({ minutes: 10_000 });
const [short, long] = [await conversation(1), await conversation(2)];

interface Row extends TranscriptionRow {
  media_key_sealed: Buffer | null;
  lease_token: string | null;
}

const over = (row: Row) => row.status === 'completed' && row.media_key_sealed === null;
const look = async (id: string) => (await bench.row<Row>('transcriptions', id))!;

/** Waits for the end and checks: one charge for the whole duration, no reservation, no file left. */
async function settled(t: Test, id: string): Promise<void> {
  await bench.until<Row>(id, over, 240);
  await aftermath(t, bench);
  const [start] = await db.query('*', 'select min(start) from (select block as start from segments where transcription_id = ?) s', [id]);
  t.match(start, { min: 0 });
}

/** A part of an engine's work: how it is recognised in the row of the job and the number of media programs of the engine, and how long it lasts. */
interface Part {
  during: (row: Row, programs: number) => boolean;
  ms: number;
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids.filter(runs)) process.kill(pid, name);
}

function thaw({ child }: Running): void {
  child.kill('SIGCONT');
  signal(mediaPrograms(child.pid!), 'SIGCONT');
}

/** Freezes an engine and its media programs at a random moment of a part of its work. If it is already past it, resumes them and returns false. */
async function freeze(engine: Running, id: string, { during, ms }: Part): Promise<boolean> {
  const programs = () => mediaPrograms(engine.child.pid!);
  const there = (row: Row) => during(row, programs().length);
  const end = performance.now() + 240_000;
  for (let row = await look(id), n = 1; !there(row) && !over(row); n++) {
    if (performance.now() > end) throw new Error(`No engine works on it after 240 s: ${row.status}, ${row.stage}`);
    await sleep(5);
    if (n % 10 === 0 || programs().length) row = await look(id); // parts without a media program are long
  }
  await sleep(random() * ms);
  signal(programs(), 'SIGSTOP'); // otherwise they could end before the engine is frozen
  engine.child.kill('SIGSTOP');
  await eventually(() => quiet(db, ENGINE), 'its pending statements to finish');
  if (there(await look(id))) return true;
  thaw(engine);
  return false;
}

/** Uploads and freezes until one attempt succeeds: some parts are short. Returns the id. */
async function caught(engine: Running, wav: Buffer, part: Part): Promise<string> {
  for (;;) {
    const id = await bench.upload(workspace, wav);
    if (await freeze(engine, id, part)) return id;
    await bench.until<Row>(id, over, 240);
  }
}

let successor: Running | undefined; // the engine that finished the previous work is killed next
const current = async () => (successor ??= await bench.engine()); // there is none if the test before has failed

/** Kills an engine during its work; `free` releases what blocked it. Another takes over, immediately instead of after 60 s. */
async function bequeath(t: Test, engine: Running, id: string, free = () => {}): Promise<void> {
  const programs = mediaPrograms(engine.child.pid!);
  successor = undefined; // if this test fails, the next one needs another
  await engine.stop('SIGKILL');
  t.ok((await look(id)).lease_token, 'it is killed while it holds the lease');
  signal(programs, 'SIGCONT');
  free();
  const rest = async () =>
    `its media programs and transactions to end\n${programs.filter(runs).map(stateOf).join('\n')}\n${await statements(db)}`;
  await eventually(async () => !programs.some(runs) && !(await waiting(db, ENGINE)), rest);
  await bench.expire('transcriptions', id);
  await db.acrossTenants(async (tx) => {
    await tx.rows(`update transcriptions set stage = 'probing' where id = ?`, [id]); // later stages are set by the new engine
    await tx.rows(`update engines set last_seen = now() - interval '2 minutes'`);
  });
  successor = await bench.engine();
}

const WORKING: Part = { during: (row) => row.status === 'processing', ms: 1000 };
const parts: [string, Buffer, Part][] = [
  ['while it probes', short, { during: (row, programs) => row.status === 'queued' && row.lease_token !== null && programs > 0, ms: 20 }],
  ['while it decodes', short, { during: (row, programs) => row.status === 'processing' && programs > 0, ms: 20 }],
  ['in the middle of the work', long, WORKING],
];

for (let round = 0; round < ROUNDS; round++) {
  for (const [name, wav, part] of parts) {
    t.test(`engine killed ${name} loses nothing: another finishes the work, and it is charged once`, async (t) => {
      const engine = await current();
      const id = await caught(engine, wav, part);
      await bequeath(t, engine, id);
      await settled(t, id);
      t.match(await look(id), { deaths: 1 });
      const engines = async () => (await db.query('*', 'select 1 from engines')).length;
      await eventually(async () => (await engines()) === 1, 'the row of the dead engine to be removed', 60);
    });
  }

  t.test('engines killed while one writes its transcript and its successor diarizes leave one transcript and one charge', async (t) => {
    const engine = await current();
    let release = await holding(bench.url, 'lock table segments in share mode');
    const id = await bench.upload(workspace, long);
    await eventually(async () => (await waiting(db, ENGINE)) > 0, 'the transcript being written', 240);
    await bequeath(t, engine, id, release); // at this point everything is recognised and saved
    release = await holding(bench.url, 'lock table segments in share mode'); // so that it cannot finish
    const late = async () => (await look(id)).stage === 'diarizing' || (await waiting(db, ENGINE)) > 0;
    await eventually(late, 'the successor to diarize', 240);
    await sleep(random() * 500);
    t.comment(`the successor is killed in stage ${(await look(id)).stage}`);
    await bequeath(t, successor!, id, release);
    await settled(t, id);
    t.match(await look(id), { deaths: 2 });
  });

  t.test('engine killed while PostgreSQL commits its transcript leaves one transcript and one charge', async (t) => {
    const engine = await current();
    const release = await holdCommits(db, bench.url, 'ledger');
    const id = await bench.upload(workspace, short);
    await eventually(async () => (await waiting(db, ENGINE)) > 0, 'the commit waiting', 240);
    await sleep(random() * 1000);
    successor = undefined;
    await engine.stop('SIGKILL');
    t.match(await look(id), { status: 'processing' });
    release();
    await eventually(async () => (await look(id)).status === 'completed', 'the commit done');
    successor = await bench.engine();
    await settled(t, id);
    t.match(await look(id), { deaths: 0 });
  });

  t.test('engine frozen past its lease resumes after another has done the work: one transcript, one charge', async (t) => {
    const frozen = await current();
    t.teardown(() => thaw(frozen)); // otherwise it could not be terminated
    const id = await caught(frozen, long, WORKING);
    await bench.expire('transcriptions', id);
    const other = await bench.engine();
    await bench.until<Row>(id, (row) => row.deaths === 1 && (row.lease_token !== null || over(row)), 150); // a frozen transaction ends after 60 s
    await sleep(random() * 3000);
    thaw(frozen); // now both engines assume that they hold the lease
    await settled(t, id);
    const noticed = () => frozen.output.stderr.includes('deleted or taken over');
    await eventually(noticed, 'the frozen engine to notice').catch((error: Error) => {
      throw new Error(`${error.message}\n${frozen.output.stderr.slice(-3000)}`);
    });
    await frozen.stop();
    successor = other;
  });

  t.test('engine whose connections are cut repeatedly still finishes its work', async (t) => {
    await current();
    const id = await bench.upload(workspace, long);
    for (let row = await look(id); !over(row) && row.status !== 'failed'; row = await look(id)) {
      await db.acrossTenants(async (tx) => {
        await tx.rows('set local role none');
        await tx.rows(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> ? and pid <> pg_backend_pid()',
          ['longhand-test'],
        );
      });
      await sleep(300 + random() * 800);
    }
    await settled(t, id);
  });
}

t.test('engine: the last one shuts down cleanly', async (t) => t.equal(await (await current()).stop(), 0));
