import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { claimNext } from '../../db/jobs/claim.ts';
import type { Log } from '../../db/ops/log.ts';
import type { Embedded } from '../../db/postgres/embedded.ts';
import { type Db, openDb } from '../../db/postgres/orm.ts';
import { askList } from '../load/lists.ts';
import { startBouncer } from './bouncer.ts';
import type { Workspaces } from './fill.ts';
import { type Fleet, startFleet } from './fleet.ts';

/** A fleet behind PgBouncer: each process with pools of its own. */
export interface Bounced {
  /** Maximum number of connections to PgBouncer, and to PostgreSQL. */
  clients: number;
  servers: number;
  /** Requests and claims of all processes at the same time. */
  lists: number;
  claims: number;
  /** Failed requests and claims, and warnings and errors in the logs of the processes. */
  errors: string[];
}

const POOLS = { api: 20, engine: 8 }; // as in api/main.ts and engine/main.ts
const ENGINE_SERVERS = 40; // connections to the server that engines share: more than enough for their short statements
const ROUNDS = 10;
const SAMPLE_MS = 200;
const ESTABLISHED = '01'; // in /proc/net/tcp

/** Lists on 50 APIs and claims by 200 engines at once through PgBouncer with at most `limit` server connections. Work must be queued. */
export async function throughBouncer(
  fleet: Fleet,
  { callers }: Workspaces,
  { url }: Embedded,
  { limit, home }: { limit: number; home: string },
): Promise<Bounced> {
  const bouncer = await startBouncer(join(home, 'bouncer'), url, { servers: limit, engines: ENGINE_SERVERS });
  const errors: string[] = [];
  const note = (fields: object, message?: string) => errors.push(`${message ?? ''} ${String((fields as { error?: unknown }).error ?? '')}`);
  const log = { ...fleet.log, debug() {}, info() {}, warn: note, error: note } as Log;
  const opened: Db[] = [];
  const connect = async (as: 'api' | 'engine') => {
    const patience = as === 'api' ? 'request' : 'worker';
    const db = await openDb({ url: as === 'api' ? bouncer.url : bouncer.enginesUrl, name: 'longhand-bounced', pool: POOLS[as], patience });
    opened.push(db);
    return db;
  };
  const found: Bounced = { clients: 0, servers: 0, lists: 0, claims: 0, errors };
  const admin = await openDb({ url, pool: 1, name: 'longhand-watcher' });
  const sample = async () => {
    const [row] = await admin.direct(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
         and application_name not in ('longhand-bench', 'longhand-watcher')`,
    ); // as the owner, who sees the names of its own connections
    found.servers = Math.max(found.servers, Number(row!.n));
    found.clients = Math.max(found.clients, clientsOf(bouncer.url));
  };
  const watching = setInterval(() => sample().catch(note), SAMPLE_MS);
  const processes = await startFleet({ ...fleet, log }, bouncer.enginesUrl, { connect, concurrency: 0 });
  try {
    const list = async (url: string, i: number) => {
      for (let n = 0; n < ROUNDS; n++) {
        await askList(url, callers[(i + n) % callers.length]!.key, '');
        found.lists++;
      }
    };
    const claim = async (db: Db) => {
      const engineId = randomUUID();
      for (let n = 0; n < ROUNDS; n++) {
        await claimNext(db, { engineId, shortOnly: false });
        found.claims++;
      }
    };
    const work = [...processes.apps.map(({ url }, i) => list(url, i)), ...processes.engines.map(claim)];
    for (const { status, reason } of (await Promise.allSettled(work)) as PromiseRejectedResult[])
      if (status === 'rejected') errors.push(String(reason));
    return found;
  } finally {
    clearInterval(watching);
    await processes.stop();
    await Promise.all(opened.map((db) => db.close()));
    await admin.close();
    await bouncer.stop();
  }
}

/** Established connections to PgBouncer, as Linux lists them. */
function clientsOf(through: string): number {
  const place = `:${Number(new URL(through).port).toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  return lines.map((line) => line.trim().split(/\s+/)).filter(([, local, , state]) => local?.endsWith(place) && state === ESTABLISHED)
    .length;
}
