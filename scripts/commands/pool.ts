import path from 'node:path';
import type { Settings } from '../../api/contract/settings.ts';
import { openPool, type Pool, type PoolOptions } from '../../engine/runtime/pool.ts';
import { fittingModel } from '../../models/fit.ts';
import { SHIPPED_FOLDER } from '../../models/manifest.ts';

/** The engine's threads in this process, with the model and device of the settings. The caller closes it. */
export async function openLocalPool(settings: Settings): Promise<Pool> {
  return openPool({
    models: await localModels(settings),
    threads: settings.LONGHAND_THREADS,
    device: settings.LONGHAND_DEVICE === 'auto' ? undefined : settings.LONGHAND_DEVICE,
  });
}

/** Folders of the models that the settings name. */
export async function localModels(settings: Settings): Promise<PoolOptions['models']> {
  const { folder } = await fittingModel(settings.LONGHAND_MODEL, settings.LONGHAND_HOME);
  return { whisper: folder, diarization: path.join(SHIPPED_FOLDER, 'diarization') };
}
