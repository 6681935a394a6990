import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { PoolOptions } from '../../engine/runtime/pool.ts';
import { fittingModel } from '../../models/fit.ts';
import { SHIPPED_FOLDER } from '../../models/manifest.ts';
import { sharedFolder } from './postgres.ts';

const MAKERS = ['manifest.ts', 'fit.ts', 'descriptor.ts', 'build/graph/requantise.ts', 'build/graph/quantise.ts'].map((name) =>
  join(SHIPPED_FOLDER, name),
);

/** Folders of the shipped models in their form for this CPU; conversions are stored under `home`. */
export async function shippedModels(home: string): Promise<PoolOptions['models']> {
  shareFitted(home);
  return { whisper: (await fittingModel('whisper-base', home)).folder, diarization: join(SHIPPED_FOLDER, 'diarization') };
}

/** Lets a new state folder use the models that other tests had made for this processor: making one takes two seconds of it. */
export function shareFitted(home: string): void {
  const hash = createHash('sha256');
  for (const file of MAKERS) hash.update(readFileSync(file));
  const shared = join(sharedFolder(), `fitted-${hash.digest('hex').slice(0, 12)}`);
  mkdirSync(shared, { recursive: true });
  mkdirSync(join(home, 'models'), { recursive: true, mode: 0o700 });
  symlinkSync(shared, join(home, 'models', '.7bit'));
}
