import { claimDelivery, type Delivery, settleDelivery } from '../../db/webhooks/outbox.ts';
import { insist } from '../tasks/insist.ts';
import type { Courier } from './courier.ts';
import { post, signature, standardSignature } from './post.ts';

const LIMIT_MS = 10_000;

/**
 * Makes the next attempt of a delivery when its job runs, and records the result; after a failure it adds the job of the next attempt.
 * Delivery is at least once: receivers deduplicate by Longhand-Delivery. False: there was nothing to send.
 */
export async function deliver(courier: Courier, id: string): Promise<boolean> {
  const delivery = await courier.db.acrossTenants((tx) => claimDelivery(tx, id));
  if (!delivery) return false;
  const outcome = await send(courier, delivery);
  await insist(() => courier.db.workspace(delivery.workspaceId, (tx) => settleDelivery(tx, delivery, outcome)));
  courier.log.info({ delivery: delivery.id, attempt: delivery.attempt, status: outcome.status, ok: outcome.ok }, 'webhook called');
  return true;
}

async function send(courier: Courier, delivery: Delivery): Promise<{ ok: boolean; status: number | null; error: string | null }> {
  try {
    const { workspaceId, webhookId } = delivery;
    const secret = await courier.vault.text(workspaceId, `webhooks|${webhookId}|secret`, delivery.secretSealed);
    const former = await courier.vault.text(workspaceId, `webhooks|${webhookId}|secret`, delivery.formerSecretSealed);
    const body = JSON.stringify(delivery.body);
    const timestamp = delivery.takenAt; // the database's time, which is more reliable than this host's: receivers reject old timestamps
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'Longhand-Webhooks/1',
      'Longhand-Delivery': delivery.id,
      'Longhand-Timestamp': String(timestamp),
      'Longhand-Signature': signature(secret!, timestamp, body),
      'webhook-id': delivery.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': [secret, former]
        .flatMap((each) => (each ? standardSignature(each, delivery.id, timestamp, body) : []))
        .join(' '),
    };
    const allowPrivate = courier.privateWebhooks;
    const status = await post({ url: delivery.url, body, headers, limitMs: LIMIT_MS, allowPrivate });
    return { ok: status >= 200 && status < 300, status, error: null };
  } catch (error) {
    return { ok: false, status: null, error: (error as Error).message.slice(0, 500) };
  }
}
