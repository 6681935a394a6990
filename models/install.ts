import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDerived } from './derived.ts';
import { manifestOf } from './manifest.ts';
import type { Model } from './store.ts';

/** Suffix of files and folders being written, perhaps by another process; never listed. */
export const PARTIAL = '.partial';

/** Installs the folder that `make` writes as a model of this name. It appears atomically; a failure leaves no files. */
export async function install(name: string, home: string, make: (partial: string) => Promise<void>): Promise<Model> {
  const folder = join(home, 'models', name);
  await removeAbandoned(home);
  const partial = join(home, 'models', `.${name}.${process.pid}.${randomUUID().slice(0, 8)}${PARTIAL}`);
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
  } finally {
    await rm(partial, { recursive: true, force: true });
    await rm(`${partial}.reference${PARTIAL}`, { recursive: true, force: true });
  }
}

/** The error for a model that fails its checks. */
export function refused(name: string, why: string): Error {
  return new Error(`Cannot put the model ${name} into service: ${why}. Use --force to import it anyway`);
}

/** Removes unfinished folders of killed imports. */
async function removeAbandoned(home: string): Promise<void> {
  for (const entry of await readdir(join(home, 'models')).catch(() => [])) {
    const pid = Number(/\.(\d+)\.[0-9a-f]{8}\.partial/.exec(entry)?.[1]);
    if (pid && !lives(pid)) await rm(join(home, 'models', entry), { recursive: true, force: true });
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
