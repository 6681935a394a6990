import { lstat, readdir, rm, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Suffix of files and folders being written, perhaps by another process; never listed. */
export const PARTIAL = '.partial';
/** Begins the names of unfinished models; that of a model may end like theirs. */
export const HIDDEN = '.';

const TOUCH_MS = 60_000;
/**
 * Since the last write or touch: its process was killed. Process ids would not tell: each container counts its own. Long enough for a process
 * that was suspended, or for hosts that share the folder and whose clocks differ.
 */
const ABANDONED_MS = 60 * TOUCH_MS;

/** Removes what processes that were killed left unfinished in a folder, under names that begin with `start`. Never rejects. */
export async function removeUnfinished(folder: string, start = ''): Promise<void> {
  const entries = await readdir(folder).catch(() => []);
  const partials = entries.filter((entry) => entry.startsWith(start) && entry.endsWith(PARTIAL)).map((entry) => join(folder, entry));
  const removed = partials.map(async (path) => {
    if (Date.now() - (await lastWrite(path)) > ABANDONED_MS) await rm(path, { recursive: true, force: true });
  });
  await Promise.allSettled(removed);
}

/** Time of the last write to a file, or to a folder and what is in it. */
async function lastWrite(path: string): Promise<number> {
  const inside = await readdir(path, { recursive: true }).catch(() => []);
  const times = [path, ...inside.map((entry) => join(path, entry))].map(async (each) => (await lstat(each)).mtimeMs);
  return Math.max(...(await Promise.all(times)));
}

/**
 * Touches every minute the unfinished file or folder `path`, and those beside it whose names begin with its own, until the returned function
 * is called: nothing is written while a model is measured.
 */
export function keepFresh(path: string, everyMs = TOUCH_MS): () => void {
  const timer = setInterval(() => void touch(path), everyMs).unref();
  return () => clearInterval(timer);
}

/** Never rejects. */
async function touch(path: string): Promise<void> {
  const [folder, start, now] = [dirname(path), basename(path), new Date()];
  const entries = (await readdir(folder).catch(() => [])).filter((entry) => entry.startsWith(start));
  await Promise.allSettled(entries.map((entry) => utimes(join(folder, entry), now, now)));
}
