import { findRecording, type Recording } from '../../db/transcripts/recording.ts';
import { ApiError, notFound } from '../contract/errors.ts';
import { attachment } from '../export/names.ts';
import { readRange } from '../http/byte-range.ts';
import { HEAD_BYTES, MEDIA_TYPES, mediaTypeOf } from '../http/media-type.ts';
import { type Context, route } from '../http/route.ts';

const HEADERS = {
  'Accept-Ranges': 'Always `bytes`',
  'Content-Disposition': 'The name of the uploaded file',
  ETag: 'Of the recording, for If-Range; it never changes',
};
const MISSING = new Set(['ENOENT', 'NoSuchKey']); // of a file or an object

export const getRecording = route({
  method: 'GET',
  path: '/v1/transcriptions/{id}/recording',
  id: 'getRecording',
  summary: 'The recording, where it is kept',
  description:
    'Recordings are removed after transcription unless operator and workspace keep them for some days. 404 if none is kept, as for an unknown id. A Range header with one range of bytes returns that part; several ranges are answered with the whole file.',
  tag: 'Export',
  access: { scope: 'read', scopeError: null },
  params: { id: 'Of the transcription' },
  answers: {
    200: { description: 'The file as uploaded', type: MEDIA_TYPES, headers: HEADERS },
    206: {
      description: 'The part in Range',
      type: MEDIA_TYPES,
      headers: { ...HEADERS, 'Content-Range': 'First and last byte, and the size of the file' },
    },
  },
  errors: [404, 'range_not_satisfiable'],
  async handler(context) {
    const { db, vault, spool, caller, params, settings, request } = context;
    const keepDays = settings.LONGHAND_KEEP_RECORDINGS_DAYS;
    const found = await db.workspace(caller.workspaceId, (tx) => findRecording(tx, vault, caller, params.id!, keepDays));
    if (!found) throw notFound();
    const { bytes } = found;
    const etag = `"${found.id}"`;
    const headers = {
      'content-type': await typeOf(context, found),
      'content-disposition': attachment(found.filename),
      'cache-control': 'private, no-store',
      'accept-ranges': 'bytes',
      etag,
    };
    const condition = request.headers.get('if-range');
    const wanted = request.method === 'GET' && (condition === undefined || condition === etag) ? request.headers.get('range') : undefined;
    const part = readRange(wanted, bytes);
    if (part === 'none')
      throw new ApiError('range_not_satisfiable', { headers: { 'content-range': `bytes */${bytes}` }, detail: { size_bytes: bytes } });
    const range = { bytes, ...(part ?? { from: 0, to: bytes - 1 }) };
    const stream = spool.read(found.id, found.extension, found.key, range);
    const length = range.to - range.from + 1;
    if (!part) return { status: 200, headers, stream, length };
    return { status: 206, headers: { ...headers, 'content-range': `bytes ${part.from}-${part.to}/${bytes}` }, stream, length };
  },
});

/** By its first bytes. Throws 503 if the file cannot be read: it has just been removed, or the spool is unavailable. */
async function typeOf({ spool }: Context, { id, extension, key, bytes, mediaType }: Recording): Promise<string> {
  try {
    const head: Buffer[] = [];
    const range = { bytes, from: 0, to: Math.min(bytes, HEAD_BYTES) - 1 };
    for await (const piece of spool.read(id, extension, key, range)) head.push(piece);
    return mediaTypeOf(Buffer.concat(head), mediaType);
  } catch (error) {
    const { code, name } = error as Error & { code?: string };
    if (!MISSING.has(code ?? name)) throw error;
    throw new ApiError('service_unavailable', { retryAfterSeconds: 5 });
  }
}
