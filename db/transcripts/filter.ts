import { createHash } from 'node:crypto';
import type { Actor } from '../../api/contract/actor.ts';
import { type SORTS, STATUSES, type Status } from '../../api/contract/transcription.ts';
import type { Found } from '../search/match.ts';
import { type Condition, visible } from '../tenants/visibility.ts';
import { LANGUAGE } from './list-row.ts';

/** All filters are combined. Text matches exactly. */
export interface ListQuery {
  /** Several: any of them. */
  status: string | readonly Status[];
  projectId?: string;
  language?: string;
  externalId?: string;
  /** Literal top-level keys, and the JSON text of a scalar or of an array's element. */
  metadata: readonly { key: string; value: string }[];
  /** YYYY-MM-DD, UTC, both days included. */
  dateFrom?: string;
  dateTo?: string;
  /** Only matches of this search; with their numbers if each is to be looked up. */
  found?: Pick<Found, 'bits' | 'digest'> & { numbers: number[] | null };
  /** Only those with a mean confidence below this, 0 to 1. */
  confidenceBelow?: number;
  /** Only those changed at this time or later. */
  updatedSince?: string;
  sort: (typeof SORTS)[number];
  limit: number;
  offset: number;
}

/** Days of creation, YYYY-MM-DD: from the first (inclusive) to the second (exclusive). */
export interface Days {
  from?: string;
  before?: string;
}

/** SQL that selects `id` and `created_at` of a query's matches, with its parameters in order. */
export interface Matching {
  sql: string;
  parameters: unknown[];
}

/**
 * Number of terms that are joined. Further ones are checked per candidate, because planning a join of hundreds of tables takes too long.
 */
const JOINED = 3;

/** Columns of `transcriptions t` that a list can be ordered by, besides `created_at`. */
export type Ordering = 'duration_seconds' | 'changed_in';

/**
 * Matches of a query among the transcriptions visible to an actor, created on these days. Metadata filters come first, by `metadata_terms`,
 * whose index is in order of creation and suffices if there are no other filters. `ordering` is selected too.
 */
export function matching(actor: Actor, query: ListQuery, days: Days = {}, ordering?: Ordering): Matching {
  const { status } = query;
  if (typeof status !== 'string') return eachOf(status.map((one) => matching(actor, { ...query, status: one }, days, ordering)));
  const also = ordering ? `, t.${ordering}` : '';
  if (!answerable(query)) return { sql: `select t.id, t.created_at${also} from transcriptions t where false`, parameters: [] };
  const { workspaceId } = actor;
  const terms = query.metadata.map(({ key, value }) => termOf(key, value));
  const [led, asked] = [terms.slice(0, JOINED), terms.slice(JOINED)];
  const { projectId, language, externalId, found, confidenceBelow, updatedSince } = query;
  const owns = actor.role === 'owner' && (projectId ?? language ?? externalId ?? found ?? confidenceBelow ?? updatedSince) === undefined;
  const rows = !led.length || ordering !== undefined || !owns;
  const [id, createdAt] = led.length ? ['m0.transcription_id', 'm0.created_at'] : ['t.id', 't.created_at'];
  const parts: Condition[] = led.map((term, i) => ({
    sql: `m${i}.workspace_id = ?::uuid and m${i}.term = ?::uuid and m${i}.status = ?`,
    parameters: [workspaceId, term, status],
  }));
  if (asked.length)
    parts.push({
      sql: `(select count(*) from metadata_terms x where x.workspace_id = ?::uuid and x.transcription_id = ${id} and x.term = any(?::uuid[])) = ?`,
      parameters: [workspaceId, asked, new Set(asked).size],
    });
  if (rows) parts.push(visible(actor), { sql: 't.status = ?', parameters: [status] });
  const add = (sql: string, value: unknown) => value !== undefined && parts.push({ sql, parameters: [value] });
  add('t.project_id = ?', projectId);
  add(`${LANGUAGE} = ?`, language);
  add('t.external_id = ?', externalId);
  add('t.confidence < ?::real', confidenceBelow);
  add('t.updated_at >= ?::timestamptz', updatedSince);
  if (found?.numbers) {
    add('d.workspace_id = ?::uuid', workspaceId);
    add('d.number = any (?::integer[])', found.numbers);
  } else if (found)
    // looked up per candidate, in the order of the list; bit 0 is never set and stands for no number, or one assigned after the bitmap
    parts.push({
      sql: `get_bit(?::bytea, coalesce((select d.number from search_documents d where d.workspace_id = ?::uuid and d.transcription_id = ${id} and d.number < ?), 0)) = 1`,
      parameters: [found.bits, workspaceId, found.bits.length * 8],
    });
  // on every joined table: the planner does not know that the columns are equal
  for (const column of [...led.map((_, i) => `m${i}.created_at`), ...(rows ? ['t.created_at'] : [])]) {
    add(`${column} >= ?::timestamp at time zone 'utc'`, query.dateFrom);
    add(`${column} < (?::timestamp + interval '1 day') at time zone 'utc'`, query.dateTo);
    add(`${column} >= ?::timestamp at time zone 'utc'`, days.from);
    add(`${column} < ?::timestamp at time zone 'utc'`, days.before);
  }
  const tables = [
    ...led.map((_, i) => `metadata_terms m${i}`),
    ...(rows ? ['transcriptions t'] : []),
    ...(found?.numbers ? ['search_documents d'] : []),
  ];
  const joins = [
    ...led.slice(1).map((_, i) => `m${i + 1}.transcription_id`),
    ...(rows && led.length ? ['t.id'] : []),
    ...(found?.numbers ? ['d.transcription_id'] : []),
  ];
  const where = [...joins.map((column) => `${column} = ${id}`), ...parts.map(({ sql }) => `(${sql})`)].join(' and ');
  return {
    sql: `select ${id} as id, ${createdAt} as created_at${also} from ${tables.join(', ')} where ${where}`,
    parameters: parts.flatMap(({ parameters }) => parameters),
  };
}

/** All matches of several lists without common rows. Each keeps its index: the planner merges them in the order of the page. */
function eachOf(lists: readonly Matching[]): Matching {
  return { sql: lists.map(({ sql }) => sql).join(' union all '), parameters: lists.flatMap(({ parameters }) => parameters) };
}

/** False if nothing can match: an unknown status, or U+0000, which PostgreSQL rejects. */
function answerable({ status, language, externalId, metadata }: ListQuery): boolean {
  const texts = [language, externalId, ...metadata.flatMap(({ key, value }) => [key, value])];
  return (typeof status !== 'string' || (STATUSES as readonly string[]).includes(status)) && !texts.some((text) => text?.includes('\0'));
}

/** As metadata_term() in the database: computed here, so that the planner uses the statistics of this value. */
export function termOf(key: string, value: string): string {
  return createHash('sha256').update(key).update('\0').update(value).digest('hex').slice(0, 32);
}
