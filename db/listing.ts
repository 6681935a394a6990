import { ITEM_COLUMNS, type Item, type ItemRow, toItem } from './items.ts';
import { type ListQuery, type Matching, matching } from './matching.ts';
import type { Tx } from './orm.ts';
import type { Vault } from './vault.ts';
import { type Viewer, visible } from './visibility.ts';

/** Ties always break by id, upwards; an index gives the leading order and PostgreSQL sorts within equal values. */
const ORDERS: Record<ListQuery['sort'], (found: Matching) => string> = {
  created_at: ({ createdAt, id }) => `${createdAt}, ${id}`,
  '-created_at': ({ createdAt, id }) => `${createdAt} desc, ${id}`,
  duration: ({ id }) => `t.duration_seconds asc nulls last, ${id}`,
  '-duration': ({ id }) => `t.duration_seconds desc nulls last, ${id}`,
};

/** One page of what the viewer sees, with the number of all matches, both of one moment. */
export async function listItems(tx: Tx, vault: Vault, viewer: Viewer, query: ListQuery): Promise<{ items: Item[]; total: number }> {
  const counted = matching(viewer, query, false);
  const sorted = matching(viewer, query, query.sort.endsWith('duration'));
  await tx.rows('set local plan_cache_mode = force_custom_plan'); // a filter finds one row or a million
  const rows = await tx.rows<ItemRow & { total: string; place: string | null }>(
    `select c.total, page.* from (select count(*) as total from ${counted.sql}) c
     left join lateral (
       select ${ITEM_COLUMNS}, found.place
       from (select ids.id, row_number() over () as place
         from (select ${sorted.id} as id from ${sorted.sql} order by ${ORDERS[query.sort](sorted)} limit ? offset ?) ids) found
       join transcriptions t on t.id = found.id and t.workspace_id = ?::uuid
       left join projects p on p.id = t.project_id and p.workspace_id = t.workspace_id) page on true
     order by page.place`,
    [...counted.parameters, ...sorted.parameters, query.limit, query.offset, viewer.workspaceId],
  );
  const found = rows.filter((row) => row.place !== null);
  const items = await Promise.all(found.map((row) => toItem(vault, row)));
  return { items: items.map(({ item }) => item), total: Number(rows[0]!.total) };
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
