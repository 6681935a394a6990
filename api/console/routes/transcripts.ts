import { z } from 'zod';
import { whileWanted } from '../../../db/postgres/wanted.ts';
import type { Hit } from '../../../db/search/hits.ts';
import { listFound, openSearch } from '../../../db/transcripts/found.ts';
import { mayEdit } from '../../../db/transcripts/mutate.ts';
import { renameSpeaker } from '../../../db/transcripts/speakers.ts';
import { json, jsonText } from '../../http/route.ts';
import { readFilters } from '../../v1/list.ts';
import { ListParameters } from '../../v1/query.ts';
import { page } from '../page.ts';

export const rename = page({
  method: 'PATCH',
  path: '/transcriptions/{id}/speakers/{speaker_id}',
  body: z.strictObject({ name: z.string().trim().min(1).max(100).nullable() }),
  async handler(context, actor) {
    const { db, vault, params, records } = context;
    const { name } = await context.body();
    await db.workspace(actor.workspaceId, (tx) => renameSpeaker(tx, vault, actor, params.id!, params.speaker_id!, name));
    records.forget(actor.workspaceId, params.id!);
    const served = await records.find(actor, params.id!, false);
    return jsonText(200, served!.body.toString());
  },
});

/** Whether this person may rename speakers and delete: the page hides buttons that would be refused. */
export const rights = page({
  method: 'GET',
  path: '/transcriptions/{id}/rights',
  async handler({ db, params }, actor) {
    const edit = await db.workspace(actor.workspaceId, (tx) => mayEdit(tx, actor, params.id!));
    return json(200, { edit: edit && !actor.limited, delete: edit && actor.scopes.has('transcriptions:delete') });
  },
});

export const find = page({
  method: 'GET',
  path: '/search',
  query: ListParameters.omit({ updated_since: true, cursor: true }).extend({
    q: z.string().trim().min(2, 'must have at least 2 characters').max(200),
  }),
  async handler(context, actor) {
    const { db, vault, totals, query, request } = context;
    const { items, total } = await whileWanted(request.signal, async () => {
      const search = await openSearch(db, vault, actor.workspaceId, query.q, true);
      if (!search) return { items: [], total: 0 };
      return db.workspace(actor.workspaceId, (tx) => listFound(tx, vault, totals, actor, readFilters(context), search));
    });
    const shown = items.map(({ id, title, created_at, hits }) => ({ id, title, created_at, matches: hits.map(match) }));
    return json(200, { items: shown, total, complete: query.offset + items.length >= total });
  },
});

function match({ segment, start, speaker_id, text }: Hit) {
  return { segment_id: segment, start, speaker: speaker_id, text };
}
