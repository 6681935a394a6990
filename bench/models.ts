import { writeFileSync } from 'node:fs';
import { openPool, type PoolOptions } from '../engine/runtime/pool.ts';
import { longhand } from './comparison.ts';
import type { Peer } from './peers.ts';

/** Folders of an installed ASR model and the diarization models. */
export interface InstalledModel {
  name: string;
  models: PoolOptions['models'];
}

/**
 * Installed models as programs to compare. Each run opens an engine's threads with one model, which is not part of its time, and measures the
 * memory of that run alone.
 */
export function modelPrograms(installed: readonly InstalledModel[], options: Omit<PoolOptions, 'models'>, accurate = false): Peer[] {
  return installed.map(({ name, models }) => ({
    name,
    async run(file, language) {
      resetPeakMemory();
      const pool = await openPool({ ...options, models });
      try {
        return await longhand(pool, name, accurate).run(file, language);
      } finally {
        await pool.close();
      }
    },
  }));
}

/** Sets the high-water mark of resident memory to the present value (proc(5), clear_refs). Not on Linux: it stays that of the process. */
function resetPeakMemory(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // no such file
  }
}
