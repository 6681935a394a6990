import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
  for (;;) {
    try {
      writeFileSync(file, JSON.stringify(own), { flag: 'wx', mode: 0o600 });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const other = holderOf(folder);
    if (other)
      throw new Error(
        `Cannot use ${folder}: process ${other.pid} is running on it. Stop that one first, or set LONGHAND_HOME to another folder.`,
      );
    rmSync(file, { force: true });
  }
  return {
    announce(place) {
      writeFileSync(`${file}.new`, JSON.stringify(Object.assign(own, place)), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
    release: () => rmSync(file, { force: true }),
  };
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
    const holder: Holder = JSON.parse(readFileSync(holderFile(folder), 'utf8'));
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
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!; // field 22 of proc(5)
  } catch (error) {
    if (process.platform === 'linux') throw error;
    process.kill(pid, 0);
    return '';
  }
}
