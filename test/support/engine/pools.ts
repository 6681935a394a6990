import { FRAMES_PER_WINDOW, LOCAL_SPEAKERS } from '../../../engine/diarization/pyannote.ts';
import type { Job, Pool } from '../../../engine/runtime/pool.ts';

/** Result of `recognise` of a pool for a window without words. */
export const NO_WORDS = { words: [], language: 'en', languages: [], noSpeech: 0, meanLogProb: 0, tried: [], uncovered: 0 };

/** A pool of one thread that does `job`. */
export function poolOf(job: Partial<Job>): Pool {
  return { threads: 1, concurrency: 1, windowSeconds: 30, device: 'cpu', job: () => job } as unknown as Pool;
}

/** A pool in which all sound is speech, without words. `asked`: whether beam search was requested, for each window. */
export function wordless(): { asked: boolean[]; pool: Pool } {
  const asked: boolean[] = [];
  const local = { speakers: new Uint8Array(FRAMES_PER_WINDOW * LOCAL_SPEAKERS), speech: new Uint8Array(FRAMES_PER_WINDOW).fill(255) };
  const pool = poolOf({
    segment: async (windows) => windows.map(() => local),
    recognise: async ({ accurate }) => {
      asked.push(accurate);
      return NO_WORDS;
    },
  });
  return { asked, pool };
}
