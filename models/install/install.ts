import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isFull } from '../choosing/space.ts';
import { removeDerived } from '../derived.ts';
import { manifestOf } from '../manifest.ts';
import type { Model } from '../store.ts';
import { HIDDEN, keepFresh, PARTIAL, removeUnfinished } from './unfinished.ts';

/**
 * Installs the folder that `make` writes as a model of this name. It appears atomically; a failure leaves no files.
 * @param touchMs how often the folder is marked as being written to
 */
export async function install(name: string, home: string, make: (partial: string) => Promise<void>, touchMs?: number): Promise<Model> {
  const models = join(home, 'models');
  const folder = join(models, name);
  await removeUnfinished(models, HIDDEN);
  const partial = join(models, `${HIDDEN}${name}.${randomUUID()}${PARTIAL}`);
  const stop = keepFresh(partial, touchMs);
  try {
    await mkdir(partial, { recursive: true });
    await make(partial);
    await removeDerived(name, home); // of a predecessor that was deleted by hand or by an earlier version
    await rename(partial, folder).catch((cause) => {
      throw new Error(`Cannot import the model: another import has taken the name ${name} meanwhile; choose another with --name`, {
        cause,
      });
    });
    return { ...manifestOf(folder), folder, shipped: false };
  } catch (cause) {
    if (!isFull(cause)) throw cause;
    const remedy = 'nothing of it was kept; free some space, or move LONGHAND_HOME, and import it again';
    throw new Error(`Cannot write the model ${name} to ${models}: the disk is full; ${remedy}`, { cause });
  } finally {
    stop();
    await rm(partial, { recursive: true, force: true });
    await rm(`${partial}.reference${PARTIAL}`, { recursive: true, force: true });
  }
}

/** The error for a model that fails its checks. */
export function refused(name: string, why: string): Error {
  return new Error(`Cannot put the model ${name} into service: ${why}. Use --force to import it anyway`);
}
