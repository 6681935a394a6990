import { z } from 'zod';
import { listTitles } from '../../../db/transcripts/list.ts';
import { loadRecord } from '../../../db/transcripts/record.ts';
import { notFound } from '../../contract/errors.ts';
import { DOCUMENT_FORMATS, type DocumentFormat } from '../../contract/formats.ts';
import { archive } from '../../export/archive.ts';
import { contentOf } from '../../export/documents/content.ts';
import { makeDocument } from '../../export/documents/threads.ts';
import { attachment, baseName } from '../../export/names.ts';
import { page } from '../page.ts';

const TYPES: Record<DocumentFormat, string> = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pdf: 'application/pdf',
};

/** A transcript with its completed reports, for Word or as PDF; with `times`, also when each turn begins. */
export const documents = page({
  method: 'GET',
  path: '/transcriptions/{id}/documents/{format}',
  query: z.object({ times: z.enum(['true', 'false'], 'must be true or false').default('false') }),
  async handler({ db, vault, params, query, request }, actor) {
    const format = DOCUMENT_FORMATS.find((one) => one === params.format);
    if (!format) throw notFound();
    const { times } = query;
    const loaded = await db.workspace(actor.workspaceId, (tx) => loadRecord(tx, vault, actor, params.id!));
    if (!loaded) throw notFound();
    const body = await makeDocument(contentOf(loaded.record, times === 'true'), format, request.signal);
    const name = `${baseName(loaded.record.title)}.${format}`;
    return { status: 200, headers: { 'content-type': TYPES[format], 'content-disposition': attachment(name) }, body };
  },
});

export const manyDocuments = page({
  method: 'POST',
  path: '/transcriptions/documents',
  body: z.strictObject({ ids: z.array(z.guid()).min(1).max(100), format: z.enum(DOCUMENT_FORMATS), times: z.boolean().default(true) }),
  async handler(context, actor) {
    const { ids, format, times } = await context.body();
    const { db, vault } = context;
    const titles = await db.workspace(actor.workspaceId, (tx) => listTitles(tx, vault, actor, [...new Set(ids)]));
    const document = async (id: string, begun: boolean) => {
      const loaded = await db.workspace(actor.workspaceId, (tx) => loadRecord(tx, vault, actor, id));
      if (!loaded) return null;
      const data = await makeDocument(contentOf(loaded.record, times), format, context.request.signal, begun);
      return { data, modifiedAt: new Date(loaded.record.created_at) };
    };
    const [first] = titles;
    const made = first && (await document(first.id, false)); // before the archive begins: whoever must wait is told so
    return { status: 200, ...archive(titles, format, async (id) => (id === first?.id ? made! : document(id, true))) };
  },
});
