import { LEASE, LIMITS } from '../../api/contract/limits.ts';
import type { Uploaded } from '../../api/contract/transcription.ts';
import type { Tx } from '../postgres/orm.ts';

/* SQL: one statement claims a key for one of several concurrent attempts. */

/** A key held by one attempt. `token` is a fencing token: an attempt that lost the key cannot finish. */
export interface IdempotencyClaim {
  workspaceId: string;
  key: string;
  token: string;
}

/** Result of claiming a key: claimed, already completed by an earlier attempt, or held by one in progress. */
export type ClaimedKey = { state: 'mine' } | { state: 'done'; answer: Uploaded } | { state: 'busy' };

/** Claims a key atomically: it is new, its 24 hours are over, or its holder's lease has expired. `latest`: see `ClockWatch`. */
export async function claimKey(
  tx: Tx,
  claim: IdempotencyClaim,
  transcriptionId: string,
  nodeId: string,
  latest: number | null,
): Promise<ClaimedKey> {
  for (;;) {
    const mine = await tx.row(
      `insert into idempotency_keys as i (workspace_id, key, transcription_id, token, node_id, lease_until)
       values (?::uuid, ?, ?::uuid, ?::uuid, ?::uuid, clock_timestamp() + ? * interval '1 second')
       on conflict (workspace_id, key) do update set transcription_id = excluded.transcription_id, token = excluded.token,
         node_id = excluded.node_id, lease_until = excluded.lease_until, answer = null, expires_at = null
       where case when i.answer is null then i.lease_until <= least(clock_timestamp(), to_timestamp(?::float8))
           else i.expires_at <= clock_timestamp() end
       returning i.key`,
      [claim.workspaceId, claim.key, transcriptionId, claim.token, nodeId, LEASE.expirySeconds, latest],
    );
    if (mine) return { state: 'mine' };
    const held = await tx.row<{ answer: Uploaded | null }>(
      'select i.answer from idempotency_keys i where i.workspace_id = ?::uuid and i.key = ?',
      [claim.workspaceId, claim.key],
    );
    if (held?.answer) return { state: 'done', answer: held.answer };
    if (held) return { state: 'busy' };
    // it was released in between: try again
  }
}

/** Stores the response for 24 hours. False if the key was lost to another attempt: the caller must undo its work. */
export async function keepAnswer(tx: Tx, claim: IdempotencyClaim, answer: Uploaded): Promise<boolean> {
  const row = await tx.row(
    `update idempotency_keys i set answer = ?::jsonb, lease_until = null, expires_at = clock_timestamp() + ? * interval '1 hour'
     where i.workspace_id = ?::uuid and i.key = ? and i.token = ?::uuid and i.answer is null returning i.key`,
    [JSON.stringify(answer), LIMITS.IDEMPOTENCY_HOURS, claim.workspaceId, claim.key, claim.token],
  );
  return row !== null;
}

/** Releases the key of a failed attempt. A stored response is kept. */
export async function releaseKey(tx: Tx, claim: IdempotencyClaim): Promise<void> {
  await tx.rows('delete from idempotency_keys i where i.workspace_id = ?::uuid and i.key = ? and i.token = ?::uuid and i.answer is null', [
    claim.workspaceId,
    claim.key,
    claim.token,
  ]);
}
