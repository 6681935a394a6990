import type { z } from 'zod';
import type { Tx } from '../../db/postgres/orm.ts';
import { whileWanted } from '../../db/postgres/wanted.ts';
import { cursorOf, listChanges, type Place, readCursor } from '../../db/transcripts/changes.ts';
import type { ListQuery } from '../../db/transcripts/filter.ts';
import { listFound, openSearch, type Search, withHits } from '../../db/transcripts/found.ts';
import { listItems } from '../../db/transcripts/list.ts';
import type { Item } from '../../db/transcripts/list-row.ts';
import { within } from '../../db/transcripts/lookup.ts';
import { invalid } from '../contract/errors.ts';
import { TranscriptionPage } from '../contract/transcription.ts';
import type { Request } from '../http/request.ts';
import { type Context, jsonText, route } from '../http/route.ts';
import { ITEM_EXAMPLE } from './examples.ts';
import { METADATA_PARAMETER, metadataFilters } from './metadata-filters.ts';
import { ListParameters } from './query.ts';
import { serialise } from './records.ts';

export const listTranscriptions = route({
  method: 'GET',
  path: '/v1/transcriptions',
  id: 'listTranscriptions',
  summary: 'List transcriptions',
  description:
    'Filters are combined with AND; unknown parameters that begin with `metadata` are refused. The last page is reached when offset plus the number of items is at least total. To follow changes, start with `updated_since`, then send `cursor` with the `next_cursor` of each response until a page has fewer items than `limit`; keep the last cursor for the next poll. No change is missed; an item that changes while you read may be returned twice.',
  tag: 'Transcriptions',
  access: { scope: 'read', scopeError: null },
  query: ListParameters,
  alsoQuery: { metadata: METADATA_PARAMETER },
  answers: {
    200: {
      description: 'A page of transcriptions',
      schema: TranscriptionPage,
      example: { items: [ITEM_EXAMPLE], total: 1, limit: 20, offset: 0 },
    },
  },
  errors: ['validation_error'],
  async handler(context) {
    const { caller, db, query, request } = context;
    const wanted = readWanted(context);
    const { items, total, ...more } = await whileWanted(request.signal, async () => {
      const search = await openSearchOf(context);
      return db.workspace(caller.workspaceId, (tx) => readPage(tx, context, wanted, search));
    });
    const page = JSON.stringify({ total, limit: query.limit, offset: query.offset, ...more }).slice(1);
    return jsonText(200, `{"items":[${items.map(serialise).join(',')}],${page}`);
  },
});

type Listing = Context<z.output<typeof ListParameters>>;

interface Wanted {
  query: ListQuery;
  /** Position in the order of changes; null: at its beginning. Undefined: not in that order. */
  after: Place | null | undefined;
}

/** The list filters for the verbs of db/. */
export function readFilters(query: Omit<Listing['query'], 'status' | 'q' | 'cursor'>, request: Request): Omit<ListQuery, 'status'> {
  const { project_id, external_id, date_from, date_to, confidence_below, updated_since, language, sort, limit, offset } = query;
  return {
    ...{ language, sort, limit, offset },
    ...{ projectId: project_id, externalId: external_id, dateFrom: date_from, dateTo: date_to },
    ...{ confidenceBelow: confidence_below, updatedSince: updated_since, metadata: metadataFilters(request.parameters) },
  };
}

function readWanted(context: Listing): Wanted {
  const { cursor, updated_since } = context.query;
  const after = cursor === undefined ? null : readCursor(cursor);
  if (cursor !== undefined && !after) throw invalid([{ field: 'cursor', message: 'must be the next_cursor of a response' }]);
  const byChange = after !== null || updated_since !== undefined;
  if (byChange && context.request.parameters.has('sort'))
    throw invalid([{ field: 'sort', message: 'cannot be combined with updated_since or cursor, which sort by change' }]);
  const { query, request } = context;
  return { query: { ...readFilters(query, request), status: query.status }, after: byChange ? after : undefined };
}

async function openSearchOf({ db, vault, caller, query: { q } }: Listing): Promise<Search | null> {
  if (q === undefined) return null;
  const search = await openSearch(db, vault, caller.workspaceId, q);
  if (!search) throw invalid([{ field: 'q', message: 'must contain a word' }]);
  return search;
}

interface Page {
  items: Item[];
  total: number;
  next_cursor?: string;
}

async function readPage(tx: Tx, { vault, totals, caller }: Listing, { query, after }: Wanted, search: Search | null): Promise<Page> {
  if (after === undefined)
    return search ? listFound(tx, vault, totals, caller, query, search) : listItems(tx, vault, totals, caller, query);
  const narrowed = search ? within(query, await search.find(tx)) : query;
  const { items, total, next } = await listChanges(tx, vault, caller, narrowed, after);
  return { items: search ? await withHits(tx, vault, caller, items, search) : items, total, next_cursor: cursorOf(next) };
}
