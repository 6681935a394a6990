import type { PoolOptions } from '../../engine/runtime/pool.ts';
import { apart } from '../apart.ts';
import type { Peer } from './peers.ts';

/** Folders of an installed ASR model and the diarization models. */
export interface InstalledModel {
  name: string;
  models: PoolOptions['models'];
}

/**
 * Installed models as programs to compare. Each run is a process of its own, as those of other programs are, so its memory is that of the
 * model alone. Opening the model is not part of its time.
 */
export function modelPrograms(installed: readonly InstalledModel[], options: Omit<PoolOptions, 'models'>, accurate = false): Peer[] {
  return installed.map(({ name, models }) => ({
    name,
    run: (file, language) =>
      apart(new URL('models-run.ts', import.meta.url), [name, { ...options, models }, accurate, file, language], `The run of ${name}`),
  }));
}
