import type { Db } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import type { Lease } from './leases.ts';

/**
 * SQL: written under a lease, in one statement that checks it. Encrypted checkpoints of a running transcription, from which the next holder
 * of the lease resumes.
 */
export interface CheckpointStore {
  load(): Promise<Map<string, Uint8Array>>;
  /** Does nothing if the lease is lost. */
  save(name: string, bytes: Uint8Array): Promise<void>;
}

export function checkpointsOf(db: Db, vault: Vault, { id, workspaceId, token }: Lease): CheckpointStore {
  const place = (name: string) => `checkpoints|${id}:${name}|value`;
  return {
    async load() {
      const rows = await db.query<{ name: string; value_sealed: Buffer }>(
        workspaceId,
        'select c.name, c.value_sealed from checkpoints c where c.workspace_id = ?::uuid and c.transcription_id = ?::uuid',
        [workspaceId, id],
      );
      const opened = rows.map(async (row) => [row.name, await vault.open(workspaceId, place(row.name), row.value_sealed)] as const);
      return new Map(await Promise.all(opened));
    },
    async save(name, bytes) {
      const sealed = await vault.seal(workspaceId, place(name), bytes);
      await db.query(
        workspaceId,
        `insert into checkpoints (transcription_id, workspace_id, name, value_sealed)
         select t.id, t.workspace_id, ?, ? from transcriptions t where t.workspace_id = ?::uuid and t.id = ?::uuid and t.lease_token = ?::uuid
         on conflict (transcription_id, name) do update set value_sealed = excluded.value_sealed`,
        [name, sealed, workspaceId, id, token],
      );
    },
  };
}
