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

/** Extensions for files whose name has none, as the bodies of browsers and bots do. */
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

/** Where the file of a form goes, a chunk at a time. */
export type Sink = (file: FileName, chunk: Buffer) => Promise<void>;

/** The fields of a form by name, and its file when it has one. */
export interface Form {
  fields: Map<string, string[]>;
  file: FileName | null;
}

/**
 * Reads a multipart form as it arrives: its one file, in the field `file`, goes to `sink` with its back-pressure, fields are kept. Throws 400
 * for what is no such form, 408 for one that stalls; null when the client has gone.
 */
export async function readForm(request: Request, limits: Limits, sink: Sink): Promise<Form | null> {
  const type = request.headers.get('content-type') ?? '';
  if (!request.body || !/^multipart\/form-data\s*;/i.test(type)) throw refused('file', 'must be sent in a form: multipart/form-data');
  const form: Form = { fields: new Map(), file: null };
  const parser = openParser(type);
  let note: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    note = reject;
  });
  failed.catch(() => {}); // it may fail while nobody looks
  const writing: Promise<void>[] = [];
  parser.on('error', () => note(refused('file', 'is in a form that cannot be read')));
  parser.on('field', (name, value, nameCut, valueCut) => {
    if (nameCut || valueCut) note(refused(name, `is longer than ${FIELD_BYTES} bytes`));
    form.fields.set(name, [...(form.fields.get(name) ?? []), value]);
  });
  parser.on('file', (name, stream, filename, _encoding, mimetype) => {
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
  await Promise.race([failed, new Promise((resolve) => setImmediate(resolve))]); // a fault that came with the end
  return form;
}

function openParser(type: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': type },
      limits: { files: 1, fields: FIELDS, parts: FIELDS + 1, fieldSize: FIELD_BYTES, fieldNameSize: 200 },
    });
  } catch {
    throw refused('file', 'is in a form that cannot be read: its Content-Type has no boundary');
  }
}

async function pour(stream: Readable, file: FileName, sink: Sink): Promise<void> {
  for await (const chunk of stream) await sink(file, chunk as Buffer);
}

/** The name of the file with an extension that the service takes, from its type when the name has none. Throws 400. */
function fileName(given: string | undefined, mimetype: string): FileName {
  const name = cleanName(given ?? '') || 'audio';
  const extension = extensionOf(name);
  if (EXTENSIONS.has(extension)) return { name, extension };
  const known = extension ? undefined : BY_TYPE[mimetype.toLowerCase().split(';')[0]!.trim()];
  if (!known) throw new ApiError('unsupported_file_format', { detail: { param: 'file' } });
  return { name: `${name}.${known}`, extension: known };
}
