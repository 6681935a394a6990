import type { WebhookEvent } from '../../api/contract/webhook.ts';
import { enqueue } from '../jobs/queue.ts';
import type { Tx } from '../postgres/orm.ts';

/* SQL: claims, and rows that are written in the transaction of what they tell of. */

/** What a webhook is told: ids and status, never text. */
export interface Event {
  event: WebhookEvent;
  transcription_id: string;
  report_id?: string;
  status: string;
  error_code: string | null;
  external_id: string | null;
}

/** Writes one delivery per webhook of the workspace that wants the event, in the transaction of the terminal status it tells of. Those of paused ones wait. */
export async function announce(tx: Tx, workspaceId: string, event: Event): Promise<void> {
  const rows = await tx.rows<{ id: string }>(
    `insert into deliveries (workspace_id, webhook_id, event, body)
     select w.workspace_id, w.id, ?, ?::jsonb from webhooks w where w.workspace_id = ?::uuid and (w.events is null or ? = any (w.events)) returning id`,
    [event.event, JSON.stringify(event), workspaceId, event.event],
  );
  for (const { id } of rows) await enqueue(tx, 'deliver', { id });
}

export interface Delivery {
  id: string;
  workspaceId: string;
  webhookId: string;
  url: string;
  secretSealed: Buffer;
  /** Signs too, where it was changed a short time ago. */
  formerSecretSealed: Buffer | null;
  body: unknown;
  /** From 1. */
  attempt: number;
  /** When it was taken, seconds since 1970 by the clock of the database. */
  takenAt: number;
}

const HELD = '2 minutes'; // a delivery whose sender died is sent again after this
/** Waits after each failed attempt, seconds; about 24 hours in all, then the delivery is dead. */
const WAITS = [10, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 28_800];

/**
 * Takes deliveries that are due, one of a webhook, except those to paused ones: it reads the first row of an index for each active webhook, however long its
 * backlog is. SQL for that reason. What is taken comes back after a while unless settled. `served`: ids of workspaces and webhooks
 * that had their turn, the last one last; those of others come first, so that a receiver that is slow or gone does not hold up the rest. Then the oldest.
 */
export async function claimDeliveries(tx: Tx, count: number, served: readonly string[] = []): Promise<Delivery[]> {
  const rows = await tx.rows<{
    id: string;
    workspace_id: string;
    webhook_id: string;
    url: string;
    secret_sealed: Buffer;
    former: Buffer | null;
    body: unknown;
    attempt: number;
    taken_at: number;
  }>(
    `update deliveries d set attempt = d.attempt + 1, next_at = clock_timestamp() + interval '${HELD}'
     from webhooks w where w.id = d.webhook_id and w.workspace_id = d.workspace_id and d.id in (
       select due.id from webhooks hook cross join lateral (
         select o.id, o.next_at from deliveries o where o.webhook_id = hook.id and o.status = 'pending' and o.next_at <= now()
         order by o.next_at limit 1 for update of o skip locked) due
       where hook.active
       order by coalesce(array_position(?::uuid[], hook.workspace_id), 0), coalesce(array_position(?::uuid[], hook.id), 0), due.next_at
       limit ?)
     returning d.id, d.workspace_id, d.webhook_id, w.url, w.secret_sealed, case when w.former_until > now() then w.former_secret_sealed end as former, d.body, d.attempt,
       floor(extract(epoch from clock_timestamp()))::float8 as taken_at`,
    [[...served], [...served], count],
  );
  return rows.map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    webhookId: row.webhook_id,
    url: row.url,
    secretSealed: row.secret_sealed,
    formerSecretSealed: row.former,
    body: row.body,
    attempt: row.attempt,
    takenAt: row.taken_at,
  }));
}

/** Notes how an attempt went: delivered, due again later, or dead after the last wait. `status` is the HTTP status, null when there was none. */
export async function settleDelivery(tx: Tx, delivery: Delivery, outcome: { ok: boolean; status: number | null; error: string | null }) {
  const wait = WAITS[delivery.attempt - 1];
  const state = outcome.ok ? 'delivered' : wait === undefined ? 'dead' : 'pending';
  await tx.rows(
    `update deliveries set status = ?, last_status = ?::int, last_error = ?, next_at = clock_timestamp() + ?::float8 * interval '1 second',
       delivered_at = case when ? then clock_timestamp() end
     where workspace_id = ?::uuid and id = ?::uuid and attempt = ?::int and status = 'pending'`,
    [state, outcome.status, outcome.error, wait ?? 0, outcome.ok, delivery.workspaceId, delivery.id, delivery.attempt],
  );
  if (state === 'pending') await enqueue(tx, 'deliver', { id: delivery.id }, { runAfterSeconds: wait });
}
