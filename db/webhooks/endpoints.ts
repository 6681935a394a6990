import { randomBytes, randomUUID } from 'node:crypto';
import { type Actor, requireOwner } from '../../api/contract/actor.ts';
import { notFound } from '../../api/contract/errors.ts';
import { audit } from '../access/audit.ts';
import { enqueue } from '../jobs/queue.ts';
import { Delivery, Webhook } from '../postgres/entities/outbox.ts';
import { now } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { lookupId } from '../tenants/visibility.ts';

/** A webhook as its owners see it. */
export interface WebhookRow {
  id: string;
  url: string;
  active: boolean;
  created_at: Date;
}

const shown = ({ id, url, active, createdAt }: { id: string; url: string; active: boolean; createdAt: Date }): WebhookRow => ({
  ...{ id, url, active },
  created_at: createdAt,
});

export async function listWebhooks(tx: Tx, actor: Actor): Promise<WebhookRow[]> {
  requireOwner(actor);
  const found = await tx.em.find(Webhook, { workspaceId: actor.workspaceId }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return found.map(shown);
}

/** The secret signs every delivery; it is in the answer and, sealed, in the row. */
export async function createWebhook(tx: Tx, vault: Vault, actor: Actor, url: string): Promise<WebhookRow & { secret: string }> {
  requireOwner(actor);
  const id = randomUUID();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const secretSealed = await vault.seal(actor.workspaceId, `webhooks|${id}|secret`, secret);
  const webhook = tx.em.create(Webhook, { id, workspaceId: actor.workspaceId, url, secretSealed });
  await tx.em.flush();
  await audit(tx, actor, 'webhook.create', id);
  return { ...shown(webhook), secret };
}

/** Pauses a webhook, whose deliveries then wait, or lets them go on. Throws 404. */
export async function setWebhookActive(tx: Tx, actor: Actor, id: string, active: boolean): Promise<WebhookRow> {
  requireOwner(actor);
  const webhook = await tx.em.findOne(Webhook, { workspaceId: actor.workspaceId, id: lookupId(id) });
  if (!webhook) throw notFound();
  webhook.active = active;
  await tx.em.flush();
  if (active) await enqueue(tx, 'deliver', { id });
  await audit(tx, actor, active ? 'webhook.resume' : 'webhook.pause', id);
  return shown(webhook);
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
  await enqueue(tx, 'deliver', { id });
  await audit(tx, actor, 'webhook.replay', id);
}
