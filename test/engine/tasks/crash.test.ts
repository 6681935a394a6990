/* Engines are killed, frozen and cut off from the database in every stage of their work; afterwards everything is as if nothing had happened. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { aftermath } from '../../support/aftermath.ts';
import { conversation, engineBench, type TranscriptionRow } from '../../support/engine.ts';
import type { Running } from '../../support/processes.ts';
import { SEED, seeded } from '../../support/seeded.ts';
import { eventually } from '../../support/service.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1); // more of them for a long night
const { random } = seeded();
t.comment(`SEED=${SEED} repeats the choice of the moments`);
const bench = await engineBench(t);
const { db } = bench;
const workspace = await bench.workspace({ minutes: 10_000 });
const long = await conversation(8);

interface Row extends TranscriptionRow {
  media_key_sealed: Buffer | null;
  lease_token: string | null;
  duration_seconds: number;
}

const over = (row: Row) => row.status === 'completed' && row.media_key_sealed === null;

/** One charge of the whole length, nothing reserved, no file anywhere. */
async function settled(t: Test, id: string): Promise<void> {
  await bench.until<Row>(id, over, 240);
  await aftermath(t, bench);
  const [start] = await db.read('*', 'select min(start) from (select block as start from segments where transcription_id = ?) s', [id]);
  t.match(start, { min: 0 });
}

/** Moments; `chance` is 0 to 1, drawn once for each kill. */
const moments: [string, (row: Row, chance: number) => boolean][] = [
  ['while it probes', (row) => row.lease_token !== null && row.status === 'queued'],
  ['as its transcription begins', (row) => row.status === 'processing'],
  ['in the middle of the work', (row, chance) => row.fraction > 0.02 + chance * 0.8],
  ['shortly before its end', (row) => row.fraction > 0.85],
];

let heir: Running | undefined; // the one that ended the work before is killed next
for (let round = 0; round < ROUNDS; round++) {
  for (const [moment, reached] of moments) {
    t.test(`an engine that is killed ${moment} loses nothing: another ends the work, and it is charged once`, async (t) => {
      const engine = heir ?? (await bench.engine());
      const id = await bench.upload(workspace, long);
      const chance = random();
      await bench.until<Row>(id, (row) => reached(row, chance) || over(row));
      await sleep(random() * 200);
      await engine.stop('SIGKILL');
      const left = (await bench.row<Row>('transcriptions', id))!;
      if (left.lease_token) await bench.expire('transcriptions', id); // as 60 s would
      await db.system((tx) => tx.rows(`update engines set last_seen = now() - interval '2 minutes'`));
      heir = await bench.engine();
      await settled(t, id);
      if (left.lease_token) t.match(await bench.row('transcriptions', id), { deaths: 1 });
      const engines = async () => (await db.read('*', 'select 1 from engines')).length;
      await eventually(async () => (await engines()) === 1, 'the dead engine is forgotten', 60);
    });
  }
}

t.test('an engine that is frozen past its lease wakes to find the work done by another: one transcript, one charge', async (t) => {
  const frozen = heir!;
  t.teardown(() => frozen.child.kill('SIGCONT')); // or it could not be ended
  let id = '';
  for (let done = true; done; ) {
    frozen.child.kill('SIGCONT');
    id = await bench.upload(workspace, long);
    await bench.until<Row>(id, (row) => row.status === 'processing' || over(row));
    frozen.child.kill('SIGSTOP');
    done = (await bench.row<Row>('transcriptions', id))!.lease_token === null; // it was quicker
  }
  await bench.expire('transcriptions', id);
  const other = await bench.engine();
  await bench.until<Row>(id, (row) => row.deaths === 1 && (row.lease_token !== null || over(row)), 60);
  frozen.child.kill('SIGCONT'); // now both believe
  await settled(t, id);
  await eventually(() => frozen.output.stderr.includes('deleted or taken over'), 'the frozen one knows', 30);
  await frozen.stop();
  heir = other;
});

t.test('an engine whose connections are cut again and again ends its work all the same', async (t) => {
  const engine = heir!;
  const id = await bench.upload(workspace, long);
  for (let row = await bench.until<Row>(id, () => true); !over(row); row = await bench.until<Row>(id, () => true)) {
    await db.system(async (tx) => {
      await tx.rows('set local role none');
      await tx.rows(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> ? and pid <> pg_backend_pid()',
        ['longhand-test'],
      );
    });
    await sleep(700);
    if (row.status === 'failed') break;
  }
  await settled(t, id);
  t.equal(await engine.stop(), 0);
});
