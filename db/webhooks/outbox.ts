import type { WebhookEvent } from '../../api/contract/webhook.ts';
import { enqueue } from '../jobs/queue.ts';
import type { Db, Tx } from '../postgres/orm.ts';

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

const COUNTED = 100; // deliveries of a webhook that are counted

/**
 * SQL: the place of a webhook's (`w`) next delivery among all of its workspace that wait, when its webhooks are served in turn. As a job's priority it lets
 * workspaces take turns, and one that is slow or gone does not hold up the rest.
 */
const PLACE = `(select sum(case when h.id = w.id then h.waiting else least(h.waiting, own.waiting + 1) end)::int from backlog h, backlog own where own.id = w.id)`;
const BACKLOG = `backlog as (select h.id, (select count(*) from (select from deliveries p where p.webhook_id = h.id and p.status = 'pending' limit ${COUNTED}) x)
  as waiting from webhooks h where h.workspace_id = ?::uuid)`;

/** Writes one delivery per webhook of the workspace that wants the event, in the transaction of the terminal status it tells of. Those of paused ones wait. */
export async function announce(tx: Tx, workspaceId: string, event: Event): Promise<void> {
  const rows = await tx.rows<{ id: string; place: number; active: boolean }>(
    `with ${BACKLOG}, made as (insert into deliveries (workspace_id, webhook_id, event, body)
       select w.workspace_id, w.id, ?, ?::jsonb from webhooks w where w.workspace_id = ?::uuid and (w.events is null or ? = any (w.events))
       returning id, webhook_id)
     select made.id, w.active, ${PLACE} + row_number() over (order by w.created_at)::int - 1 as place from made join webhooks w on w.id = made.webhook_id`,
    [workspaceId, event.event, JSON.stringify(event), workspaceId, event.event],
  );
  for (const { id, place, active } of rows) if (active) await enqueueDelivery(tx, id, 0, place);
}

/** Adds the job of a delivery's next attempt, or moves it. */
function enqueueDelivery(tx: Tx, id: string, runAfterSeconds: number, place = 0): Promise<void> {
  return enqueue(tx, 'deliver', { id }, { key: `deliver:${id}`, runAfterSeconds, priority: place });
}

const RESUMED = 1000; // deliveries; the sweep adds the jobs of the rest

/** Lets what waits for a webhook go on, after it was paused; with a delivery's id that one only. */
export async function resumeDeliveries(tx: Tx, workspaceId: string, webhookId: string): Promise<void> {
  const rows = await tx.rows<{ id: string }>(
    `select d.id from deliveries d where d.workspace_id = ?::uuid and d.webhook_id = ?::uuid and d.status = 'pending' order by d.next_at limit ${RESUMED}`,
    [workspaceId, webhookId],
  );
  for (const [place, { id }] of rows.entries()) await enqueueDelivery(tx, id, 0, place);
}

/** Sends a delivery again at once. */
export const replay = (tx: Tx, id: string) => enqueueDelivery(tx, id, 0);

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

interface DeliveryRow {
  id: string;
  workspace_id: string;
  webhook_id: string;
  url: string;
  secret_sealed: Buffer;
  former: Buffer | null;
  body: unknown;
  attempt: number;
  taken_at: number;
}

/**
 * Takes a delivery for its next attempt. What is taken comes back after a while unless settled. Null: it is delivered, dead or gone, its webhook is paused, or
 * it is not due yet, as when somebody else has it; then its job comes again.
 */
export async function claimDelivery(tx: Tx, id: string): Promise<Delivery | null> {
  const row = await tx.row<DeliveryRow>(
    `update deliveries d set attempt = d.attempt + 1, next_at = clock_timestamp() + interval '${HELD}' from webhooks w
     where d.id = ?::uuid and d.status = 'pending' and d.next_at <= clock_timestamp() and w.id = d.webhook_id and w.workspace_id = d.workspace_id and w.active
     returning d.id, d.workspace_id, d.webhook_id, w.url, w.secret_sealed, case when w.former_until > now() then w.former_secret_sealed end as former, d.body, d.attempt,
       floor(extract(epoch from clock_timestamp()))::float8 as taken_at`,
    [id],
  );
  if (row) return toDelivery(row);
  const later = await tx.row<{ seconds: number }>(
    `select greatest(1, extract(epoch from d.next_at - clock_timestamp()))::float8 as seconds from deliveries d
     join webhooks w on w.id = d.webhook_id and w.active where d.id = ?::uuid and d.status = 'pending'`,
    [id],
  );
  if (later) await enqueueDelivery(tx, id, later.seconds);
  return null;
}

function toDelivery(row: DeliveryRow): Delivery {
  return {
    ...{
      id: row.id,
      workspaceId: row.workspace_id,
      webhookId: row.webhook_id,
      url: row.url,
      secretSealed: row.secret_sealed,
      formerSecretSealed: row.former,
    },
    ...{ body: row.body, attempt: row.attempt, takenAt: row.taken_at },
  };
}

/** Notes how an attempt went: delivered, due again later, or dead after the last wait. `status` is the HTTP status, null when there was none. */
export async function settleDelivery(tx: Tx, delivery: Delivery, outcome: { ok: boolean; status: number | null; error: string | null }) {
  const wait = WAITS[delivery.attempt - 1];
  const state = outcome.ok ? 'delivered' : wait === undefined ? 'dead' : 'pending';
  const rows = await tx.rows(
    `update deliveries set status = ?, last_status = ?::int, last_error = ?, next_at = clock_timestamp() + ?::float8 * interval '1 second',
       delivered_at = case when ? then clock_timestamp() end
     where workspace_id = ?::uuid and id = ?::uuid and attempt = ?::int and status = 'pending' returning 1`,
    [state, outcome.status, outcome.error, wait ?? 0, outcome.ok, delivery.workspaceId, delivery.id, delivery.attempt],
  );
  if (rows.length && state === 'pending') await enqueueDelivery(tx, delivery.id, wait ?? 0);
}

/**
 * Adds the jobs of deliveries that lost theirs: a version before wrote them, or the queue gave the job up. Of each active webhook the first few that are overdue
 * are read, by an index. Returns how many there were.
 */
export function requeueDeliveries(db: Db): Promise<number> {
  return db.acrossTenants(async (tx) => {
    const rows = await tx.rows<{ id: string }>(
      `select due.id from webhooks w cross join lateral (select d.id from deliveries d where d.webhook_id = w.id and d.status = 'pending'
         and d.next_at < now() - interval '1 minute' order by d.next_at limit 100) due where w.active limit ${RESUMED}`,
    );
    for (const [place, { id }] of rows.entries()) await enqueueDelivery(tx, id, 0, place);
    return rows.length;
  });
}
