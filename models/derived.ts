import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Files that are derived from a model and kept outside its folder, by its name. They must not outlive it: another may get the name. */

/** The latest self-check of a model on this machine. */
export function checkFile(name: string, home: string): string {
  return join(home, 'models', '.checks', `${name}.json`);
}

/** The folder of its conversions for CPUs whose 8-bit products saturate. */
export function conversionsFolder(name: string, home: string): string {
  return join(home, 'models', '.7bit', name);
}

/** Removes all of them. */
export async function removeDerived(name: string, home: string): Promise<void> {
  const paths = [checkFile(name, home), conversionsFolder(name, home)];
  await Promise.all(paths.map((path) => rm(path, { recursive: true, force: true })));
}
