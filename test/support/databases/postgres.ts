import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, openSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Announcement {
  pid: number;
  url: string;
  /** Folder for files named after the process ids of users. */
  users: string;
}

const KEEPER = fileURLToPath(new URL('keeper.ts', import.meta.url));
const START_MS = 300_000; // for a busy machine
/** A file system in memory, on Linux. */
export const MEMORY = '/dev/shm';
const ROOM_BYTES = 6 * 2 ** 30; // by default PostgreSQL keeps up to 1 GiB of its log, besides the databases

export function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A folder that all test processes of this checkout and account share. */
export function sharedFolder(): string {
  const checkout = createHash('sha256').update(KEEPER).digest('hex').slice(0, 8);
  const base = path.join(tmpdir(), `longhand-tests-${process.getuid?.() ?? 0}-${checkout}`);
  mkdirSync(base, { recursive: true });
  return base;
}

/** Where a keeper puts the data of its server: in memory if that has room, because creating and dropping databases of hundreds of files is then cheaper. */
export function dataFolder(base: string): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize >= ROOM_BYTES) return path.join(MEMORY, path.basename(base));
  } catch {} // no Linux
  return base;
}

/**
 * URL of the PostgreSQL for tests: TEST_DATABASE_URL or DATABASE_URL if set, otherwise one embedded server that all test processes
 * of this checkout and account share. It starts with the first and stops some seconds after the last.
 */
export async function testServer(): Promise<string> {
  const given = process.env.TEST_DATABASE_URL || process.env.DATABASE_URL;
  if (given) return given;
  const base = sharedFolder();
  for (const end = Date.now() + START_MS; Date.now() < end; await sleep(50)) {
    const url = join(base);
    if (url) return url;
    startKeeper(base);
  }
  throw new Error(`Cannot start PostgreSQL for the tests within ${START_MS / 1000} s; see ${base}/keeper.log`);
}

/** Registers this process as a user of the announced server, if that is running. */
function join(base: string): string | null {
  const found = announced(base);
  if (!found) return null;
  try {
    writeFileSync(path.join(found.users, String(process.pid)), '');
  } catch {
    return null; // it is shutting down
  }
  return announced(base)?.pid === found.pid ? found.url : null;
}

function announced(base: string): Announcement | null {
  try {
    const found: Announcement = JSON.parse(readFileSync(path.join(base, 'server'), 'utf8'));
    return alive(found.pid) ? found : null;
  } catch {
    return null;
  }
}

/** Starts a keeper unless one is starting: the file `starting` contains its process id. */
function startKeeper(base: string): void {
  const lock = path.join(base, 'starting');
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
  } catch {
    if (!alive(Number(readOr(lock, '')) || process.pid)) rmSync(lock, { force: true });
    return;
  }
  if (announced(base)) {
    rmSync(lock, { force: true });
    return;
  }
  const log = openSync(path.join(base, 'keeper.log'), 'w', 0o600);
  const child = spawn(process.execPath, ['--import', new URL('../typescript.mjs', import.meta.url).href, KEEPER, base], {
    detached: true,
    cwd: path.dirname(KEEPER),
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    stdio: ['ignore', log, log],
  });
  child.unref();
  writeFileSync(lock, String(child.pid)); // kept until it exits: one keeper at a time
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}

/** Superuser password of the embedded test server; null on an external server. */
export function superuserPassword(): string | null {
  const found = process.env.TEST_DATABASE_URL || process.env.DATABASE_URL ? null : announced(sharedFolder());
  return found && readFileSync(path.join(path.dirname(found.users), 'superuser-password'), 'utf8');
}
