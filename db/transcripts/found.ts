import type { Actor } from '../../api/contract/actor.ts';
import { LIMITS } from '../../api/contract/limits.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { type Hit, hitsOf } from '../search/hits.ts';
import { indexWaiting } from '../search/keep.ts';
import { type Found, match } from '../search/match.ts';
import { readTurns } from '../search/said.ts';
import { questionOf, searchKey } from '../search/terms.ts';
import type { Vault } from '../secrets/vault.ts';
import { type ListQuery, matching } from './filter.ts';
import { listItems, ORDERS } from './list.ts';
import type { Item } from './list-row.ts';
import { within } from './lookup.ts';
import { planForLists, readRows, toItems } from './page.ts';
import { listScreened } from './screen.ts';
import type { Totals } from './totals.ts';

/** An item with up to three matching passages. */
export interface FoundItem extends Item {
  hits: Hit[];
}

/** A prepared search. */
export interface Search {
  text: string;
  find(tx: Tx): Promise<Found>;
}

const RARE = 500; // maximum number of matches that are looked up within any filter
const WAITING = 20; // maximum number of waiting transcripts to index before a search; the rest is indexed in the background

/** Prepares a search of a workspace, optionally including titles. Recent changes are indexed first. Null: the text contains no word. */
export async function openSearch(db: Db, vault: Vault, workspaceId: string, text: string, titlesToo = false): Promise<Search | null> {
  const question = questionOf(await searchKey(vault, workspaceId), text, titlesToo);
  if (!question) return null;
  await indexWaiting(db, vault, workspaceId, WAITING);
  return { text, find: (tx) => match(tx, workspaceId, question) };
}

/** One page of matches visible to the actor, combined with all other filters, and the number of all matches. */
export async function listFound(tx: Tx, vault: Vault, totals: Totals, actor: Actor, query: ListQuery, search: Search) {
  const found = await search.find(tx);
  const { items, total } =
    (await listAll(tx, vault, actor, within(query, found, 0), found)) ??
    (found.count > RARE ? await listScreened(tx, vault, totals, actor, query, found) : null) ??
    (await listItems(tx, vault, totals, actor, within(query, found)));
  return { items: await withHits(tx, vault, actor, items, search), total };
}

/** If there are no other filters and the actor sees everything, the index alone gives the total. Null: otherwise. */
async function listAll(tx: Tx, vault: Vault, actor: Actor, query: ListQuery, found: Found) {
  const { status, projectId, language, externalId, metadata, dateFrom, dateTo, confidenceBelow } = query;
  const narrower = projectId ?? language ?? externalId ?? dateFrom ?? dateTo ?? confidenceBelow ?? metadata[0];
  if (actor.role !== 'owner' || status !== 'completed' || narrower !== undefined) return null;
  await planForLists(tx);
  const { limit, offset, sort } = query;
  const beside = { sql: '?::bigint as total', parameters: [found.count] };
  const within = matching(actor, query, {}, sort.endsWith('duration') ? 'duration_seconds' : undefined);
  const rows = await readRows<{ total: string }>(tx, actor, { found: within, order: ORDERS[sort], limit, offset, beside });
  return { items: await toItems(vault, rows), total: found.count };
}

/** Items with their matching passages. */
export async function withHits(tx: Tx, vault: Vault, actor: Actor, items: readonly Item[], { text }: Search): Promise<FoundItem[]> {
  const turns = await readTurns(
    tx,
    vault,
    actor.workspaceId,
    items.map(({ id }) => id),
  );
  return items.map((item) => ({ ...item, hits: hitsOf(turns.get(item.id) ?? [], text, LIMITS.SEARCH_HITS) }));
}
