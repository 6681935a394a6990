import type { WebhookEvent } from '../../api/contract/webhook.ts';
import { enqueue } from '../jobs/queue.ts';
import type { Db, Tx } from '../postgres/orm.ts';

/* SQL: claims, and rows written in the transaction of the event they announce. */

/** An event sent to webhooks: ids and status, never text. */
export interface Event {
  event: WebhookEvent;
  transcription_id: string;
  report_id?: string;
  status: string;
  error_code: string | null;
  external_id: string | null;
}

const COUNTED = 100; // maximum number of waiting deliveries that are counted per webhook

/**
 * SQL: the position of the next delivery of a webhook (`w`) among all waiting ones of its workspace if webhooks are served round-robin. As
 * a job's priority it also alternates between workspaces, and a slow or unreachable webhook, whose retries accumulate, does not delay others.
 */
const POSITION = `(select sum(case when h.id = w.id then h.waiting else least(h.waiting, own.waiting + 1) end)::int from backlog h, backlog own where own.id = w.id)`;
const BACKLOG = `backlog as (select h.id, (select count(*) from (select from deliveries p where p.webhook_id = h.id and p.status = 'pending' limit ${COUNTED}) x)
  as waiting from webhooks h where h.workspace_id = ?::uuid)`;

/**
 * Adds one delivery per webhook of the workspace that subscribes to the event, in the transaction of the status change. Deliveries of
 * paused webhooks wait.
 */
export async function announce(tx: Tx, workspaceId: string, event: Event): Promise<void> {
  const rows = await tx.rows<{ id: string; position: number; active: boolean }>(
    `with ${BACKLOG}, made as (insert into deliveries (workspace_id, webhook_id, event, body)
       select w.workspace_id, w.id, ?, ?::jsonb from webhooks w where w.workspace_id = ?::uuid and (w.events is null or ? = any (w.events))
       returning id, webhook_id)
     select made.id, w.active, ${POSITION} + row_number() over (order by w.created_at)::int - 1 as position from made join webhooks w on w.id = made.webhook_id`,
    [workspaceId, event.event, JSON.stringify(event), workspaceId, event.event],
  );
  for (const { id, position, active } of rows) if (active) await enqueueDelivery(tx, id, 0, position);
}

/** Adds the job of a delivery's next attempt, or reschedules it. */
function enqueueDelivery(tx: Tx, id: string, runAfterSeconds: number, position = 0): Promise<void> {
  return enqueue(tx, 'deliver', { id }, { key: `deliver:${id}`, runAfterSeconds, priority: position });
}

const RESUMED = 1000; // deliveries; the sweep adds the jobs of the rest

/** Resumes the waiting deliveries of a webhook after a pause. */
export async function resumeDeliveries(tx: Tx, workspaceId: string, webhookId: string): Promise<void> {
  const rows = await tx.rows<{ id: string }>(
    `select d.id from deliveries d where d.workspace_id = ?::uuid and d.webhook_id = ?::uuid and d.status = 'pending' order by d.next_at limit ${RESUMED}`,
    [workspaceId, webhookId],
  );
  for (const [position, { id }] of rows.entries()) await enqueueDelivery(tx, id, 0, position);
}

/** Sends a delivery again at once. */
export const replay = (tx: Tx, id: string) => enqueueDelivery(tx, id, 0);

export interface Delivery {
  id: string;
  workspaceId: string;
  webhookId: string;
  url: string;
  secretSealed: Buffer;
  /** The previous secret, which also signs for some time after a change. */
  formerSecretSealed: Buffer | null;
  body: unknown;
  /** Number of the attempt, from 1. */
  attempt: number;
  /** Time of the claim by the database's clock, seconds since 1970. */
  takenAt: number;
}

const HELD = 120; // seconds; after this a delivery whose courier died is sent again
/** Delays after each failed attempt, seconds; about 24 hours in total, then the delivery is dead. */
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
 * Claims a delivery for its next attempt; it becomes due again after a while unless settled. Null: it was delivered, is dead or deleted,
 * its webhook is paused, or it is not due yet, for example because another courier has it; then its job runs again later.
 */
export async function claimDelivery(tx: Tx, id: string): Promise<Delivery | null> {
  const row = await tx.row<DeliveryRow>(
    `update deliveries d set attempt = d.attempt + 1, next_at = clock_timestamp() + interval '${HELD} seconds' from webhooks w
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

/**
 * Records the outcome of an attempt: delivered, due again later, or dead after the last delay. `status`: HTTP status, null if there was no
 * response.
 */
export async function settleDelivery(tx: Tx, delivery: Delivery, outcome: { ok: boolean; status: number | null; error: string | null }) {
  const wait = WAITS[delivery.attempt - 1];
  const state = outcome.ok ? 'delivered' : wait === undefined ? 'dead' : 'pending';
  const rows = await tx.rows(
    `update deliveries set status = ?, last_status = ?::int, last_error = ?, next_at = clock_timestamp() + ?::float8 * interval '1 second',
       delivered_at = case when ? then clock_timestamp() end
     where workspace_id = ?::uuid and id = ?::uuid and attempt = ?::int and status = 'pending' returning 1`,
    [state, outcome.status, outcome.error, wait ?? 0, outcome.ok, delivery.workspaceId, delivery.id, delivery.attempt],
  );
  if (!rows.length || state !== 'pending') return;
  const turn = await tx.row<{ position: number }>(`with ${BACKLOG} select ${POSITION} as position from webhooks w where w.id = ?::uuid`, [
    ...[delivery.workspaceId, delivery.webhookId],
  ]);
  if (turn) await enqueueDelivery(tx, delivery.id, wait ?? 0, turn.position);
}

/**
 * Adds jobs for deliveries that lost theirs: they were written by an earlier version, or the queue gave up. Reads the first overdue
 * deliveries of each active webhook, by an index. They come after new ones, webhooks in turn: most may only be waiting, those of an unreachable
 * webhook above all. Returns their number.
 */
export function requeueDeliveries(db: Db): Promise<number> {
  return db.acrossTenants(async (tx) => {
    const rows = await tx.rows<{ id: string; turn: number }>(
      `select due.id, due.turn from webhooks w cross join lateral (select d.id, row_number() over (order by d.next_at)::int as turn from deliveries d
         where d.webhook_id = w.id and d.status = 'pending' and d.next_at < now() - interval '1 minute' order by d.next_at limit 100) due
       where w.active order by due.turn limit ${RESUMED}`,
    );
    for (const { id, turn } of rows) await enqueueDelivery(tx, id, 0, COUNTED + turn);
    return rows.length;
  });
}

/** SQL: seconds for which the next attempt of a delivery `d` is ever delayed: a new one is due at once, a claim holds it, a failure delays it. */
const LONGEST = `case d.attempt when 0 then 0 else greatest(${HELD}, (array[${WAITS}])[d.attempt]) end`;

/**
 * Brings forward deliveries further ahead than they are ever set (and `leeway`, seconds), after the clock was set back, with their jobs. The
 * length of the jump does not matter, so it can run repeatedly. Returns their number.
 */
export async function correctDeliveries(db: Db, leeway: number): Promise<number> {
  for (let corrected = 0; ; ) {
    const count = await db.acrossTenants(async (tx) => {
      const rows = await tx.rows<{ id: string; seconds: number; active: boolean }>(
        `update deliveries u set next_at = clock_timestamp() + late.longest * interval '1 second' from (
           select d.id, ${LONGEST}::float8 as longest, w.active from deliveries d join webhooks w on w.id = d.webhook_id and w.workspace_id = d.workspace_id
           where d.status = 'pending' and d.next_at > now() + ?::float8 * interval '1 second'
             and d.next_at > now() + (${LONGEST} + ?::float8) * interval '1 second'
           order by d.next_at limit ${RESUMED} for update of d skip locked) late
         where u.id = late.id returning u.id, late.longest as seconds, late.active`,
        [leeway, leeway],
      );
      for (const [position, { id, seconds, active }] of rows.entries()) if (active) await enqueueDelivery(tx, id, seconds, position);
      return rows.length;
    });
    corrected += count;
    if (count < RESUMED) return corrected;
  }
}
