import { z } from 'zod';
import { listTitles } from '../../db/transcripts/list.ts';
import { loadRecord } from '../../db/transcripts/record.ts';
import { notFound } from '../contract/errors.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../contract/formats.ts';
import { BulkExport } from '../contract/transcription.ts';
import { archive } from '../export/archive.ts';
import { markdown } from '../export/markdown.ts';
import { attachment, baseName } from '../export/names.ts';
import { plainText } from '../export/text.ts';
import { type Context, type Reply, route } from '../http/route.ts';
import { serialise } from './records.ts';

const READ = { scope: 'read', scopeError: null } as const;
const TAG = 'Export';

const TYPES: Record<ExportFormat, string> = {
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

export const exportOne = route({
  method: 'GET',
  path: '/v1/transcriptions/{id}/export',
  id: 'exportTranscription',
  summary: 'Export one transcription',
  description:
    'md and txt begin with a UTF-8 byte-order mark, which some front matter parsers reject. json is the body of GET /transcriptions/{id}. Only completed reports are included; an unfinished transcription is exported with what exists so far.',
  tag: TAG,
  access: READ,
  params: { id: 'Of the transcription' },
  query: z.object({ format: z.enum(EXPORT_FORMATS, 'must be md, txt or json').default('md') }),
  answers: {
    200: {
      description: 'A file named after the title',
      type: ['text/markdown', 'text/plain', 'application/json'],
      headers: { 'Content-Disposition': 'The name of the file' },
    },
  },
  errors: ['validation_error', 404],
  async handler(context) {
    const { format } = context.query;
    const file = format === 'json' ? await jsonFile(context) : await textFile(context, format);
    if (!file) throw notFound();
    const headers = { 'content-type': TYPES[format], 'content-disposition': attachment(`${baseName(file.title)}.${format}`) };
    return { status: 200, headers, body: file.body };
  },
});

type File = { title: string | null; body: string | Uint8Array };

function jsonFile({ records, caller, params }: Context): Promise<File | null> {
  return records.find(caller, params.id!, false);
}

async function textFile(context: Context, format: 'md' | 'txt'): Promise<File | null> {
  const loaded = await load(context, context.params.id!);
  return loaded && { title: loaded.record.title, body: written(loaded, format) };
}

type Loaded = NonNullable<Awaited<ReturnType<typeof loadRecord>>>;

function load({ db, vault, caller }: Context, id: string): Promise<Loaded | null> {
  return db.workspace(caller.workspaceId, (tx) => loadRecord(tx, vault, caller, id));
}

/** A record in one of the formats. */
function written({ record, filename }: Loaded, format: ExportFormat): string {
  if (format === 'json') return serialise(record);
  return format === 'md' ? markdown(record, filename) : plainText(record);
}

export const exportMany = route({
  method: 'POST',
  path: '/v1/transcriptions/export',
  id: 'exportTranscriptions',
  summary: 'Export many transcriptions',
  description:
    'A ZIP archive with one file for each id that exists and is visible to this key; compare the number of files with the number of ids sent.',
  tag: TAG,
  access: READ,
  body: BulkExport,
  answers: {
    200: { description: 'transcriptions.zip', type: 'application/zip', headers: { 'Content-Disposition': 'The name of the file' } },
  },
  errors: ['validation_error'],
  async handler(context): Promise<Reply> {
    const { ids, format } = await context.body();
    const { db, vault, caller } = context;
    const distinct = [...new Set(ids.map((id) => id.toLowerCase()))];
    const titles = await db.workspace(caller.workspaceId, (tx) => listTitles(tx, vault, caller, distinct));
    const file = async (id: string) => {
      const loaded = await load(context, id);
      return loaded && { data: written(loaded, format), modifiedAt: new Date(loaded.record.created_at) };
    };
    return { status: 200, ...archive(titles, format, file) };
  },
});
