import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { ApiError } from '../contract/errors.ts';
import { EXTENSIONS } from '../contract/formats.ts';
import type { Limits } from '../contract/limits.ts';
import type { Request } from '../http/request.ts';
import { cleanName, extensionOf, type FileName } from '../upload/filename.ts';
import { refused } from './options.ts';

const FIELDS = 40;
const FIELD_BYTES = 65_536;
const PART_BYTES = 2_097_152; // more than a body holds: the parser waits for ever for a part that it skips, if it fills its buffer at the end

/** Extensions for files whose name has none, as in uploads from browsers and bots. */
const BY_TYPE: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/webm': 'webm',
  'audio/ogg': 'ogg',
  'audio/opus': 'opus',
  'audio/flac': 'flac',
  'audio/x-flac': 'flac',
  'audio/mp4': 'm4a',
  'audio/x-m4a': 'm4a',
  'audio/m4a': 'm4a',
  'audio/aac': 'aac',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
};

/** Receives the file of a form in chunks. */
export type Sink = (file: FileName, chunk: Buffer) => Promise<void>;

/** The fields of a form by name, and its file if present. */
export interface Form {
  fields: Map<string, string[]>;
  file: FileName | null;
}

/**
 * Parses a multipart form as it arrives: its single file, in the field `file`, is streamed to `sink` with back-pressure, fields are
 * collected. Throws 400 for an invalid form, 408 for a stalled one; null if the client has disconnected.
 */
export async function readForm(request: Request, limits: Limits, sink: Sink): Promise<Form | null> {
  const type = request.headers.get('content-type') ?? '';
  if (!request.body || !/^multipart\/form-data\s*;/i.test(type)) throw refused('file', 'must be sent as a form: multipart/form-data');
  const form: Form = { fields: new Map(), file: null };
  const parser = openParser(type);
  let note: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    note = reject;
  });
  failed.catch(() => {}); // it may fail before it is awaited
  const writing: Promise<void>[] = [];
  parser.on('error', () => note(refused('file', 'is in a form that cannot be parsed')));
  for (const event of ['fieldsLimit', 'partsLimit'] as const)
    parser.on(event, () => note(new ApiError('invalid_form', { message: `The form has more than ${FIELDS} fields` })));
  parser.on('field', (name, value, nameCut, valueCut) => {
    if (name === 'file') note(refused(name, 'was sent without a file name: send it as a file, with a name such as filename="call.wav"'));
    if (nameCut || valueCut) note(refused(name ?? 'a field', `is longer than ${FIELD_BYTES} bytes`));
    form.fields.set(name, [...(form.fields.get(name) ?? []), value]);
  });
  parser.on('file', (name, stream, filename, _encoding, mimetype) => {
    stream.on('error', () => {}); // of a form that ends within this file: the parser reports it too
    if (name !== 'file' || form.file) return void stream.resume();
    try {
      form.file = fileName(filename, mimetype);
      writing.push(pour(stream, form.file, sink).catch(note));
    } catch (error) {
      note(error);
      stream.resume();
    }
  });
  const write = (chunk: Buffer) => Promise.race([new Promise<void>((resolve) => parser.write(chunk, () => resolve())), failed]);
  const ending = await request.body.consume(write, { stallMs: limits.UPLOAD_STALL_S * 1000, totalMs: limits.UPLOAD_TOTAL_S * 1000 });
  if (ending !== 'complete') {
    parser.destroy();
    if (ending === 'aborted') return null;
    throw new ApiError('upload_timeout');
  }
  const finished = once(parser, 'finish');
  parser.end();
  await Promise.race([finished.then(() => Promise.all(writing)), failed]);
  await Promise.race([failed, new Promise((resolve) => setImmediate(resolve))]); // errors emitted at the end
  return form;
}

function openParser(type: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': type },
      fileHwm: PART_BYTES,
      limits: { fields: FIELDS, parts: FIELDS + 1, fieldSize: FIELD_BYTES, fieldNameSize: 200 },
    });
  } catch {
    throw refused('file', 'is in a form that cannot be parsed: its Content-Type has no boundary');
  }
}

async function pour(stream: Readable, file: FileName, sink: Sink): Promise<void> {
  for await (const chunk of stream) await sink(file, chunk as Buffer);
}

/** The file name, with an extension derived from the content type if it has none. Throws 400. */
function fileName(given: string | undefined, mimetype: string): FileName {
  const name = cleanName(given ?? '') || 'audio';
  const extension = extensionOf(name);
  if (EXTENSIONS.has(extension)) return { name, extension };
  const known = extension ? undefined : BY_TYPE[mimetype.toLowerCase().split(';')[0]!.trim()];
  if (!known) throw new ApiError('unsupported_file_format', { detail: { param: 'file' } });
  return { name: `${name}.${known}`, extension: known };
}
