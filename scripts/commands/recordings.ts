import type { Dirent } from 'node:fs';
import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { EXTENSIONS } from '../../api/contract/formats.ts';

/** A file to upload. */
export interface Recording {
  file: string;
  /** Its place below the folder that was named; the bare name when it was named itself. */
  name: string;
}

export interface Wanted {
  /** Seconds since the last change; younger files may still be written to. */
  minAge?: number;
  /** Where files go when they are sent; it may lie inside a folder that is looked through. */
  doneDir?: string;
}

/** The files named, and in folders every file with an extension that the service takes, but those that are too young. Throws when a name is not there. */
export async function findRecordings(names: readonly string[], { minAge = 0, doneDir }: Wanted = {}): Promise<Recording[]> {
  const found: Recording[] = [];
  const done = doneDir && `${path.resolve(doneDir)}${path.sep}`;
  for (const name of names) {
    if (!(await stat(name)).isDirectory()) {
      found.push({ file: name, name: path.basename(name) });
      continue;
    }
    const entries = await readdir(name, { recursive: true, withFileTypes: true });
    const accepted = entries.filter((entry) => EXTENSIONS.has(path.extname(entry.name).slice(1).toLowerCase()));
    const files = await Promise.all(
      accepted.map(async (entry) => ((await isFile(entry)) ? [path.join(entry.parentPath, entry.name)] : [])),
    );
    const inside = files.flat().filter((file) => !done || !path.resolve(file).startsWith(done));
    found.push(...inside.sort().map((file) => ({ file, name: path.relative(name, file) })));
  }
  if (!found.length && !minAge && !doneDir) throw new Error(`Found no recordings to upload in ${names.join(', ')}`);
  const old = await Promise.all(found.map(async ({ file }) => !minAge || (await ageOf(file)) >= minAge));
  return found.filter((_, index) => old[index]);
}

/** Seconds since a file last changed; -1 when it is gone. */
async function ageOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => null);
  return found ? (Date.now() - found.mtimeMs) / 1000 : -1;
}

/** Whether it is a file, or a link to one. Links to folders are not followed: they may lead in circles. */
async function isFile(entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isFile();
  const target = await stat(path.join(entry.parentPath, entry.name)).catch(() => null); // it may lead nowhere
  return target?.isFile() ?? false;
}

/** Moves a file to where sent ones are kept, under the same name below it. One that has the name already stays: the new one gets a number. */
export async function moveTo(doneDir: string, { file, name }: Recording): Promise<void> {
  const wanted = path.join(doneDir, name);
  await mkdir(path.dirname(wanted), { recursive: true });
  const { dir, name: stem, ext } = path.parse(wanted);
  for (let number = 1; ; number++) {
    const target = number === 1 ? wanted : path.join(dir, `${stem} (${number})${ext}`);
    if (await stat(target).catch(() => null)) continue;
    return rename(file, target).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EXDEV') throw error;
      await copyFile(file, target, constants.COPYFILE_EXCL); // another disk
      await rm(file);
    });
  }
}
