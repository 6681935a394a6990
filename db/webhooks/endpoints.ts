import { randomBytes, randomUUID } from 'node:crypto';
import { type Actor, requireOwner } from '../../api/contract/actor.ts';
import { invalid, notFound } from '../../api/contract/errors.ts';
import { LIMITS } from '../../api/contract/limits.ts';
import type { WebhookEvent } from '../../api/contract/webhook.ts';
import { audit } from '../access/audit.ts';
import { Delivery, Webhook } from '../postgres/entities/outbox.ts';
import { now } from '../postgres/expressions.ts';
import { lockNamed } from '../postgres/locks.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { lookupId } from '../tenants/visibility.ts';
import { replay, resumeDeliveries } from './outbox.ts';

/** A webhook as displayed to its owners. */
export interface WebhookRow {
  id: string;
  url: string;
  /** Null: all. */
  events: WebhookEvent[] | null;
  active: boolean;
  created_at: Date;
}

type Secret = { secret: string };
type Stored = { id: string; url: string; events?: string[] | null; active: boolean; createdAt: Date };

const shown = ({ id, url, events, active, createdAt }: Stored): WebhookRow => ({
  ...{ id, url, events: (events as WebhookEvent[] | null | undefined) ?? null, active },
  created_at: createdAt,
});

export async function listWebhooks(tx: Tx, actor: Actor): Promise<WebhookRow[]> {
  requireOwner(actor);
  const found = await tx.em.find(Webhook, { workspaceId: actor.workspaceId }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return found.map(shown);
}

/** Throws 404. */
export async function findWebhook(tx: Tx, actor: Actor, id: string): Promise<WebhookRow> {
  return shown(await existing(tx, actor, id));
}

async function existing(tx: Tx, actor: Actor, id: string) {
  requireOwner(actor);
  const webhook = await tx.em.findOne(Webhook, { workspaceId: actor.workspaceId, id: lookupId(id) });
  if (!webhook) throw notFound();
  return webhook;
}

const FULL = `is one too many: a workspace can have at most ${LIMITS.WEBHOOKS} webhooks; delete one first`;

/** Creates a webhook. Its secret signs every delivery; it is returned once and stored encrypted. Throws 422. */
export async function createWebhook(
  tx: Tx,
  vault: Vault,
  actor: Actor,
  { url, events = null }: { url: string; events?: readonly WebhookEvent[] | null },
): Promise<WebhookRow & Secret> {
  requireOwner(actor);
  await lockNamed(tx, `webhooks ${actor.workspaceId}`);
  if ((await tx.em.count(Webhook, { workspaceId: actor.workspaceId })) >= LIMITS.WEBHOOKS) throw invalid([{ field: 'url', message: FULL }]);
  const id = randomUUID();
  const { secret, sealed: secretSealed } = await newSecret(vault, actor, id);
  const webhook = tx.em.create(Webhook, { id, workspaceId: actor.workspaceId, url, secretSealed, events: events && [...events] });
  await tx.em.flush();
  await audit(tx, actor, 'webhook.create', id);
  return { ...shown(webhook), secret };
}

async function newSecret(vault: Vault, { workspaceId }: Actor, id: string): Promise<Secret & { sealed: Buffer }> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  return { secret, sealed: await vault.seal(workspaceId, `webhooks|${id}|secret`, secret) };
}

export interface WebhookChanges {
  url?: string | undefined;
  events?: readonly WebhookEvent[] | null | undefined;
  /** False: paused; deliveries wait. */
  active?: boolean | undefined;
}

/** Changes the given fields. Throws 404. */
export async function changeWebhook(tx: Tx, actor: Actor, id: string, { url, events, active }: WebhookChanges): Promise<WebhookRow> {
  const webhook = await existing(tx, actor, id);
  if (url !== undefined) webhook.url = url;
  if (events !== undefined) webhook.events = events && [...events];
  if (active !== undefined) webhook.active = active;
  await tx.em.flush();
  if (active) await resumeDeliveries(tx, actor.workspaceId, webhook.id);
  if (active !== undefined) await audit(tx, actor, active ? 'webhook.resume' : 'webhook.pause', id);
  if (url !== undefined || events !== undefined) await audit(tx, actor, 'webhook.change', id);
  return shown(webhook);
}

const BOTH_MS = 24 * 3_600_000; // time for which the previous secret signs as well

/** Replaces the secret and returns the new one, once. Throws 404. */
export async function rotateSecret(tx: Tx, vault: Vault, actor: Actor, id: string): Promise<WebhookRow & Secret> {
  const webhook = await existing(tx, actor, id);
  const { secret, sealed } = await newSecret(vault, actor, webhook.id);
  webhook.formerSecretSealed = webhook.secretSealed;
  webhook.formerUntil = new Date(Date.now() + BOTH_MS);
  webhook.secretSealed = sealed;
  await tx.em.flush();
  await audit(tx, actor, 'webhook.rotate', id);
  return { ...shown(webhook), secret };
}

/** Sends a test event without data to this webhook only. Throws 404. */
export async function testWebhook(tx: Tx, actor: Actor, id: string): Promise<{ delivery_id: string }> {
  const webhook = await existing(tx, actor, id);
  const event = 'webhook.test';
  const body = { event, webhook_id: webhook.id };
  const delivery = tx.em.create(Delivery, { id: randomUUID(), workspaceId: actor.workspaceId, webhookId: webhook.id, event, body });
  await tx.em.flush();
  await replay(tx, delivery.id);
  await audit(tx, actor, 'webhook.test', id);
  return { delivery_id: delivery.id };
}

/** Throws 404. */
export async function deleteWebhook(tx: Tx, actor: Actor, id: string): Promise<void> {
  requireOwner(actor);
  if (!(await tx.em.nativeDelete(Webhook, { workspaceId: actor.workspaceId, id: lookupId(id) }))) throw notFound();
  await audit(tx, actor, 'webhook.delete', id);
}

/** The newest hundred deliveries of a webhook. Throws 404. */
export async function listDeliveries(tx: Tx, actor: Actor, webhookId: string) {
  requireOwner(actor);
  const { workspaceId } = actor;
  const id = lookupId(webhookId);
  if (!(await tx.em.count(Webhook, { workspaceId, id }))) throw notFound();
  const order = { createdAt: 'desc', id: 'asc' } as const;
  const found = await tx.em.find(Delivery, { workspaceId, webhookId: id }, { orderBy: order, limit: 100 });
  return found.map((row) => ({
    ...{ id: row.id, event: row.event, status: row.status, attempt: row.attempt, next_at: row.nextAt.toISOString() },
    ...{ last_status: row.lastStatus ?? null, last_error: row.lastError ?? null, created_at: row.createdAt.toISOString() },
    delivered_at: row.deliveredAt?.toISOString() ?? null,
    transcription_id: (row.body as { transcription_id?: string }).transcription_id ?? null,
  }));
}

/** Sends a delivery again, with the same id, so that the receiver recognises it. */
export async function replayDelivery(tx: Tx, actor: Actor, id: string): Promise<void> {
  requireOwner(actor);
  const again = { status: 'pending', attempt: 0, nextAt: now(), deliveredAt: null } as const;
  if (!(await tx.em.nativeUpdate(Delivery, { workspaceId: actor.workspaceId, id: lookupId(id) }, again))) throw notFound();
  await replay(tx, id);
  await audit(tx, actor, 'webhook.replay', id);
}
