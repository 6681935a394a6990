import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDb } from '../../db/postgres/orm.ts';

/** A running PgBouncer. */
export interface Bouncer {
  /** The database through it, and the same for engines, whose connections to the server may have a limit of their own. */
  url: string;
  enginesUrl: string;
  pid: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const START_MS = 10_000;
const ENGINES = 'longhand_engines';
const CLIENTS = 5000; // connections of the fleet to it

/**
 * Starts PgBouncer, by default that on the PATH, in transaction mode with at most `servers` connections to the server of `url`, of which
 * those through `enginesUrl` take at most `engines`; 0: they share the pool of the others.
 */
export async function startBouncer(
  folder: string,
  url: string,
  { servers, engines = 0 }: { servers: number; engines?: number },
  program = 'pgbouncer',
): Promise<Bouncer> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const server = `host=${hostname} port=${port || 5432} user=${username} password=${decodeURIComponent(password)}`;
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755); // root switches to another account
  const own = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    ...(engines ? [`${ENGINES} = ${server} dbname=${pathname.slice(1)} pool_size=${engines}`] : []),
    `* = ${server}`,
    '[pgbouncer]',
    ...['listen_addr = 127.0.0.1', `listen_port = ${own}`, 'unix_socket_dir =', 'auth_type = any', 'pool_mode = transaction'],
    ...[`max_client_conn = ${CLIENTS}`, `default_pool_size = ${servers - engines}`, 'reserve_pool_size = 0'],
    'ignore_startup_parameters = extra_float_digits,options',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const running = spawn(program, [...account, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  process.once('exit', () => void running.kill()); // after a signal
  let said = '';
  running.stderr.on('data', (text) => {
    said = `${said}${text}`.slice(-1000);
  });
  running.once('error', (error) => {
    said = error.message;
  });
  const through = new URL(url);
  Object.assign(through, { hostname: '127.0.0.1', port: String(own) });
  for (const end = Date.now() + START_MS; !(await answers(through.href)); await sleep(100))
    if (Date.now() > end || running.pid === undefined || running.exitCode !== null) throw new Error(`Cannot start PgBouncer: ${said}`);
  return {
    url: through.href,
    enginesUrl: engines ? Object.assign(new URL(through), { pathname: `/${ENGINES}` }).href : through.href,
    pid: running.pid!,
    stop: (signal) => stopped(running, signal),
  };
}

/** Whether the database can be opened, which sends a query. A PgBouncer that does not listen yet refuses connections. */
function answers(url: string): Promise<boolean> {
  return openDb({ url, pool: 1 }).then(
    (db) => db.close().then(() => true),
    () => false,
  );
}

function stopped(program: ChildProcess, signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
  return new Promise((resolve) => {
    if (program.exitCode !== null || program.signalCode !== null) return resolve();
    program.once('exit', () => resolve());
    program.kill(signal);
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
