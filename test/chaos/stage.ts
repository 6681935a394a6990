import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBouncer } from '../../bench/scale/bouncer.ts';
import { type Disk, noDisks, smallDisk } from '../support/disk.ts';
import { TINY } from '../support/models.ts';
import { freePort, ROOT, type Running } from '../support/processes.ts';
import { findProgram } from '../support/programs.ts';
import { openService, type Service } from '../support/service.ts';
import { openLink } from './link.ts';
import { Part, type PartOptions } from './parts.ts';

const SHIFTED = new URL('../support/shifted.mjs', import.meta.url).href;
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
  const media: Record<string, string> = disk ? { LONGHAND_MEDIA: disk.path } : {};
  const calls = await receiveWebhooks(t, service);
  const bouncer = { port: 0 };
  const links: { target: number }[] = []; // to PgBouncer
  const part = (options: PartOptions) => new Part(options);
  const toDatabase = async () => {
    const link = await openLink(bouncer.port);
    t.teardown(() => link.close());
    links.push(link);
    return link;
  };
  const through = (port: number) => Object.assign(new URL(service.url), { hostname: '127.0.0.1', port: String(port) }).href;
  const shifted = (shift: number): Record<string, string> =>
    shift ? { NODE_OPTIONS: `--import=${SHIFTED}`, CLOCK_SHIFT_MS: String(shift) } : {};
  const home = (name: string) => {
    const folder = join(service.home, name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  };
  const parts: Part[] = [
    part({
      ...{ name: 'pgbouncer', role: 'pgbouncer', links: {} },
      async start() {
        const running = await startBouncer(home('pgbouncer'), service.url, { servers: SERVERS }, pgbouncer);
        bouncer.port = Number(new URL(running.url).port);
        for (const link of links) link.target = bouncer.port;
        return { pid: running.pid, stop: (signal) => running.stop(signal) };
      },
    }),
  ];
  await parts[0]!.start();
  const ports: number[] = [];
  for (const name of ['api one', 'api two']) {
    const port = await freePort();
    const [database, front] = [await toDatabase(), await openLink(port)];
    t.teardown(() => front.close());
    ports.push(front.port);
    const start = async (shift: number) => {
      const env = { DATABASE_URL: through(database.port), PORT: String(port), LONGHAND_TRUST_PROXY: '127.0.0.1', ...media };
      return processOf(await service.api({ ...env, ...shifted(shift) }));
    };
    parts.push(part({ name, role: 'api', links: { database, front }, start }));
  }
  for (const name of ['engine one', 'engine two']) {
    const database = await toDatabase();
    const start = async (shift: number) =>
      processOf(await service.engine({ DATABASE_URL: through(database.port), LOG_LEVEL: 'info', ...media, ...shifted(shift) }));
    parts.push(part({ name, role: 'engine', links: { database }, start }));
  }
  const database = await toDatabase();
  const env = { LONGHAND_WEBHOOK_PRIVATE: 'allow', LOG_LEVEL: 'info', ...media };
  const start = async (shift: number) =>
    processOf(await service.courier({ DATABASE_URL: through(database.port), ...env, ...shifted(shift) }));
  parts.push(part({ name: 'courier', role: 'courier', links: { database }, start }));
  const front = await freePort();
  parts.push(part({ name: 'balancer', role: 'balancer', links: {}, start: () => startBalancer(haproxy, home('haproxy'), front, ports) }));
  for (const one of parts.slice(1)) await one.start();
  t.teardown(async () => {
    for (const one of parts.toReversed()) {
      one.signal('SIGCONT');
      await one.stop('SIGTERM');
    }
  });
  return { service, parts, disk, url: `http://127.0.0.1:${front}`, calls };
}

function processOf({ child, stop }: Running) {
  return { pid: child.pid!, stop };
}

function missing(name: string): never {
  throw new Error(`${name} is not installed: npm test installs it on Debian and Ubuntu, as root`);
}

/** HAProxy with the shipped configuration. */
async function startBalancer(program: string, folder: string, front: number, [one, two]: readonly number[]) {
  const config = join(folder, 'haproxy.cfg');
  const shipped = readFileSync(join(ROOT, 'scripts', 'deploy', 'haproxy.cfg'), 'utf8');
  writeFileSync(config, shipped.replaceAll('8080', String(front)).replaceAll('8081', String(one)).replaceAll('8082', String(two)));
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
async function receiveWebhooks(t: Owner, { db, vault, workspaceId }: Service): Promise<Map<string, number>> {
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
  const id = randomUUID();
  await db.query('*', 'insert into webhooks (id, workspace_id, url, secret_sealed) values (?, ?, ?, ?)', [
    id,
    workspaceId,
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    await vault.seal(workspaceId, `webhooks|${id}|secret`, 'whsec_c2VjcmV0'),
  ]);
  return calls;
}
