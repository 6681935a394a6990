import { createHash } from 'node:crypto';
import type { Actor } from '../../api/contract/actor.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { visible } from '../tenants/visibility.ts';
import { type ListQuery, type Matching, matching } from './filter.ts';
import { ITEM_COLUMNS, type Item, type ItemRow, toItem } from './list-row.ts';
import { planForLists, readRows, toItems } from './page.ts';
import { type Counted, FEW, LIST_VERSION, type Totals } from './totals.ts';

/* SQL: lists with controlled query plans. */

/** Ties are always broken by ascending id; an index gives the leading order and PostgreSQL sorts within equal values. */
export const ORDERS: Record<ListQuery['sort'], string> = {
  created_at: 's.created_at, s.id',
  '-created_at': 's.created_at desc, s.id',
  duration: 's.duration_seconds asc nulls last, s.id',
  '-duration': 's.duration_seconds desc nulls last, s.id',
};

interface PageRow {
  version: string;
  old: string | null;
  fresh: string;
}

/** One page of the transcriptions visible to the actor, with the number of all matches, in one snapshot. */
export async function listItems(
  tx: Tx,
  vault: Vault,
  totals: Totals,
  actor: Actor,
  query: ListQuery,
): Promise<{ items: Item[]; total: number }> {
  await planForLists(tx);
  const filter = filterKey(actor, query);
  const day = new Date().toISOString().slice(0, 10);
  const remembered = totals.find(filter);
  let known = remembered?.day === day ? remembered : await count(tx, actor, query, day);
  let rows = await page(tx, actor, query, day, known);
  if (known === remembered && rows[0]!.version !== known.version) {
    known = await count(tx, actor, query, day);
    rows = await page(tx, actor, query, day, known);
  }
  if (rows[0]!.version !== known.version) {
    rows = await page(tx, actor, query, day, null); // previous days are changing constantly: query both together
    known = { day, version: rows[0]!.version, total: Number(rows[0]!.old), ids: null };
  }
  if (known !== remembered) totals.keep(filter, known);
  return { items: await toItems(vault, rows), total: known.total + Number(rows[0]!.fresh) };
}

/** Names what an actor finds, whatever the page and its order. */
export function filterKey(actor: Actor, query: ListQuery): string {
  const { limit: _limit, offset: _offset, sort: _sort, found, ...filters } = query;
  const asked = JSON.stringify([actor.workspaceId, actor.role === 'owner' || actor.memberId, filters, found?.digest]);
  return createHash('sha256').update(asked).digest('base64');
}

/**
 * The rows of the page, each with the counts; a single row without a position if the page is empty. Known results for previous days are
 * neither counted nor, if their ids are known, searched again: they are valid if the version is unchanged.
 */
function page(tx: Tx, actor: Actor, query: ListQuery, day: string, known: Counted | null) {
  const before = matching(actor, query, { before: day });
  const since = matching(actor, query, { from: day });
  const found = known?.ids
    ? among(actor, query, day, known.ids)
    : matching(actor, query, {}, query.sort.endsWith('duration') ? 'duration_seconds' : undefined);
  const beside = {
    sql: `${LIST_VERSION} as version, ${known ? 'null' : `(select count(*) from (${before.sql}) b)`} as old,
      (select count(*) from (${since.sql}) f) as fresh`,
    parameters: [actor.workspaceId, day, ...(known ? [] : before.parameters), ...since.parameters],
  };
  const { sort, limit, offset } = query;
  return readRows<PageRow>(tx, actor, { found, order: ORDERS[sort], limit, offset, beside });
}

/** Known ids of the days before `day`, and matches since. */
function among(actor: Actor, query: ListQuery, day: string, ids: readonly string[]): Matching {
  const since = matching(actor, query, { from: day }, 'duration_seconds');
  return {
    sql: `select t.id, t.created_at, t.duration_seconds from transcriptions t where t.workspace_id = ?::uuid and t.id = any(?::uuid[])
      union all ${since.sql}`,
    parameters: [actor.workspaceId, ids, ...since.parameters],
  };
}

/** Counts matches of the days before `day`, and reads their ids if there are few. */
async function count(tx: Tx, actor: Actor, query: ListQuery, day: string): Promise<Counted> {
  const { sql, parameters } = matching(actor, query, { before: day });
  const ask = (what: string) =>
    tx.row<{ version: string; found: unknown }>(`select ${LIST_VERSION} as version, (select ${what} from (${sql}) b) as found`, [
      actor.workspaceId,
      day,
      ...parameters,
    ]);
  const { version, found } = (await ask('count(*)'))!;
  const total = Number(found);
  const few = total <= FEW ? await ask(`coalesce(json_agg(b.id), '[]')`) : null;
  return { day, version, total, ids: few?.version === version ? (few.found as string[]) : null };
}

/** Id and title of those among `ids` that the actor can see, in the order of `ids`. */
export async function listTitles(
  tx: Tx,
  vault: Vault,
  actor: Actor,
  ids: readonly string[],
): Promise<{ id: string; title: string | null }[]> {
  const { sql, parameters } = visible(actor);
  const rows = await tx.rows<ItemRow>(
    `select ${ITEM_COLUMNS} from jsonb_array_elements_text(?::jsonb) with ordinality as q(id, place)
     join transcriptions t on t.id = q.id::uuid left join projects p on p.id = t.project_id and p.workspace_id = t.workspace_id
     where ${sql} order by q.place`,
    [JSON.stringify(ids), ...parameters],
  );
  const items = await Promise.all(rows.map((row) => toItem(vault, row)));
  return items.map(({ item }) => ({ id: item.id, title: item.title }));
}
