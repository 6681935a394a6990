import { z } from 'zod';
import type { Tx } from '../../db/postgres/orm.ts';
import { type AuthorRef, type AuthorRow, findAuthor } from '../../db/tenants/authors.ts';
import { countDelete, hold, reassignAuthor, remove } from '../../db/transcripts/mutate.ts';
import { loadHeld } from '../../db/transcripts/record.ts';
import { countedId } from '../contract/actor.ts';
import { ApiError, notFound } from '../contract/errors.ts';
import { LIMITS } from '../contract/limits.ts';
import { AuthorChange, TERMINAL, Transcription } from '../contract/transcription.ts';
import { check } from '../http/request.ts';
import { type Context, empty, jsonText, route } from '../http/route.ts';
import { readAuthor } from '../upload/author.ts';
import { judgedLater } from './body.ts';
import { RECORD_EXAMPLE } from './examples.ts';
import { Flag, whole } from './query.ts';
import { serialise } from './records.ts';

const READ = { scope: 'read', scopeError: null } as const;
const TAG = 'Transcriptions';

export const getTranscription = route({
  method: 'GET',
  path: '/v1/transcriptions/{id}',
  id: 'getTranscription',
  summary: 'Get one transcription',
  description:
    'Always returns the full record. Poll every 5 to 10 seconds, or use `wait`; If-None-Match with the ETag of the last response returns 304 if nothing changed.',
  tag: TAG,
  access: READ,
  params: { id: 'Of the transcription' },
  query: z.object({
    words: Flag.default(false).meta({ type: 'boolean', description: 'Add word timestamps to segments' }),
    wait: whole(0, LIMITS.WAIT_S).default(0).meta({
      type: 'integer',
      description:
        'Long polling: seconds to wait for a change of status, clamped to 0 to 60; a finished transcription is returned immediately',
    }),
  }),
  answers: {
    200: { description: 'The full record', schema: Transcription, example: RECORD_EXAMPLE, headers: { ETag: 'Of this version' } },
    304: { description: 'Unchanged since the version in If-None-Match', headers: { ETag: 'Of this version' } },
  },
  errors: ['validation_error', 404],
  async handler({ records, waits, caller, params, query, request }) {
    const find = async () => (await records.find(caller, params.id!, query.words)) ?? raise(notFound());
    let served = await find();
    if (query.wait && !TERMINAL.has(served.status)) {
      await waits.change({ workspaceId: caller.workspaceId, id: params.id! }, served.status, query.wait * 1000, request.signal);
      served = await find();
    }
    const headers = { etag: served.etag };
    if (matches(request.headers.get('if-none-match'), served.etag)) return empty(304, headers);
    return { status: 200, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: served.body };
  },
});

function raise(error: ApiError): never {
  throw error;
}

/** Evaluates If-None-Match: `*`, or a list that contains the tag, weak or strong. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

export const changeAuthor = route({
  method: 'PATCH',
  path: '/v1/transcriptions/{id}',
  id: 'reassignAuthor',
  summary: 'Reassign the author',
  description: '`email:<email>` or `user:<uuid>` of an active member; null restores the creator of the key that uploaded it.',
  tag: TAG,
  access: { scope: 'uploads:write', scopeError: 'upload_scope_required', tokenError: 'author_requires_api_key' },
  params: { id: 'Of the transcription' },
  body: AuthorChange,
  answers: { 200: { description: 'The full record', schema: Transcription, example: RECORD_EXAMPLE } },
  errors: [403, 404, 'validation_error', 'invalid_author', 'unsupported_author_type', 'author_not_member'],
  async handler(context) {
    const { db, vault, caller, params } = context;
    const given = await judgedLater(context);
    return db.workspace(caller.workspaceId, async (tx) => {
      const held = await hold(tx, caller, params.id!);
      const author = await newAuthor(tx, context, given(), held.creatorId ?? caller.memberId);
      await reassignAuthor(tx, caller, held, author);
      const { record } = await loadHeld(tx, vault, held);
      return jsonText(200, serialise(record));
    });
  },
});

/** The member named in the body. Throws 422. */
async function newAuthor(tx: Tx, { caller }: Context, body: unknown, creatorId: string): Promise<AuthorRow> {
  const { author } = readChange(body);
  const ref: AuthorRef = author === null ? { kind: 'user', id: creatorId } : readAuthor(author);
  if (ref.kind === 'external')
    throw new ApiError('unsupported_author_type', { message: 'The author must be given as email:<email> or user:<uuid> here' });
  const member = await findAuthor(tx, caller, ref);
  if (!member) throw new ApiError('author_not_member');
  return member;
}

/** Other fields and other types are `validation_error`; a missing or non-text author is `invalid_author`. */
function readChange(body: unknown): AuthorChange {
  const parsed = AuthorChange.safeParse(body);
  if (!parsed.success && parsed.error.issues.every((issue) => issue.path[0] === 'author')) throw new ApiError('invalid_author');
  return check(AuthorChange, body);
}

export const deleteTranscription = route({
  method: 'DELETE',
  path: '/v1/transcriptions/{id}',
  id: 'deleteTranscription',
  summary: 'Delete a transcription',
  description: 'Deletes text, reports and recording for all members, whatever the status. Processing stops.',
  tag: TAG,
  access: { scope: 'transcriptions:delete', scopeError: 'delete_scope_required' },
  params: { id: 'Of the transcription' },
  answers: { 204: { description: 'Deleted' } },
  errors: [403, 404, 'delete_rate_exceeded'],
  async handler({ db, spool, log, limits, records, caller, params }) {
    await db.acrossTenants((tx) => countDelete(tx, countedId(caller), limits.DELETES_PER_MIN));
    const { id, extension } = await db.workspace(caller.workspaceId, (tx) => remove(tx, caller, params.id!));
    records.forget(caller.workspaceId, id);
    // The row is deleted; the sweep of orphans removes a file that cannot be removed now.
    await spool
      .remove(id, extension)
      .catch((error: unknown) => log.error({ transcription: id, error }, 'cannot remove the recording; engines try again later'));
    return empty(204);
  },
});
