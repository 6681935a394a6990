import type { Actor } from '../../api/contract/actor.ts';
import type { Tx } from '../postgres/orm.ts';
import { type Bits, both, count, emptyBits, has, numbersOf, set } from '../search/bits.ts';
import type { Found } from '../search/match.ts';
import type { Vault } from '../secrets/vault.ts';
import { type ListQuery, type Matching, matching } from './filter.ts';
import { filterKey, ORDERS } from './list.ts';
import type { Item } from './list-row.ts';
import { FEW, lookUp } from './lookup.ts';
import { planForLists, readRows, toItems } from './page.ts';
import { LIST_VERSION, type Screen, type Totals } from './totals.ts';

/* SQL: lists, whose plans matter. */

/*
 * Search within filters. Joining hundreds of thousands of matches of the index with the rows that pass a filter takes a second. So the numbers
 * of all transcriptions that pass a filter, whatever the search, are cached as a bitmap and in the default order, until the list of those days
 * changes. Transcriptions of today and those indexed later are queried each time.
 */

const ORDERED = 500_000; // numbers cached in order per filter: 2 MB

interface PageRow {
  version: string;
  late: string;
  fresh: string;
}

/** One page with the total. Null: the list is changing too fast for a cache, or the query has no cacheable filter. */
export async function listScreened(
  tx: Tx,
  vault: Vault,
  totals: Totals,
  actor: Actor,
  query: ListQuery,
  found: Found,
): Promise<{ items: Item[]; total: number } | null> {
  if (query.updatedSince !== undefined) return null;
  await planForLists(tx);
  const filter = filterKey(actor, { ...query, found: undefined });
  const day = new Date().toISOString().slice(0, 10);
  const remembered = totals.screens.get(filter);
  for (const known of [remembered, undefined]) {
    const usable = known?.day === day && tail(found.bits, known.last) !== null;
    const screen = usable ? known : await readScreen(tx, actor, query, day);
    if (screen !== known) totals.screens.set(filter, screen);
    const page = await readPage(tx, actor, query, screen, found);
    if (page.version === screen.version) return { items: await toItems(vault, page.rows), total: page.total };
  }
  return null;
}

async function readScreen(tx: Tx, actor: Actor, query: ListQuery, day: string): Promise<Screen> {
  const passing = matching(actor, { ...query, found: undefined }, { before: day });
  const row = await tx.row<{ version: string; last: number; numbers: string }>(
    `select ${LIST_VERSION} as version, coalesce((select s.last_number from search_states s where s.workspace_id = ?::uuid), 0) as last,
       (select coalesce(string_agg(d.number::text, ',' order by b.created_at desc, b.id), '') from (${passing.sql}) b
        join search_documents d on d.transcription_id = b.id and d.workspace_id = ?::uuid) as numbers`,
    [actor.workspaceId, day, actor.workspaceId, ...passing.parameters, actor.workspaceId],
  );
  const { version, last } = row!;
  const numbers = row!.numbers === '' ? [] : row!.numbers.split(',').map(Number);
  const bits = emptyBits(last + 1);
  set(bits, numbers);
  return { day, version, last, bits, newestFirst: numbers.length <= ORDERED ? Uint32Array.from(numbers) : null };
}

async function readPage(tx: Tx, actor: Actor, query: ListQuery, screen: Screen, { bits, digest }: Found) {
  const { day, last } = screen;
  const { limit, offset, sort } = query;
  const old = both(bits, screen.bits);
  const oldCount = count(old);
  const late = tail(bits, last)!;
  const among = (numbers: number[], ordering?: 'duration_seconds') =>
    matching(actor, { ...query, found: { bits, numbers, digest } }, { before: day }, ordering);
  const today = (ordering?: 'duration_seconds') =>
    matching(actor, { ...query, found: { bits, numbers: null, digest } }, { from: day }, ordering);
  const numbers = newest(screen, old, query) ?? lookUp(old, query, screen.bits);
  const wanted = numbers && union(among([...numbers, ...late], 'duration_seconds'), today('duration_seconds'));
  const all = { ...query, found: { bits, numbers: null, digest } };
  const [since, after] = [today(), among(late)];
  const beside = {
    sql: `${LIST_VERSION} as version, ${late.length ? `(select count(*) from (${after.sql}) b)` : '0'} as late, (select count(*) from (${since.sql}) f) as fresh`,
    parameters: [actor.workspaceId, day, ...(late.length ? after.parameters : []), ...since.parameters],
  };
  const rows = await readRows<PageRow>(tx, actor, {
    found: wanted ?? matching(actor, all, {}, sort.endsWith('duration') ? 'duration_seconds' : undefined),
    order: ORDERS[sort],
    ...{ limit, offset, beside },
  });
  const { version, late: lately, fresh } = rows[0]!;
  return { rows, version, total: oldCount + Number(lately) + Number(fresh) };
}

/** The matches up to the end of the page, if it is one of the first in the default order. Null: otherwise. */
function newest({ newestFirst }: Screen, matches: Bits, { sort, limit, offset }: ListQuery): number[] | null {
  const wanted = offset + limit;
  if (!newestFirst || sort !== '-created_at' || wanted > FEW) return null;
  const numbers: number[] = [];
  for (let at = 0; at < newestFirst.length && numbers.length < wanted; at++)
    if (has(matches, newestFirst[at]!)) numbers.push(newestFirst[at]!);
  return numbers;
}

function union(a: Matching, b: Matching): Matching {
  return { sql: `${a.sql} union all ${b.sql}`, parameters: [...a.parameters, ...b.parameters] };
}

/** The numbers greater than `above`; null: too many to look up. */
function tail(bits: Bits, above: number): number[] | null {
  const numbers: number[] = [];
  for (const number of numbersOf(bits, above)) if (numbers.push(number) > FEW) return null;
  return numbers;
}
