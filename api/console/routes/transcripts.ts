import { z } from 'zod';
import { whileWanted } from '../../../db/postgres/wanted.ts';
import { mayEdit } from '../../../db/transcripts/mutate.ts';
import { search } from '../../../db/transcripts/search.ts';
import { renameSpeaker } from '../../../db/transcripts/speakers.ts';
import { json, jsonText } from '../../http/route.ts';
import { page } from '../page.ts';

const SEARCH_MS = 3_000;

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

/** Whether this person may rename speakers and delete: the page shows no button that would be refused. */
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
  query: z.object({
    q: z.string().trim().min(2, 'must have at least 2 characters').max(200),
    limit: z
      .string()
      .regex(/^\d{1,2}$/)
      .default('20')
      .transform(Number),
  }),
  async handler({ db, vault, query, request }, actor) {
    const read = <T>(work: Parameters<typeof db.workspace<T>>[1]) =>
      whileWanted(request.signal, () => db.workspace(actor.workspaceId, work));
    return json(200, await search(read, vault, actor, query.q, { hits: Math.max(1, query.limit), milliseconds: SEARCH_MS }));
  },
});
