import { randomUUID } from 'node:crypto';
import type { Db } from '../../../db/postgres/orm.ts';
import { announce, claimDelivery, type Delivery } from '../../../db/webhooks/outbox.ts';

/** Webhooks and their deliveries in a database. */
export function deliveriesIn(db: Db) {
  /** Claims a due delivery for its next attempt, like its job. */
  async function take(): Promise<Delivery | null> {
    const [due] = await db.query<{ id: string }>(
      '*',
      `select id from deliveries where status = 'pending' and next_at <= now() order by next_at limit 1`,
    );
    return due ? db.acrossTenants((tx) => claimDelivery(tx, due.id)) : null;
  }

  /** Delivery jobs in queue order, with the seconds until they are due. Only the owner may read the tables of the queue. */
  function jobs(): Promise<{ id: string; key: string; max_attempts: number; priority: number; seconds: number }[]> {
    return db.acrossTenants(async (tx) => {
      await tx.rows('set local role none');
      return tx.rows(
        `select payload->>'id' as id, key, max_attempts, priority, extract(epoch from run_at - now())::float8 as seconds
       from graphile_worker._private_jobs where task_id = (select id from graphile_worker._private_tasks where identifier = 'deliver')
       order by priority, run_at, id`,
      );
    });
  }

  async function webhook(workspace: string, active = true): Promise<string> {
    const row = await db.acrossTenants((tx) =>
      tx.row<{ id: string }>(
        `insert into webhooks (workspace_id, url, secret_sealed, active) values (?, 'https://example.org/', '\\x00', ?) returning id`,
        [workspace, active],
      ),
    );
    return row!.id;
  }

  /** Announces completed reports to the webhooks of a workspace. */
  async function reported(workspace: string, times: number): Promise<void> {
    const event = { event: 'report.completed', status: 'completed', error_code: null, external_id: null } as const;
    for (let i = 0; i < times; i++) await db.acrossTenants((tx) => announce(tx, workspace, { ...event, transcription_id: randomUUID() }));
  }

  /** Adds deliveries without jobs, each overdue for a second longer than the one before. Returns their ids. */
  async function overdue(workspace: string, hook: string, count: number): Promise<string[]> {
    const rows = await db.query<{ id: string }>(
      '*',
      `insert into deliveries (workspace_id, webhook_id, event, body, next_at)
       select ?, ?, 'report.completed', '{}', now() - interval '2 minutes' - n * interval '1 second' from generate_series(1, ${count}) n returning id`,
      [workspace, hook],
    );
    return rows.map(({ id }) => id);
  }

  return { take, jobs, webhook, reported, overdue };
}
