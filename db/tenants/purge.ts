import type { Db, Tx } from '../postgres/orm.ts';

/* Deletes the data of a workspace, whose key was already destroyed, in batches, so that other work never waits for one large deletion. */

const BATCH = { transcriptions: 50, blocks: 10, rows: 1000 }; // rows; dependents of a transcription or a block of the search index, 20 to 100 each, are deleted with it
const DEADLOCK = '40P01'; // SQLSTATE of PostgreSQL

/**
 * Tables with rows of a workspace, referencing tables first, so that later deletions cascade to few rows. Not the audit log, which is kept,
 * and not `search_postings`, which are deleted with their blocks.
 */
export const PURGED = [
  ...[
    'turns',
    'report_turns',
    'previews',
    'layers',
    'corrections',
    'deliveries',
    'webhooks',
    'notifications',
    'checkpoints',
    'segments',
    'reservations',
    'reports',
  ],
  ...['metadata_terms', 'list_changes', 'leases', 'templates', 'idempotency_keys', 'upload_leases', 'counters', 'ledger'],
  ...['search_gone', 'search_fresh', 'search_waiting', 'search_documents', 'search_blocks', 'search_states'],
  ...['oauth_codes', 'oauth_tokens', 'sign_in_links', 'sessions', 'invitations', 'sign_in_bindings', 'identities', 'project_members'],
  ...['projects', 'api_keys', 'members', 'data_keys'],
] as const;

/** Ids of deleted workspaces with remaining data. */
export async function deletedWorkspaces(db: Db): Promise<string[]> {
  // SQL: served by a small index
  const rows = await db.query<{ id: string }>('*', 'select id from workspaces where deleted_at is not null limit 100');
  return rows.map(({ id }) => id);
}

/** Result of one step. */
export interface Purged {
  /** Recordings in the spool that are no longer referenced. */
  media: { id: string; extension: string }[];
  /** No data remains. */
  done: boolean;
}

/**
 * Removes the next batch of a deleted workspace in its own transaction, so completed steps survive a later failure. Locked rows are left to
 * a later step. Several processes may do this concurrently.
 */
export async function purgeNext(db: Db, workspaceId: string): Promise<Purged> {
  try {
    return await db.acrossTenants((tx) => step(tx, workspaceId));
  } catch (error) {
    if ((error as { code?: string }).code === DEADLOCK) return { media: [], done: false }; // with an engine that is working on the workspace
    throw error;
  }
}

/** SQL: batches that skip locked rows, each found by an index. */
async function step(tx: Tx, id: string): Promise<Purged> {
  if (!(await tx.row('select 1 from workspaces where id = ?::uuid and deleted_at is not null', [id]))) return { media: [], done: true };
  const rows = await tx.rows<{ id: string; extension: string; stored: boolean }>(
    // an array, not a join, which may run the inner query, and lock its limit of rows, more than once
    `delete from transcriptions where id = any (array(select t.id from transcriptions t where t.workspace_id = ?::uuid limit ${BATCH.transcriptions}
       for update skip locked)) returning id, extension, media_key_sealed is not null as stored`,
    [id],
  );
  if (rows.length) return { media: rows.filter(({ stored }) => stored), done: false };
  for (const table of PURGED) {
    const most = table === 'search_blocks' ? BATCH.blocks : BATCH.rows;
    const { count } = await tx.outcome(
      `delete from ${table} where ctid = any (array(select ctid from ${table} where workspace_id = ?::uuid limit ${most} for update skip locked))`,
      [id],
    );
    if (count) return { media: [], done: false };
  }
  // Rows locked by others. In the order of an index, since otherwise a plan that expects a row soon reads the whole table where there is none.
  const left = await tx.row('select 1 from transcriptions where workspace_id = ?::uuid order by author_id limit 1', [id]);
  if (left) return { media: [], done: false };
  const { count } = await tx.outcome('delete from workspaces where id = ?::uuid', [id]);
  return { media: [], done: count > 0 };
}
