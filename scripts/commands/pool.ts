import path from 'node:path';
import type { Settings } from '../../api/contract/settings.ts';
import type { InstalledModel } from '../../bench/peers/models.ts';
import { configuredModels } from '../../engine/configured.ts';
import { chooseDevice } from '../../engine/runtime/gpu.ts';
import { openPool, type Pool, type PoolOptions } from '../../engine/runtime/pool.ts';
import { languagesOf, readDescriptor } from '../../models/descriptor.ts';
import { SHIPPED_FOLDER } from '../../models/manifest.ts';
import { listModels } from '../../models/store.ts';

/** The engine's threads in this process, with the configured models and device. The caller closes it. */
export async function openLocalPool(settings: Settings): Promise<Pool> {
  const models = await localModels(settings);
  const { devices } = readDescriptor(models.models.whisper);
  return openPool({ ...models, threads: settings.LONGHAND_THREADS, device: await chooseDevice(settings.LONGHAND_DEVICE, devices) });
}

/** The configured models. */
export async function localModels(settings: Settings): Promise<Pick<PoolOptions, 'models' | 'others' | 'routes'>> {
  const { resident, others, routes, least } = await configuredModels(settings);
  return {
    models: { whisper: resident.folder, diarization: path.join(SHIPPED_FOLDER, 'diarization'), home: settings.LONGHAND_HOME },
    others: Object.fromEntries(others.map(({ name, folder }) => [name, folder])),
    routes: routes.size ? { resident: resident.name, byLanguage: routes, least } : undefined,
  };
}

/** The named models, or all installed ones that recognise English. */
export async function installedModels(settings: Settings, names: readonly string[] | null): Promise<InstalledModel[]> {
  const usable = (await listModels(settings.LONGHAND_HOME)).filter(({ kind }) => kind !== 'diarization');
  const all = usable.filter(({ folder }) => languagesOf(readDescriptor(folder)).includes('en')).map(({ name }) => name);
  const alone = (name: string) => localModels({ ...settings, LONGHAND_MODEL: name, LONGHAND_MODELS: undefined });
  return Promise.all((names ?? all).map(async (name) => ({ name, models: (await alone(name)).models })));
}
