import { constants } from 'node:fs';
import { access, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Throws if a file cannot be written: before measuring, which takes up to hours. */
export async function checkTarget(file: string): Promise<void> {
  const folder = dirname(resolve(file));
  const found = await stat(file).catch(() => null);
  if (found?.isDirectory()) throw new Error(`Cannot save to ${file}: it is a folder; name a file in it`);
  if (!(await stat(folder).catch(() => null))?.isDirectory())
    throw new Error(`Cannot save to ${file}: there is no folder ${folder}; create it, or name a file elsewhere`);
  try {
    if (found)
      await access(file, constants.W_OK); // not opened: it may be a pipe
    else await writeFile(file, '').then(() => rm(file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`Cannot save to ${file}: ${found ? 'it' : folder} cannot be written to (${code}); name a file elsewhere`);
  }
}
