import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { keepFresh } from './unfinished.ts';

/** A process and its machine or container. */
interface Owner {
  host: string;
  pid: number;
}

/** Since the last touch, which comes every minute: its process was killed, in another container or on another machine. */
const FORGOTTEN_MS = 5 * 60_000;

const UNKNOWN: Owner = { host: '', pid: 0 }; // it has created the file and not written to it yet

const held = new Set<string>();

/**
 * Runs `use` while the file `path` says that this process does. Throws if another one that lives has that file. Two that find
 * the file of a killed process at the same instant may both run.
 * @param action for the error: what cannot be done
 */
export async function claimed<T>(path: string, action: string, use: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  if (!(await placed(path))) {
    const other = await ownerOf(path);
    if (!other) await rm(path, { force: true });
    if (other || !(await placed(path))) {
      const who = other?.pid ? `process ${other.pid} on ${other.host}` : 'another process';
      const remedy = `wait until it ends, or stop it; after a crash elsewhere, try again in ${FORGOTTEN_MS / 60_000} minutes`;
      throw new Error(`Cannot ${action}: ${who} is working on it; ${remedy}`);
    }
  }
  held.add(path);
  const stop = keepFresh(path);
  try {
    return await use();
  } finally {
    stop();
    held.delete(path);
    await rm(path, { force: true });
  }
}

/** Creates the file with this process in it; false: there is one. */
async function placed(path: string): Promise<boolean> {
  const own: Owner = { host: hostname(), pid: process.pid };
  try {
    await writeFile(path, JSON.stringify(own), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** The process that has the file, if it lives; null: none. */
async function ownerOf(path: string): Promise<Owner | null> {
  const found = await stat(path).catch(() => null);
  if (!found || Date.now() - found.mtimeMs > FORGOTTEN_MS) return null;
  const owner = await readFile(path, 'utf8').then(parsed, () => null);
  if (owner === null || owner.host !== hostname()) return owner ?? UNKNOWN;
  return (owner.pid === process.pid ? held.has(path) : lives(owner.pid)) ? owner : null;
}

function parsed(text: string): Owner | null {
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return null;
  }
}

/** Whether there is a process of this number, perhaps of another account. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
