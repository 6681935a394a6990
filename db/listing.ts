import { createHash } from 'node:crypto';
import { type SORTS, STATUSES } from '../api/contract/transcription.ts';
import { ITEM_COLUMNS, type Item, type ItemRow, LANGUAGE, toItem } from './items.ts';
import type { Tx } from './orm.ts';
import type { Vault } from './vault.ts';
import { type Condition, type Viewer, visible } from './visibility.ts';

/** All filters combine. Text matches exactly. */
export interface ListQuery {
  status: string;
  projectId?: string;
  language?: string;
  externalId?: string;
  /** Literal top-level keys and the JSON text of a scalar, or of an element of an array. */
  metadata: readonly { key: string; value: string }[];
  /** YYYY-MM-DD, UTC, both days included. */
  dateFrom?: string;
  dateTo?: string;
  sort: (typeof SORTS)[number];
  limit: number;
  offset: number;
}

/** Ties always break by id, upwards; an index gives the leading order and PostgreSQL sorts within equal values. */
const ORDERS: Record<(typeof SORTS)[number], string> = {
  created_at: 't.created_at, t.id',
  '-created_at': 't.created_at desc, t.id',
  duration: 't.duration_seconds asc nulls last, t.id',
  '-duration': 't.duration_seconds desc nulls last, t.id',
};

/** One page of what the viewer sees, with the number of all matches, both of one moment. */
export async function listItems(tx: Tx, vault: Vault, viewer: Viewer, query: ListQuery): Promise<{ items: Item[]; total: number }> {
  const where = conditions(viewer, query);
  const matching = termsOnly(viewer, query) ?? { sql: `transcriptions t where ${where.sql}`, parameters: where.parameters };
  const order = ORDERS[query.sort];
  await tx.rows('set local plan_cache_mode = force_custom_plan'); // a filter finds one row or a million
  const rows = await tx.rows<ItemRow & { total: string; place: string | null }>(
    `select c.total, page.* from (select count(*) as total from ${matching.sql}) c
     left join lateral (
       select ${ITEM_COLUMNS}, found.place
       from (select ids.id, row_number() over () as place
         from (select t.id from transcriptions t where ${where.sql} order by ${order} limit ? offset ?) ids) found
       join transcriptions t on t.id = found.id and t.workspace_id = ?::uuid
       left join projects p on p.id = t.project_id and p.workspace_id = t.workspace_id) page on true
     order by page.place`,
    [...matching.parameters, ...where.parameters, query.limit, query.offset, viewer.workspaceId],
  );
  const found = rows.filter((row) => row.place !== null);
  const items = await Promise.all(found.map((row) => toItem(vault, row)));
  return { items: items.map(({ item }) => item), total: Number(rows[0]!.total) };
}

/** False when nothing can match: an unknown status, or U+0000, which PostgreSQL refuses. */
function answerable({ status, language, externalId, metadata }: ListQuery): boolean {
  const texts = [language, externalId, ...metadata.flatMap(({ key, value }) => [key, value])];
  return (STATUSES as readonly string[]).includes(status) && !texts.some((text) => text?.includes('\0'));
}

function conditions(viewer: Viewer, query: ListQuery): Condition {
  if (!answerable(query)) return { sql: 'false', parameters: [] };
  const parts: Condition[] = [visible(viewer), { sql: 't.status = ?', parameters: [query.status] }];
  const add = (sql: string, value: string | undefined) => value !== undefined && parts.push({ sql, parameters: [value] });
  add('t.project_id = ?', query.projectId);
  add(`${LANGUAGE} = ?`, query.language);
  add('t.external_id = ?', query.externalId);
  add(`t.created_at >= ?::timestamp at time zone 'utc'`, query.dateFrom);
  add(`t.created_at < (?::timestamp + interval '1 day') at time zone 'utc'`, query.dateTo);
  for (const filter of query.metadata) parts.push(metadataIs(viewer, query, filter));
  return { sql: parts.map(({ sql }) => `(${sql})`).join(' and '), parameters: parts.flatMap((part) => part.parameters) };
}

/** The value is compared with the text of a scalar as it was received, or of an element of an array: the rows of `metadata_terms`. */
function metadataIs(viewer: Viewer, query: ListQuery, { key, value }: { key: string; value: string }): Condition {
  return {
    sql: `exists (select 1 from metadata_terms m where m.transcription_id = t.id and m.workspace_id = ?::uuid
      and m.term = ?::uuid and m.status = ?)`,
    parameters: [viewer.workspaceId, termOf(key, value), query.status],
  };
}

/** What is counted for an owner who filters by one key only: one range of one index. Null for everybody and everything else. */
function termsOnly(viewer: Viewer, query: ListQuery): Condition | null {
  const [filter, more] = query.metadata;
  const others = more ?? query.projectId ?? query.language ?? query.externalId ?? query.dateFrom ?? query.dateTo;
  if (viewer.role !== 'owner' || !filter || others !== undefined || !answerable(query)) return null;
  return {
    sql: 'metadata_terms m where m.workspace_id = ?::uuid and m.term = ?::uuid and m.status = ?',
    parameters: [viewer.workspaceId, termOf(filter.key, filter.value), query.status],
  };
}

/** As metadata_term() in the database: a plain parameter, so that the statistics of this very value decide how to search. */
export function termOf(key: string, value: string): string {
  return createHash('sha256').update(key).update('\0').update(value).digest('hex').slice(0, 32);
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
