import path from 'node:path';
import type { Settings } from '../../api/contract/settings.ts';
import { chooseDevice } from '../../engine/runtime/gpu.ts';
import { openPool, type Pool, type PoolOptions } from '../../engine/runtime/pool.ts';
import { readDescriptor } from '../../models/descriptor.ts';
import { fittingModel } from '../../models/fit.ts';
import { SHIPPED_FOLDER } from '../../models/manifest.ts';

/** The engine's threads in this process, with the configured model and device. The caller closes it. */
export async function openLocalPool(settings: Settings): Promise<Pool> {
  const models = await localModels(settings);
  const { devices } = readDescriptor(models.whisper);
  return openPool({ models, threads: settings.LONGHAND_THREADS, device: await chooseDevice(settings.LONGHAND_DEVICE, devices) });
}

/** Folders of the configured models. */
export async function localModels(settings: Settings): Promise<PoolOptions['models']> {
  const { folder } = await fittingModel(settings.LONGHAND_MODEL, settings.LONGHAND_HOME);
  return { whisper: folder, diarization: path.join(SHIPPED_FOLDER, 'diarization') };
}
