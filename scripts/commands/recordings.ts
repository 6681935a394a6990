import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { EXTENSIONS } from '../../api/contract/formats.ts';

/** A file to upload. */
export interface Recording {
  file: string;
  /** Its place below the folder that was named; the bare name when it was named itself. */
  name: string;
  /** Found by listing a folder, not named. */
  listed: boolean;
}

export interface Wanted {
  /** Seconds since the last change; younger files may still be written to. */
  minAge?: number;
  /** Where files go when they are sent; it may lie inside a folder that is looked through. */
  doneDir?: string;
  /** Called for each folder inside one that was named which cannot be read; the others are looked through. */
  onUnreadable?: (folder: string, error: Error) => void;
  /** Lists a folder. */
  list?: (folder: string) => Promise<Dirent[]>;
}

const RECOVERED = 'lost+found'; // in the root of a file system, only for root

/** The files named, and in folders every file with an extension that the service takes, but those that are too young. Throws when a name is not there. */
export async function findRecordings(names: readonly string[], wanted: Wanted = {}): Promise<Recording[]> {
  const { minAge = 0, doneDir } = wanted;
  const found: Recording[] = [];
  for (const name of names) {
    if (!(await stat(name)).isDirectory()) {
      found.push({ file: name, name: path.basename(name), listed: false });
      continue;
    }
    const entries = await entriesIn(name, wanted);
    const accepted = entries.filter((entry) => EXTENSIONS.has(path.extname(entry.name).slice(1).toLowerCase()));
    const files = await Promise.all(
      accepted.map(async (entry) => ((await isFile(entry)) ? [path.join(entry.parentPath, entry.name)] : [])),
    );
    const inside = files.flat().sort();
    found.push(...inside.map((file) => ({ file, name: path.relative(name, file), listed: true })));
  }
  if (!found.length && !minAge && !doneDir) throw new Error(`Found no recordings to upload in ${names.join(', ')}`);
  const old = await Promise.all(found.map(async ({ file }) => !minAge || (await ageOf(file)) >= minAge));
  return found.filter((_, index) => old[index]);
}

/** The files in a folder and in those below it, apart from `doneDir`. Throws if the folder itself cannot be read. */
async function entriesIn(folder: string, wanted: Wanted, isNamed = true): Promise<Dirent[]> {
  const { doneDir, list = (at) => readdir(at, { withFileTypes: true }), onUnreadable } = wanted;
  if (doneDir && `${path.resolve(folder)}${path.sep}`.startsWith(`${path.resolve(doneDir)}${path.sep}`)) return [];
  const entries = await list(folder).catch((error: NodeJS.ErrnoException) => {
    if (isNamed) throw error;
    const gone = error.code === 'ENOENT' || error.code === 'ENOTDIR'; // meanwhile
    if (!gone && path.basename(folder) !== RECOVERED) onUnreadable?.(folder, error);
    return [];
  });
  const found: Dirent[] = [];
  for (const entry of entries)
    found.push(...(entry.isDirectory() ? await entriesIn(path.join(folder, entry.name), wanted, false) : [entry]));
  return found;
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
  try {
    await renameTo(wanted, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyTo(wanted, file); // another disk
    await rm(file);
  }
}

async function renameTo(wanted: string, file: string): Promise<void> {
  const { dir, name: stem, ext } = path.parse(wanted);
  for (let number = 1; ; number++) {
    const target = number === 1 ? wanted : path.join(dir, `${stem} (${number})${ext}`);
    if (!(await reserve(target))) continue;
    return rename(file, target).catch(async (error) => {
      await rm(target, { force: true });
      throw error;
    });
  }
}

/** Returns when the copy is on the disk. It has its name only then: of a copy that was killed, nobody would know that it is a part. */
async function copyTo(wanted: string, file: string): Promise<void> {
  const copy = path.join(path.dirname(wanted), `.${randomUUID()}.part`);
  try {
    await copyFile(file, copy);
    const handle = await open(copy);
    await handle.sync().finally(() => handle.close());
    await renameTo(wanted, copy);
  } finally {
    await rm(copy, { force: true });
  }
}

/** Creates an empty file, which no other upload will take for its own. False: the name is taken. */
async function reserve(target: string): Promise<boolean> {
  try {
    await (await open(target, 'wx')).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
