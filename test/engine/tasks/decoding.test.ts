import t from 'tap';
import { FRAMES_PER_WINDOW, LOCAL_SPEAKERS } from '../../../engine/diarization/pyannote.ts';
import type { Job } from '../../../engine/runtime/pool.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import { nextTranscription } from '../../../engine/tasks/transcribe.ts';
import { excerpt, type TranscriptionRow } from '../../support/engine.ts';
import { NO_WORDS, poolOf, taskBench } from '../../support/tasks.ts';

const bench = await taskBench(t);

/** A pool in which all sound is speech, without words. `asked`: whether beam search was requested, for each window. */
function wordless() {
  const asked: boolean[] = [];
  const local = { speakers: new Uint8Array(FRAMES_PER_WINDOW * LOCAL_SPEAKERS), speech: new Uint8Array(FRAMES_PER_WINDOW).fill(255) };
  const job = {
    segment: async (windows) => windows.map(() => local),
    recognise: async ({ accurate }) => {
      asked.push(accurate);
      return NO_WORDS;
    },
  } satisfies Partial<Job>;
  return { asked, pool: poolOf(job) };
}

t.test('nextTranscription() requests beam search if the engine decodes accurately', async (t) => {
  const workspace = await bench.workspace();
  for (const accurate of [true, false]) {
    const { asked, pool } = wordless();
    const engine = bench.engineHere({ pool, options: { accurate, keepDays: 0 } as Engine['options'] });
    const id = await bench.upload(workspace, await excerpt(), { seconds: 3, diarize: false });
    await (await nextTranscription(engine, { capacity: 2, long: 0 }))!();
    t.match(await bench.row<TranscriptionRow>('transcriptions', id), { status: 'completed' });
    t.strictSame(asked, [accurate]);
  }
});
