import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBouncer } from '../../bench/scale/bouncer.ts';
import { TINY } from '../support/engine/models.ts';
import { type Disk, noDisks, smallDisk } from '../support/processes/disk.ts';
import { freePort, type Running } from '../support/processes/processes.ts';
import { findProgram } from '../support/processes/programs.ts';
import { openService, type Service } from '../support/processes/service.ts';
import { writeProxyConfig } from '../support/servers/proxy.ts';
import { type Link, openLink } from './link.ts';
import { Part, type Role } from './parts.ts';

const SHIFTED = new URL('../support/processes/shifted.mjs', import.meta.url).href;
const SERVERS = 30; // connections of PgBouncer to PostgreSQL
const DISK_BYTES = 64 * 1024 ** 2;

/** The whole service, each of its parts a process behind links of its own. */
export interface Stage {
  service: Service;
  parts: Part[];
  /** The spool's disk; null where none can be mounted. */
  disk: Disk | null;
  /** Where clients send requests, through the balancer. */
  url: string;
  /** Webhook calls received: id and how often. */
  calls: Map<string, number>;
}

interface Owner {
  teardown(after: () => unknown): void;
  testdir(): string;
}

/** Two APIs behind HAProxy with the shipped configuration, two engines, a courier, and PgBouncer in front of PostgreSQL. */
export async function openStage(t: Owner): Promise<Stage> {
  const [pgbouncer, haproxy] = ['pgbouncer', 'haproxy'].map((name) => findProgram(name) ?? missing(name)) as [string, string];
  const service = await openService(t, { model: TINY, minutes: 1_000_000 });
  const disk = noDisks() ? null : smallDisk(t, DISK_BYTES);
  const { calls, link: webhooks } = await receiveWebhooks(t, service);
  const links: Link[] = []; // to PgBouncer
  const bouncer = new Part({ name: 'pgbouncer', role: 'pgbouncer', links: {}, start: () => startPgbouncer(service, pgbouncer, links) });
  /** A program of the product behind its own link to PgBouncer. */
  const program = async (name: string, role: Role, begin: Begin, others: Part['links'] = {}) => {
    const database = await linked(t, 0);
    links.push(database);
    const url = Object.assign(new URL(service.url), { hostname: '127.0.0.1', port: String(database.port) }).href;
    const env = { DATABASE_URL: url, LOG_LEVEL: 'info', ...(disk && { LONGHAND_MEDIA: disk.path }) };
    const start = async (shift: number) => processOf(await begin({ ...env, ...(shift && shifted(shift)) }));
    return new Part({ name, role, links: { database, ...others }, start });
  };
  const host = async (name: string) => {
    const port = await freePort();
    const own = { PORT: String(port), LONGHAND_TRUST_PROXY: '127.0.0.1' };
    return program(name, 'api', (env) => service.api({ ...env, ...own }), { balancer: await linked(t, port) });
  };
  const hosts = [await host('api one'), await host('api two')];
  const front = await freePort();
  const ports = hosts.map(({ links }) => links.balancer!.port) as [number, number];
  const parts = [
    bouncer,
    ...hosts,
    new Part({ name: 'balancer', role: 'balancer', links: {}, start: () => startBalancer(service, haproxy, front, ports) }),
    await program('engine one', 'engine', service.engine),
    await program('engine two', 'engine', service.engine),
    await program('courier', 'courier', (env) => service.courier({ ...env, LONGHAND_WEBHOOK_PRIVATE: 'allow' }), { webhooks }),
  ];
  for (const part of parts) await part.start();
  t.teardown(async () => {
    for (const part of parts.toReversed()) {
      part.signal('SIGCONT');
      await part.stop('SIGTERM');
    }
  });
  return { service, parts, disk, url: `http://127.0.0.1:${front}`, calls };
}

type Begin = (env: Record<string, string>) => Promise<Running>;

async function linked(t: Owner, target: number): Promise<Link> {
  const link = await openLink(target);
  t.teardown(() => link.close());
  return link;
}

/** Environment of a program whose clock is wrong by `shift` milliseconds. */
function shifted(shift: number): Record<string, string> {
  return { NODE_OPTIONS: `--import=${SHIFTED}`, CLOCK_SHIFT_MS: String(shift) };
}

/** A state folder of a program beside the product. */
function folderOf({ home }: Service, name: string): string {
  const folder = join(home, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

async function startPgbouncer(service: Service, program: string, links: readonly Link[]) {
  const { url, pid, stop } = await startBouncer(folderOf(service, 'pgbouncer'), service.url, { servers: SERVERS }, program);
  for (const link of links) link.target = Number(new URL(url).port);
  return { pid, stop };
}

function processOf({ child, stop }: Running) {
  return { pid: child.pid!, stop };
}

function missing(name: string): never {
  throw new Error(`${name} is not installed: npm test installs it on Debian and Ubuntu, as root`);
}

/** HAProxy with the shipped configuration. */
async function startBalancer(service: Service, program: string, front: number, [one, two]: readonly [number, number]) {
  const config = writeProxyConfig(folderOf(service, 'haproxy'), 'haproxy.cfg', { front, one, two });
  const child = spawn(program, ['-q', '-f', config], { stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  await sleep(500);
  if (child.exitCode !== null) throw new Error('HAProxy has exited');
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  return { pid: child.pid!, stop };
}

/** A webhook, and a server that counts its calls and refuses some. */
async function receiveWebhooks(t: Owner, { db, vault, workspaceId }: Service): Promise<{ calls: Map<string, number>; link: Link }> {
  const calls = new Map<string, number>();
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    const count = (calls.get(id) ?? 0) + 1;
    calls.set(id, count);
    request.resume().on('end', () => response.writeHead(count === 1 && id.charCodeAt(0) % 4 === 0 ? 503 : 200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const link = await linked(t, (server.address() as AddressInfo).port);
  const id = randomUUID();
  await db.query('*', 'insert into webhooks (id, workspace_id, url, secret_sealed) values (?, ?, ?, ?)', [
    id,
    workspaceId,
    `http://127.0.0.1:${link.port}/hook`,
    await vault.seal(workspaceId, `webhooks|${id}|secret`, 'whsec_c2VjcmV0'),
  ]);
  return { calls, link };
}
