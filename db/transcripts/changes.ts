import type { Actor } from '../../api/contract/actor.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { isUuid } from '../tenants/visibility.ts';
import { type ListQuery, matching } from './filter.ts';
import type { Item } from './list-row.ts';
import { planForLists, readRows, toItems } from './page.ts';

/* SQL: pages of changes with controlled query plans. */

/** A position in the order of changes. */
export interface Place {
  /** Number of the transaction. */
  changedIn: bigint;
  id: string;
}

const START: Place = { changedIn: -1n, id: '00000000-0000-0000-0000-000000000000' };

/** As passed to clients: opaque, and valid indefinitely. */
export function cursorOf({ changedIn, id }: Place): string {
  return Buffer.from(`${changedIn}/${id}`).toString('base64url');
}

/** Null: invalid. */
export function readCursor(text: string): Place | null {
  const [, changedIn, id] = /^(-?\d{1,18})\/(.+)$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  return changedIn === undefined || id === undefined || !isUuid(id) ? null : { changedIn: BigInt(changedIn), id };
}

interface Row {
  changed_in: string;
  /** Number of the oldest open transaction: no more changes of older ones will appear. */
  horizon: string;
  total: string;
}

/**
 * One page of changes since a time and after a cursor, in the order of changes. The next cursor points to the last item that no later
 * change can precede: an item that changed while an earlier transaction is still open is returned now and again on the next page. `total`
 * counts from this page on.
 */
export async function listChanges(
  tx: Tx,
  vault: Vault,
  actor: Actor,
  query: ListQuery,
  after: Place | null,
): Promise<{ items: Item[]; total: number; next: Place }> {
  await planForLists(tx);
  const from = after && (await isOfThisDatabase(tx, after)) ? after : START;
  const since = after ? null : await startOf(tx, actor, query);
  const { sql, parameters } = matching(actor, query, {}, 'changed_in');
  const found = {
    sql: `select s.* from (${sql}) s where (s.changed_in, s.id) > (?::bigint, ?::uuid)`,
    parameters: [...parameters, String(since ?? from.changedIn), from.id],
  };
  const beside = {
    sql: `(select count(*) from (${found.sql}) n) as total, pg_snapshot_xmin(pg_current_snapshot())::text::bigint as horizon`,
    parameters: found.parameters,
  };
  const { limit, offset } = query;
  const rows = await readRows<Row>(tx, actor, { found, order: 's.changed_in, s.id', limit, offset, beside, also: 't.changed_in' });
  const settled = rows.filter((row) => row.place !== null && BigInt(row.changed_in) < BigInt(row.horizon)).at(-1);
  const next = settled ? { changedIn: BigInt(settled.changed_in), id: settled.id } : since === null ? from : { ...START, changedIn: since };
  return { items: await toItems(vault, rows), total: Number(rows[0]!.total), next };
}

/** Position just before the first change since the time in the query, and before any that may still appear. */
async function startOf(tx: Tx, actor: Actor, { status, updatedSince }: ListQuery): Promise<bigint> {
  const row = await tx.row<{ first: string }>(
    `select least((select min(t.changed_in) from transcriptions t where t.workspace_id = ?::uuid and t.status = ? and t.updated_at >= ?::timestamptz),
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint) as first`,
    [actor.workspaceId, status, updatedSince ?? '-infinity'],
  );
  return BigInt(row!.first) - 1n;
}

/** A restored database numbers its transactions from the start; then cursors start again as well. */
async function isOfThisDatabase(tx: Tx, { changedIn }: Place): Promise<boolean> {
  const row = await tx.row<{ latest: string }>('select pg_snapshot_xmax(pg_current_snapshot())::text as latest');
  return changedIn <= BigInt(row!.latest);
}

/** After a restore, sorts changes from before it first, whatever their transaction numbers are. */
export async function settleForeignChanges(db: Db): Promise<void> {
  await db.query(
    '*',
    `update transcriptions t set changed_in = 0 from (
       select f.id from workspaces w cross join unnest(array['queued', 'processing', 'completed', 'failed', 'insufficient_balance']) s (status)
       cross join lateral (select o.id from transcriptions o where o.workspace_id = w.id and o.status = s.status
         and o.changed_in > pg_snapshot_xmax(pg_current_snapshot())::text::bigint order by o.changed_in limit 1000) f) old
     where t.id = old.id`,
  );
}
