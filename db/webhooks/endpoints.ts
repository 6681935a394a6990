import { randomBytes, randomUUID } from 'node:crypto';
import { type Actor, requireOwner } from '../../api/contract/actor.ts';
import { notFound } from '../../api/contract/errors.ts';
import { audit } from '../access/audit.ts';
import { enqueue } from '../jobs/queue.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { lookupId } from '../tenants/visibility.ts';
import { stamp } from '../transcripts/list-row.ts';

const COLUMNS = `w.id, w.url, w.active, ${stamp('w.created_at')} as created_at`;

export function listWebhooks(tx: Tx, actor: Actor) {
  requireOwner(actor);
  return tx.rows(`select ${COLUMNS} from webhooks w where w.workspace_id = ? order by w.created_at, w.id`, [actor.workspaceId]);
}

/** The secret signs every delivery; it is in the answer and, sealed, in the row. */
export async function createWebhook(tx: Tx, vault: Vault, actor: Actor, url: string) {
  requireOwner(actor);
  const id = randomUUID();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const sealed = await vault.seal(actor.workspaceId, `webhooks|${id}|secret`, secret);
  const row = await tx.row<{ created_at: string }>(
    `insert into webhooks (id, workspace_id, url, secret_sealed) values (?, ?, ?, ?) returning ${stamp('created_at')} as created_at`,
    [id, actor.workspaceId, url, sealed],
  );
  await audit(tx, actor, 'webhook.create', id);
  return { id, url, secret, active: true, created_at: row!.created_at };
}

/** Pauses a webhook, whose deliveries then wait, or lets them go on. Throws 404. */
export async function setWebhookActive(tx: Tx, actor: Actor, id: string, active: boolean) {
  requireOwner(actor);
  const row = await tx.row(`update webhooks w set active = ? where w.workspace_id = ? and w.id = ? returning ${COLUMNS}`, [
    active,
    actor.workspaceId,
    lookupId(id),
  ]);
  if (!row) throw notFound();
  if (active) await enqueue(tx, 'deliver', { id });
  await audit(tx, actor, active ? 'webhook.resume' : 'webhook.pause', id);
  return row;
}

export async function deleteWebhook(tx: Tx, actor: Actor, id: string): Promise<void> {
  requireOwner(actor);
  const row = await tx.row('delete from webhooks where workspace_id = ? and id = ? returning id', [actor.workspaceId, lookupId(id)]);
  if (!row) throw notFound();
  await audit(tx, actor, 'webhook.delete', id);
}

/** The newest hundred deliveries of a webhook. Throws 404. */
export async function listDeliveries(tx: Tx, actor: Actor, webhookId: string) {
  requireOwner(actor);
  const hook = await tx.row('select id from webhooks where workspace_id = ? and id = ?', [actor.workspaceId, lookupId(webhookId)]);
  if (!hook) throw notFound();
  return tx.rows(
    `select d.id, d.event, d.status, d.attempt, ${stamp('d.next_at')} as next_at, d.last_status, d.last_error,
       ${stamp('d.created_at')} as created_at, ${stamp('d.delivered_at')} as delivered_at, d.body->>'transcription_id' as transcription_id
     from deliveries d where d.workspace_id = ? and d.webhook_id = ? order by d.created_at desc, d.id limit 100`,
    [actor.workspaceId, lookupId(webhookId)],
  );
}

/** Sends a delivery again, with the same id, so that the receiver recognises it. */
export async function replayDelivery(tx: Tx, actor: Actor, id: string): Promise<void> {
  requireOwner(actor);
  const row = await tx.row(
    `update deliveries set status = 'pending', attempt = 0, next_at = now(), delivered_at = null where workspace_id = ? and id = ? returning id`,
    [actor.workspaceId, lookupId(id)],
  );
  if (!row) throw notFound();
  await enqueue(tx, 'deliver', { id });
  await audit(tx, actor, 'webhook.replay', id);
}
