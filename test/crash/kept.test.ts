/* Kept recordings are removed within 60 s of the end of their term, transcription or workspace, even if an engine is killed at any moment. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { deleteWorkspace } from '../../db/tenants/workspaces.ts';
import { engineBench, excerpt, type TranscriptionRow } from '../support/engine/engine.ts';
import { TINY } from '../support/engine/models.ts';
import type { Running } from '../support/processes/processes.ts';
import { eventually } from '../support/processes/service.ts';
import { SEED, seeded } from '../support/seeded.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const PROMISED = 60; // seconds
const LEEWAY = 30; // for a busy machine
const SWEEP_MS = 15_000; // between two sweeps
const { random } = seeded();
t.comment(`SEED=${SEED} repeats the random moments`);
const bench = await engineBench(t, { model: TINY });
const { db } = bench;
const clip = await excerpt();
const KEEPING = { LONGHAND_KEEP_RECORDINGS_DAYS: '30' };

interface Row extends TranscriptionRow {
  media_key_sealed: Buffer | null;
  media_until: Date | null;
}

const keep = (workspace: string, days: number) =>
  db.query('*', 'update workspaces set keep_recordings_days = ? where id = ?', [days, workspace]);
const stored = async () => (await bench.files()).filter((path) => path.includes('/spool/'));
const storedOf = async (id: string) => (await stored()).filter((path) => path.includes(id));

/** Ends the right to keep a recording; its file must then be removed in time. */
interface Ending {
  id: string;
  what: string;
  end(): Promise<unknown>;
}

/** One of two engines is killed at a random moment within a sweep interval after the ends. */
async function goneInTime(t: Test, victim: Running, endings: readonly Ending[]): Promise<void> {
  const killed = sleep(random() * SWEEP_MS).then(() => victim.stop('SIGKILL'));
  await Promise.all(
    endings.map(async ({ id, what, end }) => {
      const began = performance.now();
      await end();
      await eventually(async () => !(await storedOf(id)).length, `no recording after ${what}`, PROMISED + LEEWAY);
      t.pass(`${what}: removed after ${Math.round((performance.now() - began) / 1000)} s`);
    }),
  );
  await killed;
}

t.test('an engine removes every recording unless both the operator and the workspace keep it', async (t) => {
  const [asked, unasked] = [await bench.workspace({ minutes: 100 }), await bench.workspace({ minutes: 100 })];
  await keep(asked, 7);
  const engine = await bench.engine(); // of an operator who keeps no recordings
  for (const workspace of [asked, unasked]) {
    const id = await bench.upload(workspace, clip, { diarize: false });
    await bench.until<Row>(id, (row) => row.status === 'completed' && row.media_key_sealed === null);
  }
  await engine.stop();
  t.strictSame(await stored(), []);
});

for (let round = 0; round < ROUNDS; round++) {
  await t.test('engines that are killed at random moments keep recordings for their term and no longer', async (t) => {
    const [workspace, doomed] = [await bench.workspace({ minutes: 100 }), await bench.workspace({ minutes: 100 })];
    for (const each of [workspace, doomed]) await keep(each, 7);
    const ids = await Promise.all([workspace, workspace, workspace, doomed].map((each) => bench.upload(each, clip, { diarize: false })));
    const first = await bench.engine(KEEPING);
    await sleep(random() * 2_000);
    await first.stop('SIGKILL'); // during transcription
    for (const id of ids) await bench.expire('transcriptions', id); // as after 60 s
    const engines = [await bench.engine(KEEPING), await bench.engine(KEEPING)];
    for (const id of ids) {
      const row = await bench.until<Row>(id, ({ status }) => status === 'completed', 300);
      t.ok(row.media_key_sealed && row.media_until, 'kept');
    }
    await sleep(SWEEP_MS);
    t.equal((await stored()).length, ids.length, 'nothing is removed before the end of its term');
    for (const path of await stored()) t.notOk((await readFile(path)).includes('WAVE'), 'encrypted on disk');
    const [ended, shortened, deleted, gone] = ids as [string, string, string, string];
    const set = (change: string, id: string) => db.query('*', `update transcriptions set ${change} where id = ?`, [id]);
    await set(`completed_at = completed_at - interval '2 days'`, shortened);
    await goneInTime(t, engines[Math.floor(random() * 2)]!, [
      { id: ended, what: 'its term', end: () => set('media_until = now()', ended) },
      { id: shortened, what: 'a shorter policy', end: () => keep(workspace, 2) },
      // as left by an API that is killed before it removes the file
      { id: deleted, what: 'its deletion', end: () => db.query('*', 'delete from transcriptions where id = ?', [deleted]) },
      { id: gone, what: 'the deletion of its workspace', end: () => db.acrossTenants((tx) => deleteWorkspace(tx, doomed)) },
    ]);
    for (const id of [ended, shortened]) await bench.until<Row>(id, (row) => row.media_key_sealed === null && row.media_until === null);
    t.strictSame(await stored(), []);
  });
}
