import { setTimeout as sleep } from 'node:timers/promises';
import { mergeDue } from '../../db/search/blocks.ts';
import { indexWaiting, searchWork } from '../../db/search/keep.ts';
import type { Engine } from './engine.ts';
import type { Job } from './slots.ts';

const BATCH = 20; // transcripts
const PAUSE_MS = 50; // after each batch: indexing is less urgent than transcription

/** Indexes new and changed transcripts, and merges blocks of the index. */
export async function nextIndexing(engine: Engine, signal: AbortSignal): Promise<Job | null> {
  if (signal.aborted) return null;
  const { waiting, blocks } = await searchWork(engine.db);
  if (blocks) return async () => void (await mergeDue(engine.db, signal));
  if (!waiting) return null;
  return async () => {
    await indexWaiting(engine.db, engine.vault, null, BATCH, (transcription, error) =>
      engine.log.warn({ transcription, error }, 'a transcript could not be indexed; trying again later'),
    );
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  };
}
