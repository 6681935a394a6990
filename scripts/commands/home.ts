import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { placeNew, throughGate } from '../../db/ops/exclusive.ts';
import { type Contact, isListening, listenIn, removeContact } from './home-socket.ts';

/** The program that holds the state folder, in `<home>/running.json`. */
interface Holder {
  pid: number;
  /** When the process started, in kernel ticks, because process ids are reused. */
  started: string;
  /** Where its id is valid: see `processTable`. Absent: written by an earlier version. */
  where?: string;
  /** Where it listens, so that other containers of this machine can tell that it lives. */
  contact?: Contact;
  /** URL of the embedded PostgreSQL, once it runs. */
  database: string | null;
  /** URL of the API, once it listens. */
  url: string | null;
}

const BEAT_MS = 3000; // the holder touches its file this often
const SILENT_MS = 15_000; // a holder in another container, or on another machine, is dead if it does not for this long
const LOOK_MS = 250;

interface Home {
  /** Publishes the URLs of the embedded PostgreSQL and the API to other commands. */
  announce(place: { database: string } | { url: string }): void;
  /** Rejects when another process has taken the folder over: this one was suspended, and must stop its database at once. */
  readonly lost: Promise<never>;
  release(): void;
}

/**
 * Locks the state folder for this process: only one program at a time runs the embedded PostgreSQL in it, because two would destroy the
 * database. Throws if it is locked. Whether a process on another machine lives cannot be asked, so its file is watched for some seconds.
 */
export async function claimHome(folder: string, silentMs = SILENT_MS): Promise<Home> {
  mkdirSync(folder, { recursive: true, mode: 0o711 }); // PostgreSQL's account must be able to traverse it
  const file = holderFile(folder);
  const own: Holder = { pid: process.pid, started: startOf(process.pid), where: processTable(), database: null, url: null };
  while (!place(file, own)) {
    const text = readHolder(folder) ?? '';
    const other = parsed(text);
    const elsewhere = other && !isHere(other);
    if (elsewhere ? await livesElsewhere(folder, other, silentMs) : other && lives(other)) {
      const [whose, there] = elsewhere
        ? [' of another container or machine', ' Run the command there, for example with docker exec.']
        : ['', ''];
      throw new Error(
        `Cannot use ${folder}: process ${other!.pid}${whose} is running on it.${there} Stop that one first, or set LONGHAND_HOME to another folder.`,
      );
    }
    removeDead(folder, elsewhere ? text : null);
  }
  const listening = await listenIn(folder);
  const isLost = () => isOfAnother(folder, own);
  const takenOver = () => new Error(`Cannot use ${folder}: another process took it over while this one was suspended. Start it again.`);
  const announce = (place: Partial<Holder>) => {
    if (isLost()) throw takenOver();
    writeFileSync(`${file}.new`, JSON.stringify(Object.assign(own, place)), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  if (listening) announce({ contact: listening.contact });
  let beating: NodeJS.Timeout;
  const lost = new Promise<never>((_, reject) => {
    beating = setInterval(() => (isLost() ? reject(takenOver()) : beat(file)), BEAT_MS).unref();
  });
  lost.catch(() => {}); // the caller may await it later
  return {
    announce,
    lost,
    release() {
      clearInterval(beating);
      if (!isLost()) rmSync(file, { force: true });
      listening?.close();
    },
  };
}

/** Whether another process has claimed the folder since: this one was suspended for so long that it seemed dead. */
function isOfAnother(folder: string, own: Holder): boolean {
  try {
    const holder = parsed(readHolder(folder) ?? '');
    return holder !== null && (holder.pid !== own.pid || holder.started !== own.started || holder.where !== own.where);
  } catch {
    return false; // not readable: nobody could claim it
  }
}

/** Whether a holder that this process cannot see lives: by its socket, else by its file. */
async function livesElsewhere(folder: string, { contact }: Holder, silentMs: number): Promise<boolean> {
  return (contact && (await isListening(folder, contact))) ?? (await beats(folder, silentMs));
}

/** Shows processes that cannot see this one that it lives. */
function beat(file: string): void {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // somebody has removed the file, or the disk is full
  }
}

/** Whether the file changes while it is watched. By its own times only, because the clocks of machines differ. */
async function beats(folder: string, silentMs: number): Promise<boolean> {
  const time = () => statSync(holderFile(folder), { throwIfNoEntry: false })?.mtimeMs;
  const first = time();
  process.stderr.write(
    `${folder} was used in another container or machine, or before this one was restarted; waiting up to ${silentMs / 1000} s to see if it still is …\n`,
  );
  for (const end = performance.now() + silentMs; performance.now() < end; await sleep(LOOK_MS)) {
    const now = time();
    if (now === undefined) return false; // released
    if (now !== first) return true;
  }
  return false;
}

/** Creates the file atomically, so that a partial file is not mistaken for one of a dead process. False: it exists. */
function place(file: string, own: Holder): boolean {
  const draft = `${file}.${randomUUID()}`; // process ids repeat in other containers, and a draft that is already linked would be overwritten
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    return placeNew(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Removes the file of a dead holder. Only one process at a time may, because a second one would remove the file of the first, live one.
 * Removes only a file that it has read: where there was none, another process may have created its own since. `silent`: the text of a file
 * whose process is known to have ended.
 */
function removeDead(folder: string, silent: string | null): void {
  throughGate(holderFile(folder), () => {
    const text = readHolder(folder);
    const holder = parsed(text ?? '');
    const dead = holder && !isHere(holder) ? text === silent : !(holder && lives(holder));
    if (text === null || !dead) return;
    rmSync(holderFile(folder), { force: true });
    if (holder?.contact) removeContact(folder, holder.contact);
  });
}

/** URL of the embedded PostgreSQL that runs on this state folder, or null. */
export function runningDatabase(folder: string): string | null {
  return holderOf(folder)?.database ?? null;
}

/** URL of the API of the `up` that runs on this state folder, or null. */
export function runningUrl(folder: string): string | null {
  return holderOf(folder)?.url ?? null;
}

/** The live holder of the folder, or null. One of another container or machine listens where this process cannot connect. */
function holderOf(folder: string): Holder | null {
  try {
    const holder = parsed(readHolder(folder) ?? '');
    return holder && isHere(holder) && lives(holder) ? holder : null;
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

/** Null: not a holder. */
function parsed(text: string): Holder | null {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return null;
  }
}

function isHere({ where }: Holder): boolean {
  return where === undefined || where === processTable();
}

function lives({ pid, started }: Holder): boolean {
  try {
    return startOf(pid) === started;
  } catch {
    return false;
  }
}

/** Identifies the set of processes that this one can see: of a container, or of a machine since it started. */
function processTable(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname(); // not Linux
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
