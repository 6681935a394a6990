import { linkSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** What a program that holds the state folder says of itself, in `<home>/running.json`. */
interface Holder {
  pid: number;
  /** When the process started, in ticks of the kernel: process numbers are used again. */
  started: string;
  /** Of the embedded PostgreSQL, once it runs. */
  database: string | null;
  /** Of the API, once it listens. */
  url: string | null;
}

const GATE_MS = 5000; // it is held for less than one

interface Home {
  /** Tells other commands where the embedded PostgreSQL and the API are. */
  announce(place: { database: string } | { url: string }): void;
  release(): void;
}

/** Takes the state folder for this process: one program at a time runs the embedded PostgreSQL in it. Throws when another has it. */
export function claimHome(folder: string): Home {
  mkdirSync(folder, { recursive: true, mode: 0o711 }); // the account of PostgreSQL passes through it
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

/** Puts the file there whole, so that nobody takes half of it for one of the dead. False: there is one. */
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
 * Removes the file of a dead holder. One process at a time does: the second would remove the file of the first, which lives.
 * Only a file that was read is removed: where there was none, another may have put its own since.
 */
function removeDead(folder: string): void {
  const gate = `${holderFile(folder)}.gate`;
  try {
    mkdirSync(gate);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const since = statSync(gate, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Math.abs(Date.now() - since) > GATE_MS) rmSync(gate, { recursive: true, force: true }); // who made it was killed
    return;
  }
  try {
    const text = readHolder(folder);
    if (text !== null && !livingHolder(text)) rmSync(holderFile(folder), { force: true });
  } finally {
    rmdirSync(gate);
  }
}

/** Address of the embedded PostgreSQL that runs on this state folder, or null. */
export function runningDatabase(folder: string): string | null {
  return holderOf(folder)?.database ?? null;
}

/** Address of the API of the `up` that runs on this state folder, or null. */
export function runningUrl(folder: string): string | null {
  return holderOf(folder)?.url ?? null;
}

/** Who holds the folder and lives. */
function holderOf(folder: string): Holder | null {
  try {
    return livingHolder(readHolder(folder) ?? '');
  } catch {
    return null; // not ours to read
  }
}

/** What the holder wrote of itself; null: nobody has. Throws when it cannot be read. */
function readHolder(folder: string): string | null {
  const file = holderFile(folder);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new Error(
      `Cannot read ${file} (${code}): it must be a file of the account that runs Longhand. Remove it if nothing runs on this folder, or set LONGHAND_HOME to another folder.`,
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

/** Distinguishes a process from a later one with its number; throws when there is none. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // from field 3 of proc(5)
    if (fields[0] === 'Z') throw new Error(`process ${pid} has ended; its parent has not noticed`);
    return fields[19]!;
  } catch (error) {
    if (process.platform === 'linux') throw error;
    process.kill(pid, 0);
    return '';
  }
}
