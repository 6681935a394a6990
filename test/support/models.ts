import { join } from 'node:path';
import type { PoolOptions } from '../../engine/pool.ts';
import { fittingModel } from '../../models/fit.ts';
import { SHIPPED_FOLDER } from '../../models/manifest.ts';

/** Folders of the shipped networks as they run on this processor; what has to be made anew for that is put under `home`. */
export async function shippedModels(home: string): Promise<PoolOptions['models']> {
  return { whisper: (await fittingModel('whisper-base', home)).folder, diarization: join(SHIPPED_FOLDER, 'diarization') };
}
