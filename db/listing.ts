import { createHash } from 'node:crypto';
import { ITEM_COLUMNS, type Item, type ItemRow, toItem } from './items.ts';
import { type ListQuery, type Matching, matching } from './matching.ts';
import type { Tx } from './orm.ts';
import { LIST_VERSION, type Totals } from './totals.ts';
import type { Vault } from './vault.ts';
import { type Viewer, visible } from './visibility.ts';

/** Ties always break by id, upwards; an index gives the leading order and PostgreSQL sorts within equal values. */
const ORDERS: Record<ListQuery['sort'], (found: Matching) => string> = {
  created_at: ({ createdAt, id }) => `${createdAt}, ${id}`,
  '-created_at': ({ createdAt, id }) => `${createdAt} desc, ${id}`,
  duration: ({ id }) => `t.duration_seconds asc nulls last, ${id}`,
  '-duration': ({ id }) => `t.duration_seconds desc nulls last, ${id}`,
};

interface PageRow extends ItemRow {
  version: string;
  old: string | null;
  fresh: string;
  place: string | null;
}

/** One page of what the viewer sees, with the number of all matches, both of one moment. */
export async function listItems(
  tx: Tx,
  vault: Vault,
  totals: Totals,
  viewer: Viewer,
  query: ListQuery,
): Promise<{ items: Item[]; total: number }> {
  // A filter finds one row or a million: what is planned for one may not serve another, and compiling a plan takes longer than running it.
  await tx.rows(`select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true)`);
  const { limit: _limit, offset: _offset, sort: _sort, ...filters } = query;
  const asked = JSON.stringify([viewer.workspaceId, viewer.role === 'owner' || viewer.memberId, filters]);
  const filter = createHash('sha256').update(asked).digest('base64');
  const day = new Date().toISOString().slice(0, 10);
  const known = totals.find(filter);
  let rows = await page(tx, viewer, query, day, known?.day !== day);
  if (rows[0]!.old === null && rows[0]!.version !== known?.version) rows = await page(tx, viewer, query, day, true);
  const { version, old, fresh } = rows[0]!;
  const total = old === null ? known!.total : Number(old);
  if (old !== null) totals.keep(filter, { day, version, total });
  const found = rows.filter((row) => row.place !== null);
  const items = await Promise.all(found.map((row) => toItem(vault, row)));
  return { items: items.map(({ item }) => item), total: total + Number(fresh) };
}

/** The rows of the page, each with the counts; one row without a place when the page is empty. `old` is null unless `count`. */
function page(tx: Tx, viewer: Viewer, query: ListQuery, day: string, count: boolean): Promise<PageRow[]> {
  const counted = matching(viewer, query, false);
  const sorted = matching(viewer, query, query.sort.endsWith('duration'));
  const split = (sign: string) => `(select count(*) from ${counted.sql} and ${counted.createdAt} ${sign} ?::timestamp at time zone 'utc')`;
  const days = [...counted.parameters, day];
  return tx.rows<PageRow>(
    `select c.*, page.* from (select ${LIST_VERSION} as version, ${count ? split('<') : 'null'} as old, ${split('>=')} as fresh) c
     left join lateral (
       select ${ITEM_COLUMNS}, found.place
       from (select ids.id, row_number() over () as place
         from (select ${sorted.id} as id from ${sorted.sql} order by ${ORDERS[query.sort](sorted)} limit ? offset ?) ids) found
       join transcriptions t on t.id = found.id and t.workspace_id = ?::uuid
       left join projects p on p.id = t.project_id and p.workspace_id = t.workspace_id) page on true
     order by page.place`,
    [
      ...[viewer.workspaceId, day, ...(count ? days : []), ...days],
      ...[...sorted.parameters, query.limit, query.offset, viewer.workspaceId],
    ],
  );
}

/** Id and title of those among `ids` that the viewer sees, in the order of `ids`. */
export async function listTitles(
  tx: Tx,
  vault: Vault,
  viewer: Viewer,
  ids: readonly string[],
): Promise<{ id: string; title: string | null }[]> {
  const { sql, parameters } = visible(viewer);
  const rows = await tx.rows<ItemRow>(
    `select ${ITEM_COLUMNS} from jsonb_array_elements_text(?::jsonb) with ordinality as q(id, place)
     join transcriptions t on t.id = q.id::uuid left join projects p on p.id = t.project_id and p.workspace_id = t.workspace_id
     where ${sql} order by q.place`,
    [JSON.stringify(ids), ...parameters],
  );
  const items = await Promise.all(rows.map((row) => toItem(vault, row)));
  return items.map(({ item }) => ({ id: item.id, title: item.title }));
}
