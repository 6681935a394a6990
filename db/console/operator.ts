import type { Tx } from '../orm.ts';
import type { Vault } from '../vault.ts';

/** Vocabulary and retention of a workspace. */
export async function readSettings(tx: Tx, vault: Vault, workspaceId: string) {
  const row = await tx.row<{ vocabulary_sealed: Buffer | null; retention_days: number | null }>(
    'select vocabulary_sealed, retention_days from workspaces where id = ?',
    [workspaceId],
  );
  return {
    vocabulary: (await vault.text(workspaceId, `workspaces|${workspaceId}|vocabulary`, row!.vocabulary_sealed)) ?? '',
    retention_days: row!.retention_days,
  };
}

export async function writeSettings(
  tx: Tx,
  vault: Vault,
  workspaceId: string,
  settings: { vocabulary: string; retention_days: number | null },
): Promise<void> {
  const sealed = settings.vocabulary ? await vault.seal(workspaceId, `workspaces|${workspaceId}|vocabulary`, settings.vocabulary) : null;
  await tx.rows('update workspaces set vocabulary_sealed = ?, retention_days = ? where id = ?', [
    sealed,
    settings.retention_days,
    workspaceId,
  ]);
}

/** Queue, throughput and failures of one workspace; engines are the installation's. */
export async function overview(tx: Tx, workspaceId: string) {
  const queue = await tx.row(
    `select count(*) filter (where status = 'queued')::int as queued, count(*) filter (where status = 'processing')::int as processing,
       coalesce(extract(epoch from now() - min(created_at) filter (where status = 'queued')), 0)::int as oldest_seconds
     from transcriptions where workspace_id = ? and status in ('queued', 'processing')`,
    [workspaceId],
  );
  const reports = await tx.row(
    `select count(*) filter (where status = 'queued')::int as queued, count(*) filter (where status = 'processing')::int as processing
     from reports where workspace_id = ? and status in ('queued', 'processing')`,
    [workspaceId],
  );
  const throughput = await tx.rows(
    `select to_char(date_trunc('hour', completed_at at time zone 'utc'), 'YYYY-MM-DD"T"HH24:00:00.000"Z"') as hour,
       round((sum(duration_seconds) / 60)::numeric, 1)::float8 as minutes, count(*)::int as files
     from transcriptions where workspace_id = ? and status = 'completed' and completed_at > now() - interval '48 hours' group by 1 order by 1`,
    [workspaceId],
  );
  const failures = await tx.rows(
    `select id, error_code, created_at from transcriptions where workspace_id = ? and status = 'failed' order by created_at desc, id desc limit 20`,
    [workspaceId],
  );
  return { queue, reports, throughput, failures };
}

export function engines(tx: Tx) {
  return tx.rows(
    `select id, host, device, model, concurrency, last_seen, last_seen > now() - interval '60 seconds' as alive
     from engines where last_seen > now() - interval '1 day' order by last_seen desc limit 50`,
  );
}
