import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { PoolOptions } from '../../../engine/runtime/pool.ts';
import { fittingModel } from '../../../models/choosing/fit.ts';
import { importModel } from '../../../models/install/importing.ts';
import { SHIPPED_FOLDER } from '../../../models/manifest.ts';
import { TALKING, writeCheckpoint } from '../../models/checkpoint.ts';
import { sharedFolder } from '../databases/postgres.ts';

const MAKERS = ['manifest.ts', 'choosing/fit.ts', 'descriptor.ts', 'build/graph/requantise.ts', 'build/graph/quantise.ts'].map((name) =>
  join(SHIPPED_FOLDER, name),
);

/** Name of a speech model with random weights: it returns the same text quickly for any audio, for tests in which words do not matter. */
export const TINY = 'tiny';

/** Folders of the shipped models in the variant for this CPU; conversions are stored under `home`. */
export async function shippedModels(home: string): Promise<PoolOptions['models']> {
  shareFitted(home);
  return { whisper: (await fittingModel('whisper-base', home)).folder, diarization: join(SHIPPED_FOLDER, 'diarization'), home };
}

/** Lets a new state folder use models that other tests have converted for this CPU: a conversion takes 2 s of CPU time. */
export function shareFitted(home: string): void {
  const hash = createHash('sha256');
  for (const file of MAKERS) hash.update(readFileSync(file));
  const shared = join(sharedFolder(), `fitted-${hash.digest('hex').slice(0, 12)}`);
  mkdirSync(join(home, 'models'), { recursive: true, mode: 0o700 });
  for (const kept of ['.7bit', '.networks']) {
    mkdirSync(join(shared, kept), { recursive: true });
    symlinkSync(join(shared, kept), join(home, 'models', kept));
  }
}

/** Adds the tiny speech model to a new state folder. It is built once for all tests of this checkout, from its sources. */
export async function addTiny(home: string): Promise<void> {
  const built = join(sharedFolder(), `${TINY}-${fingerprint()}`);
  if (!existsSync(built)) await buildTiny(built);
  cpSync(join(built, 'models', TINY), join(home, 'models', TINY), { recursive: true });
}

/** Appears atomically. If several processes build it concurrently, the first result is kept. */
async function buildTiny(built: string): Promise<void> {
  const partial = mkdtempSync(`${built}.`);
  try {
    writeCheckpoint(join(partial, 'checkpoint'), TALKING, 'F16');
    await importModel(join(partial, 'checkpoint'), { home: partial, name: TINY });
    renameSync(partial, built);
  } catch (error) {
    if (!existsSync(built)) throw error;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Changes with every source that affects the building of a model. */
function fingerprint(): string {
  const hash = createHash('sha256').update(readFileSync(new URL('../../models/checkpoint.ts', import.meta.url)));
  const sources = readdirSync(SHIPPED_FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  for (const name of sources.sort()) hash.update(readFileSync(join(SHIPPED_FOLDER, name)));
  return hash.digest('hex').slice(0, 12);
}
