import { z } from 'zod';
import { whileWanted } from '../../../db/postgres/wanted.ts';
import { moveAll, removeAll } from '../../../db/transcripts/bulk.ts';
import { openSearch } from '../../../db/transcripts/found.ts';
import { listRows } from '../../../db/transcripts/listing.ts';
import { mayEdit } from '../../../db/transcripts/mutate.ts';
import { findRecording } from '../../../db/transcripts/recording.ts';
import { renameSpeaker } from '../../../db/transcripts/speakers.ts';
import { requireScope } from '../../contract/actor.ts';
import { notFound } from '../../contract/errors.ts';
import { LIMITS } from '../../contract/limits.ts';
import { STATUSES } from '../../contract/transcription.ts';
import { json, jsonText } from '../../http/route.ts';
import { readFilters } from '../../v1/list.ts';
import { ListParameters } from '../../v1/query.ts';
import { serialise } from '../../v1/records.ts';
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
    if (!served) throw notFound(); // deleted since
    return jsonText(200, served.body.toString());
  },
});

/** Whether this person may rename speakers and delete, for the page hides buttons that would be refused; and until when it can be heard. */
export const rights = page({
  method: 'GET',
  path: '/transcriptions/{id}/rights',
  async handler({ db, vault, settings, params }, actor) {
    const [edit, recording] = await db.workspace(actor.workspaceId, async (tx) => [
      await mayEdit(tx, actor, params.id!),
      await findRecording(tx, vault, actor, params.id!, settings.LONGHAND_KEEP_RECORDINGS_DAYS),
    ]);
    return json(200, {
      edit: edit && !actor.limited,
      delete: edit && actor.scopes.has('transcriptions:delete'),
      recording_until: recording?.until ?? null,
    });
  },
});

const MOST = 100; // transcriptions in one request, as for exports

/** The list as people see it: any status unless one is asked for, and with `q` where the words were said. */
export const listing = page({
  method: 'GET',
  path: '/listing',
  query: ListParameters.omit({ updated_since: true, cursor: true, status: true }).extend({
    q: z.string().trim().min(2, 'must have at least 2 characters').max(LIMITS.SEARCH_CHARACTERS).optional(),
    status: z.string().optional(),
  }),
  async handler(context, actor) {
    const { db, vault, totals, query, request } = context;
    const { q, limit, offset } = query;
    const status = query.status ?? (q === undefined ? STATUSES : 'completed'); // nothing was said in the others
    const { items, total } = await whileWanted(request.signal, async () => {
      const search = q === undefined ? null : await openSearch(db, vault, actor.workspaceId, q, true);
      if (q !== undefined && !search) return { items: [], total: 0 };
      const wanted = { ...readFilters(query, request), status };
      return db.workspace(actor.workspaceId, (tx) => listRows(tx, vault, totals, actor, wanted, search));
    });
    return jsonText(200, `{"items":[${items.map(serialise).join(',')}],${JSON.stringify({ total, limit, offset }).slice(1)}`);
  },
});

const Many = z.array(z.guid()).min(1).max(MOST);

export const moveMany = page({
  method: 'POST',
  path: '/transcriptions/move',
  body: z.strictObject({ ids: Many, project_id: z.guid().nullable() }),
  async handler(context, actor) {
    const { db, records } = context;
    const { ids, project_id } = await context.body();
    const { done, refused } = await moveAll(db, actor, ids, project_id);
    for (const id of done) records.forget(actor.workspaceId, id);
    return json(200, { moved: done.length, refused });
  },
});

export const deleteMany = page({
  method: 'POST',
  path: '/transcriptions/delete',
  body: z.strictObject({ ids: Many }),
  async handler(context, actor) {
    requireScope(actor, 'transcriptions:delete', 'delete_scope_required');
    const { db, records, spool, log } = context;
    const { ids } = await context.body();
    const { done, refused } = await removeAll(db, actor, ids, ({ id, extension }) => {
      records.forget(actor.workspaceId, id);
      return spool.remove(id, extension).catch((error: unknown) => log.error({ transcription: id, error }, 'cannot remove the media now'));
    });
    return json(200, { deleted: done.length, refused });
  },
});
