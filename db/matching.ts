import { createHash } from 'node:crypto';
import { type SORTS, STATUSES } from '../api/contract/transcription.ts';
import { LANGUAGE } from './items.ts';
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

/** What a query matches: SQL to go behind `from`, with its parameters in order, and the names of columns in it. */
export interface Matching {
  sql: string;
  parameters: unknown[];
  id: string;
  createdAt: string;
}

/** Terms that are joined; more are asked of each candidate, for planning a join of hundreds of tables takes for ever. */
const JOINED = 3;

/**
 * The transcriptions that a viewer finds. Filters on metadata lead, by `metadata_terms`: that index is in the order of creation, and answers
 * alone where nothing else is asked (`withRow`: a column of `transcriptions t` is).
 */
export function matching(viewer: Viewer, query: ListQuery, withRow: boolean): Matching {
  const terms = query.metadata.map(({ key, value }) => termOf(key, value));
  const [led, asked] = [terms.slice(0, JOINED), terms.slice(JOINED)];
  const owns = viewer.role === 'owner' && (query.projectId ?? query.language ?? query.externalId) === undefined;
  const rows = !led.length || withRow || !owns;
  const names = led.length ? { id: 'm0.transcription_id', createdAt: 'm0.created_at' } : { id: 't.id', createdAt: 't.created_at' };
  if (!answerable(query)) return { sql: 'transcriptions t where false', parameters: [], id: 't.id', createdAt: 't.created_at' };
  const parts: Condition[] = led.map((term, i) => ({
    sql: `m${i}.workspace_id = ?::uuid and m${i}.term = ?::uuid and m${i}.status = ?`,
    parameters: [viewer.workspaceId, term, query.status],
  }));
  if (asked.length)
    parts.push({
      sql: `(select count(*) from metadata_terms x
        where x.workspace_id = ?::uuid and x.transcription_id = m0.transcription_id and x.term = any(?::uuid[])) = ?`,
      parameters: [viewer.workspaceId, asked, new Set(asked).size],
    });
  if (rows) parts.push(visible(viewer), { sql: 't.status = ?', parameters: [query.status] });
  const add = (sql: string, value: string | undefined) => value !== undefined && parts.push({ sql, parameters: [value] });
  add('t.project_id = ?', query.projectId);
  add(`${LANGUAGE} = ?`, query.language);
  add('t.external_id = ?', query.externalId);
  add(`${names.createdAt} >= ?::timestamp at time zone 'utc'`, query.dateFrom);
  add(`${names.createdAt} < (?::timestamp + interval '1 day') at time zone 'utc'`, query.dateTo);
  const tables = [...led.map((_, i) => `metadata_terms m${i}`), ...(rows ? ['transcriptions t'] : [])];
  const joins = [...led.slice(1).map((_, i) => `m${i + 1}.transcription_id`), ...(rows && led.length ? ['t.id'] : [])];
  const where = [...joins.map((column) => `${column} = ${names.id}`), ...parts.map(({ sql }) => `(${sql})`)].join(' and ');
  return { sql: `${tables.join(', ')} where ${where}`, parameters: parts.flatMap(({ parameters }) => parameters), ...names };
}

/** False when nothing can match: an unknown status, or U+0000, which PostgreSQL refuses. */
function answerable({ status, language, externalId, metadata }: ListQuery): boolean {
  const texts = [language, externalId, ...metadata.flatMap(({ key, value }) => [key, value])];
  return (STATUSES as readonly string[]).includes(status) && !texts.some((text) => text?.includes('\0'));
}

/** As metadata_term() in the database: a plain parameter, so that the statistics of this very value decide how to search. */
export function termOf(key: string, value: string): string {
  return createHash('sha256').update(key).update('\0').update(value).digest('hex').slice(0, 32);
}
