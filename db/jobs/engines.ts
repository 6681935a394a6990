import { LEASE } from '../../api/contract/limits.ts';
import type { Db } from '../postgres/orm.ts';
import { unlockWorkers } from './queue.ts';

/* SQL: heartbeats, by the database's clock. */

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Registration of an engine or a courier. */
export interface EngineFacts {
  id: string;
  role: 'engine' | 'courier';
  host: string;
  pid: number;
  version: string;
  /** The device in use. */
  device: string;
  model: string;
  concurrency: number;
  /** Its worker ids in the queue. */
  workerIds: readonly string[];
}

export async function registerEngine(db: Db, engine: EngineFacts): Promise<void> {
  await db.acrossTenants((tx) =>
    tx.rows(
      `insert into engines (id, role, host, pid, version, device, model, concurrency, worker_ids) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (id) do update set worker_ids = excluded.worker_ids, last_seen = clock_timestamp()`,
      [engine.id, engine.role, engine.host, engine.pid, engine.version, engine.device, engine.model, engine.concurrency, engine.workerIds],
    ),
  );
}

export async function unregisterEngine(db: Db, engineId: string): Promise<void> {
  await db.acrossTenants((tx) => tx.rows('delete from engines where id = ?::uuid', [engineId]));
}

/** A name of this installation, unique on this machine. */
export function installationId(db: Db): Promise<string> {
  return db.acrossTenants(async (tx) => {
    await tx.rows(`insert into facts (name, value) values ('installation', uuid_send(gen_random_uuid())) on conflict (name) do nothing`);
    return (await tx.row<{ id: string }>(`select encode(value, 'hex') as id from facts where name = 'installation'`))!.id;
  });
}

/** Whether a courier has sent a heartbeat recently: without one nothing is delivered or written. */
export async function courierLives(db: Db): Promise<boolean> {
  const rows = await db.query(
    '*',
    `select 1 from engines e where e.role = 'courier' and e.last_seen > clock_timestamp() - interval '${LEASE.expirySeconds} seconds' limit 1`,
  );
  return rows.length > 0;
}

/** Those of the given ids that belong to engines with a recent heartbeat. */
export async function livingEngines(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    '*',
    `select e.id from engines e where e.id = any (?::uuid[]) and e.last_seen > clock_timestamp() - interval '${LEASE.expirySeconds} seconds'`,
    [ids.filter((id) => UUID.test(id))],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Removes engines without a heartbeat and unlocks the queue's jobs that only they hold. Returns their ids. */
export function buryDeadEngines(db: Db): Promise<string[]> {
  return db.acrossTenants(async (tx) => {
    const dead = await tx.rows<{ id: string; worker_ids: string[] }>(
      `delete from engines where id in (select e.id from engines e
         where e.last_seen < clock_timestamp() - interval '${LEASE.expirySeconds} seconds' for update skip locked)
       returning id, worker_ids`,
    );
    const workers = dead.flatMap((engine) => engine.worker_ids);
    if (workers.length) await unlockWorkers(tx, workers);
    return dead.map(({ id }) => id);
  });
}
