import { randomUUID } from 'node:crypto';
import { Unwanted } from '../../db/postgres/wanted.ts';
import type { SpoolWriter } from '../../db/spool/spool.ts';
import { remove } from '../../db/transcripts/mutate.ts';
import { type FullRecord, loadRecord } from '../../db/transcripts/record.ts';
import { nameSlot, type UploadRequest } from '../../db/uploads/accept.ts';
import { ApiError } from '../contract/errors.ts';
import { LIMITS } from '../contract/limits.ts';
import { TERMINAL } from '../contract/transcription.ts';
import type { Context, Reply } from '../http/route.ts';
import { checkSize } from '../upload/checks.ts';
import { commit } from '../upload/receive.ts';
import { withSlot } from '../upload/upload.ts';
import { cleanVocabulary } from '../upload/vocabulary.ts';
import { answerWith } from './answer.ts';
import { readForm } from './form.ts';
import { type Asked, readOptions, refused } from './options.ts';
import { whenFree } from './slots.ts';

const FORM_BYTES = 1_048_576; // limit on the form's fields besides the file

/** POST /audio/transcriptions: receives the form, waits for the transcript, and returns it. */
export async function transcribeForm(context: Context): Promise<Reply> {
  const { limits, request } = context;
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > limits.MAX_FILE_BYTES + FORM_BYTES) throw new ApiError('file_size_limit_exceeded');
  const upload = unnamed(context);
  const asked = await whenFree(context, () => withSlot(context, upload, null, () => take(context, upload)));
  try {
    return await answerWith(await ended(context, upload.id), asked);
  } catch (error) {
    if (error instanceof Unwanted) await forget(context, upload.id);
    throw error;
  }
}

/** An upload whose form has not arrived yet. */
function unnamed({ caller }: Context): UploadRequest {
  return {
    id: randomUUID(),
    actor: caller,
    author: { id: caller.memberId, email: caller.memberEmail, name: caller.memberName },
    ...{ projectId: null, filename: '', extension: '', language: 'auto', diarize: false, speakersCount: null, aiMetadata: false },
    ...{ externalId: null, metadata: null, vocabulary: null, templates: [] },
  };
}

/** Streams the form's file to the spool and commits it. An interrupted or invalid form leaves nothing. */
async function take(context: Context, upload: UploadRequest): Promise<Asked> {
  const { request, limits } = context;
  let opening: Promise<SpoolWriter> | null = null;
  let bytes = 0;
  let [failed, committing] = [false, false];
  try {
    const form = await readForm(request, limits, async (file, chunk) => {
      bytes += chunk.length;
      if (bytes > limits.MAX_FILE_BYTES) throw new ApiError('file_size_limit_exceeded');
      if (failed) throw new Unwanted(); // the parser still holds a part of the form
      opening ??= createFile(context, upload, file.extension);
      await (await opening).write(chunk);
    });
    if (!form) throw new Unwanted();
    const asked = readOptions(form.fields);
    if (!form.file) throw refused('file', 'is missing');
    checkSize(bytes, limits);
    const { name: filename, extension } = form.file;
    const { language, format, prompt } = asked;
    const vocabulary = cleanVocabulary(prompt.slice(0, LIMITS.VOCABULARY_BYTES));
    Object.assign(upload, { filename, extension, language, vocabulary, diarize: format === 'diarized_json' });
    const file = await (await opening!).finish();
    committing = true;
    await commit(context, upload, null, file);
    return asked;
  } catch (error) {
    // once committing has begun only the database knows whether the file was accepted: the sweeper decides
    failed = true;
    const writer = await (opening as Promise<SpoolWriter> | null)?.catch(() => null);
    if (error instanceof ApiError || !committing) await writer?.abort();
    throw error;
  }
}

async function createFile({ db, spool }: Context, upload: UploadRequest, extension: string): Promise<SpoolWriter> {
  await db.workspace(upload.actor.workspaceId, (tx) => nameSlot(tx, upload, extension));
  return spool.create(upload.id, extension);
}

/** The completed record. Throws if there is none: `Unwanted` if the client has disconnected. */
async function ended(context: Context, id: string): Promise<FullRecord> {
  const { db, vault, waits, caller, request, settings } = context;
  const until = performance.now() + settings.LONGHAND_WAIT_S * 1000;
  const place = { workspaceId: caller.workspaceId, id };
  for (let before: FullRecord['status'] = 'queued'; ; ) {
    await waits.change(place, before, until - performance.now(), request.signal);
    if (request.gone()) throw new Unwanted();
    const loaded = await db.workspace(caller.workspaceId, (tx) => loadRecord(tx, vault, caller, id, true));
    if (!loaded) throw new ApiError('recording_unusable', { message: 'The transcription was deleted in the meantime' });
    const { record } = loaded;
    if (record.status === 'completed') return record;
    if (TERMINAL.has(record.status)) throw failure(record);
    if (record.status === before) throw timeout(id);
    before = record.status;
  }
}

const NO_RETRY = { 'x-should-retry': 'false' }; // official clients retry after any 5xx, and the recording would be charged twice

function timeout(id: string): ApiError {
  const message = `The transcription ${id} is not ready yet; it goes on: read it later with GET /v1/transcriptions/${id}`;
  return new ApiError('transcription_timeout', { message, headers: NO_RETRY });
}

const OURS: ReadonlySet<string | null> = new Set(['ENGINE_ERROR', 'PROCESSING_TIMEOUT']);

function failure({ id, status, error_code }: FullRecord): ApiError {
  if (status === 'insufficient_balance') return new ApiError('insufficient_balance');
  if (OURS.has(error_code))
    return new ApiError('internal_error', { message: `The transcription ${id} failed: ${error_code}`, headers: NO_RETRY });
  return new ApiError('recording_unusable', { message: `Cannot transcribe this recording: ${error_code}` });
}

/** Deletes the transcription, its media and the work on it, because the client has disconnected. */
async function forget({ db, spool, records, caller, log }: Context, id: string): Promise<void> {
  const gone = await db.workspace(caller.workspaceId, (tx) => remove(tx, caller, id));
  records.forget(caller.workspaceId, id);
  await spool
    .remove(id, gone.extension)
    .catch((error: unknown) => log.error({ transcription: id, error }, 'cannot remove the recording; engines try again later'));
}
