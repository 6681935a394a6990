/**
 * Keeps one PostgreSQL for all test processes while any of them uses it: `node --import ./test/support/typescript.mjs test/support/databases/keeper.ts FOLDER`.
 * It announces itself in FOLDER/server. A test process creates a file named after its process id in the announced `users` folder.
 * After a while without running users, the keeper withdraws the announcement, stops the server and cleans up.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOrphan, startEmbedded } from '../../../db/postgres/embedded.ts';
import { type Announcement, alive, dataFolder } from './postgres.ts';

const IDLE_MS = 15_000;
const base = process.argv[2]!;
const data = dataFolder(base);
const folder = path.join(data, String(process.pid));
const users = path.join(folder, 'users');
const announcement = path.join(base, 'server');

const inUse = () => readdirSync(users).some((name) => alive(Number(name)));

function announce(url: string): void {
  const partial = `${announcement}.${process.pid}`;
  writeFileSync(partial, JSON.stringify({ pid: process.pid, url, users } satisfies Announcement));
  renameSync(partial, announcement);
}

/** False if a process joined meanwhile. */
function withdraw(): boolean {
  const own = existsSync(announcement) && JSON.parse(readFileSync(announcement, 'utf8')).pid === process.pid;
  if (own) rmSync(announcement, { force: true });
  return !inUse();
}

/** Servers and folders of keepers that were killed. */
async function removeLeftovers(): Promise<void> {
  for (const parent of new Set([base, data])) {
    for (const name of readdirSync(parent).filter((name) => /^\d+$/.test(name) && name !== String(process.pid) && !alive(Number(name)))) {
      await endOrphan(path.join(parent, name, 'data'));
      rmSync(path.join(parent, name), { recursive: true, force: true });
    }
  }
}

mkdirSync(users, { recursive: true });
await removeLeftovers();
const server = await startEmbedded(folder, { durable: false });
try {
  announce(server.url);
  for (let used = Date.now(); server.process.exitCode === null; await sleep(500)) {
    if (inUse()) used = Date.now();
    if (Date.now() - used < IDLE_MS) continue;
    if (withdraw()) break;
    if (!existsSync(announcement)) announce(server.url);
  }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
