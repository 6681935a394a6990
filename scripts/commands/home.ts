import { linkSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The program that holds the state folder, in `<home>/running.json`. */
interface Holder {
  pid: number;
  /** When the process started, in kernel ticks, because process ids are reused. */
  started: string;
  /** URL of the embedded PostgreSQL, once it runs. */
  database: string | null;
  /** URL of the API, once it listens. */
  url: string | null;
}

const GATE_MS = 5000; // normally held for a few milliseconds

interface Home {
  /** Publishes the URLs of the embedded PostgreSQL and the API to other commands. */
  announce(place: { database: string } | { url: string }): void;
  release(): void;
}

/** Locks the state folder for this process: only one program at a time runs the embedded PostgreSQL in it. Throws if it is locked. */
export function claimHome(folder: string): Home {
  mkdirSync(folder, { recursive: true, mode: 0o711 }); // PostgreSQL's account must be able to traverse it
  const file = holderFile(folder);
  const own: Holder = { pid: process.pid, started: startOf(process.pid), database: null, url: null };
  while (!place(file, own)) {
    const other = holderOf(folder);
    if (other)
      throw new Error(
        `Cannot use ${folder}: process ${other.pid} is running on it. Stop that one first, or set LONGHAND_HOME to another folder.`,
      );
    removeDead(folder);
  }
  return {
    announce(place) {
      writeFileSync(`${file}.new`, JSON.stringify(Object.assign(own, place)), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
    release: () => rmSync(file, { force: true }),
  };
}

/** Creates the file atomically, so that a partial file is not mistaken for one of a dead process. False: it exists. */
function place(file: string, own: Holder): boolean {
  const draft = `${file}.${own.pid}`;
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Removes the file of a dead holder. Only one process at a time may, because a second one would remove the file of the first, live one.
 * Removes only a file that it has read: where there was none, another process may have created its own since.
 */
function removeDead(folder: string): void {
  const gate = `${holderFile(folder)}.gate`;
  try {
    mkdirSync(gate);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const since = statSync(gate, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Math.abs(Date.now() - since) > GATE_MS) rmSync(gate, { recursive: true, force: true }); // its creator was killed
    return;
  }
  try {
    const text = readHolder(folder);
    if (text !== null && !livingHolder(text)) rmSync(holderFile(folder), { force: true });
  } finally {
    rmdirSync(gate);
  }
}

/** URL of the embedded PostgreSQL that runs on this state folder, or null. */
export function runningDatabase(folder: string): string | null {
  return holderOf(folder)?.database ?? null;
}

/** URL of the API of the `up` that runs on this state folder, or null. */
export function runningUrl(folder: string): string | null {
  return holderOf(folder)?.url ?? null;
}

/** The live holder of the folder, or null. */
function holderOf(folder: string): Holder | null {
  try {
    return livingHolder(readHolder(folder) ?? '');
  } catch {
    return null; // not readable by this account
  }
}

/** The holder's file; null: there is none. Throws if it cannot be read. */
function readHolder(folder: string): string | null {
  const file = holderFile(folder);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new Error(
      `Cannot read ${file} (${code}): it must be a file owned by the account that runs Longhand. Remove it if nothing runs on this folder, or set LONGHAND_HOME to another folder.`,
    );
  }
}

function livingHolder(text: string): Holder | null {
  try {
    const holder: Holder = JSON.parse(text);
    return startOf(holder.pid) === holder.started ? holder : null;
  } catch {
    return null;
  }
}

function holderFile(folder: string): string {
  return path.join(folder, 'running.json');
}

/** Distinguishes a process from a later one with the same id; throws if there is none. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // from field 3 of proc(5)
    if (fields[0] === 'Z') throw new Error(`process ${pid} has exited, but its parent has not reaped it`);
    return fields[19]!;
  } catch (error) {
    if (process.platform === 'linux') throw error;
    process.kill(pid, 0);
    return '';
  }
}
