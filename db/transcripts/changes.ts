import type { Actor } from '../../api/contract/actor.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { isUuid } from '../tenants/visibility.ts';
import { type ListQuery, type Matching, matching } from './filter.ts';
import type { Item } from './list-row.ts';
import { planForLists, readRows, toItems } from './page.ts';

/* SQL: pages of changes with controlled query plans. */

/** A position in the order of changes. */
export interface Place {
  /** Number of the transaction. */
  changedIn: bigint;
  id: string;
  /** Transactions before it that were open when the page was read: what they change appears later, but belongs to earlier positions. */
  open: readonly bigint[];
}

const START: Place = { changedIn: -1n, id: '00000000-0000-0000-0000-000000000000', open: [] };
const MOST_OPEN = 12; // per cursor, which may have 200 characters; a position with more is passed when some of them have ended

/** As passed to clients: opaque, and valid indefinitely. */
export function cursorOf({ changedIn, id, open }: Place): string {
  const distances = open.map((each) => (changedIn - each).toString(36));
  return Buffer.from([changedIn, id, ...(open.length ? [distances.join()] : [])].join('/')).toString('base64url');
}

const CURSOR = /^(-?\d{1,18})\/([^/]+)(?:\/([\da-z]{1,6}(?:,[\da-z]{1,6})*))?$/;

/** Null: invalid. */
export function readCursor(text: string): Place | null {
  const [, changed, id, distances] = CURSOR.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (changed === undefined || id === undefined || !isUuid(id)) return null;
  const changedIn = BigInt(changed);
  return { changedIn, id, open: (distances?.split(',') ?? []).map((each) => changedIn - BigInt(Number.parseInt(each, 36))) };
}

interface Row {
  changed_in: string;
  /** Numbers of the open transactions: changes of all others that began earlier have appeared. */
  open: string[];
  /** Number of the next transaction. Changes from another database, until they are settled, may have higher ones. */
  next: string;
  total: string;
}

/**
 * One page of changes since a time and after a cursor, in the order of changes. The next cursor points to the last item of the page, and
 * names the open transactions that may still add changes before it, so that these are returned by the next page. `total` counts from this
 * page on.
 */
export async function listChanges(
  tx: Tx,
  vault: Vault,
  actor: Actor,
  query: ListQuery,
  after: Place | null,
): Promise<{ items: Item[]; total: number; next: Place }> {
  await planForLists(tx);
  const from = after ? ((await isOfThisDatabase(tx, after)) ? after : START) : { ...START, changedIn: await startOf(tx, actor, query) };
  const found = following(matching(actor, query, {}, 'changed_in'), from);
  const beside = {
    sql: `(select count(*) from (${found.sql}) n) as total,
      array(select x::text from pg_snapshot_xip(pg_current_snapshot()) x) as open,
      pg_snapshot_xmax(pg_current_snapshot())::text as next`,
    parameters: found.parameters,
  };
  const { limit, offset } = query;
  const rows = await readRows<Row>(tx, actor, { found, order: 's.changed_in, s.id', limit, offset, beside, also: 't.changed_in' });
  return { items: await toItems(vault, rows), total: Number(rows[0]!.total), next: placeAfter(rows, from, limit) ?? from };
}

/** Matches after a position, and those that transactions which were open at the time have changed before it. */
function following({ sql, parameters }: Matching, { changedIn, id, open }: Place): Matching {
  const after = '(s.changed_in, s.id) > (?::bigint, ?::uuid)';
  const [oldest] = open.toSorted((a, b) => (a < b ? -1 : 1));
  if (oldest === undefined) return { sql: `select s.* from (${sql}) s where ${after}`, parameters: [...parameters, String(changedIn), id] };
  return {
    sql: `select s.* from (${sql}) s where s.changed_in >= ?::bigint and (${after} or s.changed_in = any (?::bigint[]))`,
    parameters: [...parameters, String(oldest), String(changedIn), id, open.map(String)],
  };
}

/**
 * The position of the last row that a cursor can express, null of none. After the last rows of all it does not go back, also if these are
 * earlier changes.
 */
function placeAfter(rows: readonly (Row & { id: string; place: string | null })[], from: Place, limit: number): Place | null {
  const places = rows.flatMap(({ id, place, changed_in }) => (place === null ? [] : { changedIn: BigInt(changed_in), id }));
  if (!places.length) return null;
  if (places.length < limit && places.at(-1)!.changedIn < from.changedIn) places.push(from);
  const open = rows[0]!.open.map(BigInt);
  const next = BigInt(rows[0]!.next);
  for (const { changedIn, id } of places.toReversed()) {
    if (changedIn >= next) continue; // with such a cursor, the next page would begin again
    const before = open.filter((each) => each < changedIn);
    if (before.length <= MOST_OPEN) return { changedIn, id, open: before };
  }
  return null;
}

/** Transaction of the first change since the time in the query, or the first one whose changes may still appear. */
async function startOf(tx: Tx, actor: Actor, { status, updatedSince }: ListQuery): Promise<bigint> {
  const row = await tx.row<{ first: string }>(
    `select least((select min(t.changed_in) from transcriptions t where t.workspace_id = ?::uuid and t.status = ? and t.updated_at >= ?::timestamptz),
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint) as first`,
    [actor.workspaceId, status, updatedSince ?? '-infinity'],
  );
  return BigInt(row!.first);
}

/** A restored database numbers its transactions from the start; then cursors start again as well. */
async function isOfThisDatabase(tx: Tx, { changedIn }: Place): Promise<boolean> {
  const row = await tx.row<{ latest: string }>('select pg_snapshot_xmax(pg_current_snapshot())::text as latest');
  return changedIn <= BigInt(row!.latest);
}

const SETTLED = 1000; // rows per workspace, status and transaction
const SETTLING_MS = 30_000; // at once; the rest follows

/** After a restore, sorts changes from before it first, whatever their transaction numbers are. */
export async function settleForeignChanges(db: Db): Promise<void> {
  for (const end = performance.now() + SETTLING_MS; performance.now() < end; ) {
    const rows = await db.query(
      '*',
      `update transcriptions t set changed_in = 0 from (
         select f.id from workspaces w cross join unnest(array['queued', 'processing', 'completed', 'failed', 'insufficient_balance']) s (status)
         cross join lateral (select o.id from transcriptions o where o.workspace_id = w.id and o.status = s.status
           and o.changed_in > pg_snapshot_xmax(pg_current_snapshot())::text::bigint order by o.changed_in limit ${SETTLED}) f) old
       where t.id = old.id returning 1`,
    );
    if (!rows.length) return;
  }
}
