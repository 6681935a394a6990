import type { Actor } from '../../api/contract/actor.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import type { Matching } from './filter.ts';
import { ITEM_COLUMNS, type Item, type ItemRow, toItem } from './list-row.ts';

/* SQL: pages of lists with controlled query plans. */

/**
 * Planner settings for lists. A filter matches one row or a million, so a generic plan may be unsuitable, and JIT compilation takes longer
 * than execution. Data is in memory or on a solid-state disk, no row is looked up twice, and joins hash in memory.
 */
const PLANNED = Object.entries({
  plan_cache_mode: 'force_custom_plan',
  jit: 'off',
  random_page_cost: '1.1',
  enable_memoize: 'off',
  work_mem: '64MB',
})
  .map(([name, value]) => `set_config('${name}', '${value}', true)`)
  .join(', ');

/** Applies these settings to the rest of the transaction. */
export async function planForLists(tx: Tx): Promise<void> {
  await tx.rows(`select ${PLANNED}`);
}

export interface Wanted {
  /** Selects `id` and what `order` names, as `s`. */
  found: Matching;
  order: string;
  limit: number;
  offset: number;
  /** Additional columns of every row, from the same snapshot. */
  beside: Matching;
  /** More columns of `transcriptions t`. */
  also?: string;
}

/** The rows of a page in order; a single row without a position if the page is empty. */
export function readRows<B extends object>(tx: Tx, actor: Actor, { found, order, limit, offset, beside, also }: Wanted) {
  return tx.rows<ItemRow & B & { place: string | null }>(
    `select c.*, page.* from (select ${beside.sql}) c
     left join lateral (
       select ${ITEM_COLUMNS}, found.place${also ? `, ${also}` : ''}
       from (select ids.id, row_number() over () as place
         from (select s.id from (${found.sql}) s order by ${order} limit ? offset ?) ids) found
       join transcriptions t on t.id = found.id and t.workspace_id = ?::uuid
       left join projects p on p.id = t.project_id and p.workspace_id = t.workspace_id) page on true
     order by page.place`,
    [...beside.parameters, ...found.parameters, limit, offset, actor.workspaceId],
  );
}

/** The items of rows that have a position. */
export async function toItems(vault: Vault, rows: readonly (ItemRow & { place: string | null })[]): Promise<Item[]> {
  const items = await Promise.all(rows.filter((row) => row.place !== null).map((row) => toItem(vault, row)));
  return items.map(({ item }) => item);
}
