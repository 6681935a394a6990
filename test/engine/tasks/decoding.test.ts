import t from 'tap';
import { LIMITS } from '../../../api/contract/limits.ts';
import { installationId, registerEngine } from '../../../db/jobs/engines.ts';
import { FRAMES_PER_WINDOW, LOCAL_SPEAKERS } from '../../../engine/diarization/pyannote.ts';
import type { Job, Pool } from '../../../engine/runtime/pool.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import { openHoldings } from '../../../engine/tasks/holdings.ts';
import { openScratch } from '../../../engine/tasks/scratch.ts';
import { nextTranscription } from '../../../engine/tasks/transcribe.ts';
import { engineBench, excerpt, type TranscriptionRow } from '../../support/engine.ts';
import { engineFacts } from '../../support/work.ts';

const { db, vault, home, spool, ...bench } = await engineBench(t);
const facts = engineFacts();
await registerEngine(db, facts);
const scratch = await openScratch(await installationId(db), facts.id, home);
t.teardown(() => scratch.close());
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const holdings = openHoldings(db, silent);
t.teardown(() => holdings.close());

/** A pool in which all sound is speech, without words. `asked`: whether beam search was requested, for each window. */
function wordless() {
  const asked: boolean[] = [];
  const local = { speakers: new Uint8Array(FRAMES_PER_WINDOW * LOCAL_SPEAKERS), speech: new Uint8Array(FRAMES_PER_WINDOW).fill(255) };
  const nothing = { words: [], language: 'en', languages: [], noSpeech: 0, meanLogProb: 0, tried: [], uncovered: 0 };
  const job = {
    segment: async (windows) => windows.map(() => local),
    recognise: async ({ accurate }) => {
      asked.push(accurate);
      return nothing;
    },
  } satisfies Partial<Job>;
  return { asked, pool: { threads: 1, concurrency: 1, windowSeconds: 30, job: () => job } as unknown as Pool };
}

t.test('nextTranscription() requests beam search if the engine decodes accurately', async (t) => {
  const workspace = await bench.workspace();
  for (const accurate of [true, false]) {
    const { asked, pool } = wordless();
    const engine = {
      ...{ id: facts.id, db, vault, spool, scratch, holdings, pool, log: silent, limits: LIMITS },
      trouble: { over: async () => true },
      options: { accurate, keepDays: 0 },
      counts: { finished: 0, uncoveredSeconds: 0 },
    } as unknown as Engine;
    const id = await bench.upload(workspace, await excerpt(), { seconds: 3, diarize: false });
    await (await nextTranscription(engine, { capacity: 2, long: 0 }))!();
    t.match(await bench.row<TranscriptionRow>('transcriptions', id), { status: 'completed' });
    t.strictSame(asked, [accurate]);
  }
});
