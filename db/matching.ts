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

/**
 * The transcriptions that a viewer finds. The first filter on metadata leads, by `metadata_terms`: that index is in the order of creation,
 * and answers alone where nothing else is asked (`withRow`: a column of `transcriptions t` is).
 */
export function matching(viewer: Viewer, query: ListQuery, withRow: boolean): Matching {
  const [first, ...more] = query.metadata;
  const alone = first && !withRow && viewer.role === 'owner' && (query.projectId ?? query.language ?? query.externalId) === undefined;
  const names = first ? { id: 'm.transcription_id', createdAt: 'm.created_at' } : { id: 't.id', createdAt: 't.created_at' };
  if (!answerable(query)) return { sql: 'transcriptions t where false', parameters: [], id: 't.id', createdAt: 't.created_at' };
  const term = (name: string, { key, value }: { key: string; value: string }): Condition => ({
    sql: `${name}.workspace_id = ?::uuid and ${name}.term = ?::uuid and ${name}.status = ?`,
    parameters: [viewer.workspaceId, termOf(key, value), query.status],
  });
  const parts: Condition[] = first ? [term('m', first)] : [];
  for (const filter of more) {
    const { sql, parameters } = term('x', filter);
    parts.push({ sql: `exists (select 1 from metadata_terms x where x.transcription_id = m.transcription_id and ${sql})`, parameters });
  }
  if (!alone) parts.push(visible(viewer), { sql: 't.status = ?', parameters: [query.status] });
  const add = (sql: string, value: string | undefined) => value !== undefined && parts.push({ sql, parameters: [value] });
  add('t.project_id = ?', query.projectId);
  add(`${LANGUAGE} = ?`, query.language);
  add('t.external_id = ?', query.externalId);
  add(`${names.createdAt} >= ?::timestamp at time zone 'utc'`, query.dateFrom);
  add(`${names.createdAt} < (?::timestamp + interval '1 day') at time zone 'utc'`, query.dateTo);
  const joined = alone ? '' : ' join transcriptions t on t.id = m.transcription_id';
  const where = parts.map(({ sql }) => `(${sql})`).join(' and ');
  return {
    sql: `${first ? `metadata_terms m${joined}` : 'transcriptions t'} where ${where}`,
    parameters: parts.flatMap(({ parameters }) => parameters),
    ...names,
  };
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
