import { z } from 'zod';
import { readPreview, startPreview } from '../../../db/reports/previews.ts';
import { changeTemplate, createTemplate, deleteTemplate, listOwnTemplates } from '../../../db/reports/templates.ts';
import { CATALOGUE } from '../../contract/catalogue.ts';
import { invalid, notFound } from '../../contract/errors.ts';
import { Slug, slugOf, TEMPLATE_SCOPES } from '../../contract/report.ts';
import { empty, json } from '../../http/route.ts';
import { page } from '../page.ts';

const fields = {
  name: z.string().trim().min(1).max(100),
  slug: Slug,
  prompt: z.string().trim().min(10, 'must describe in at least 10 characters what the report should contain').max(8_000),
  description: z.string().trim().max(300).nullable(),
  scope: z.enum(TEMPLATE_SCOPES),
  status: z.enum(['draft', 'published']),
};

const NewTemplate = z.strictObject({
  ...fields,
  slug: Slug.optional(),
  description: fields.description.default(null),
  scope: fields.scope.default('personal'),
  status: fields.status.default('draft'),
});

export const templates = page({
  method: 'GET',
  path: '/templates',
  async handler({ db }, actor) {
    const items = await db.workspace(actor.workspaceId, (tx) => listOwnTemplates(tx, actor));
    return json(200, { items, builtin: CATALOGUE.map(({ slug, name, category }) => ({ slug, name, description: category })) });
  },
});

export const newTemplate = page({
  method: 'POST',
  path: '/templates',
  body: NewTemplate,
  async handler(context, actor) {
    const template = await context.body();
    return json(201, await context.db.workspace(actor.workspaceId, (tx) => createTemplate(tx, actor, template)));
  },
});

export const updateTemplate = page({
  method: 'PATCH',
  path: '/templates/{id}',
  body: z.strictObject(fields).partial(),
  async handler(context, actor) {
    const change = await context.body();
    return json(200, await context.db.workspace(actor.workspaceId, (tx) => changeTemplate(tx, actor, context.params.id!, change)));
  },
});

export const removeTemplate = page({
  method: 'DELETE',
  path: '/templates/{id}',
  async handler({ db, params }, actor) {
    await db.workspace(actor.workspaceId, (tx) => deleteTemplate(tx, actor, params.id!));
    return empty(204);
  },
});

/** Previews a template on a transcript or a short sample before it is published. Written by an engine, read with `readDraft`. */
export const tryDraft = page({
  method: 'POST',
  path: '/templates/preview',
  body: z.strictObject({ name: fields.name, prompt: fields.prompt, transcription_id: z.uuid().nullable().default(null) }),
  async handler(context, actor) {
    const { name, prompt, transcription_id: transcriptionId } = await context.body();
    const wanted = { slug: slugOf(name) || 'draft', name, prompt, transcriptionId };
    const id = await context.db.workspace(actor.workspaceId, (tx) => startPreview(tx, actor, wanted, context.limits));
    if (!id) throw invalid([{ field: 'transcription_id', message: 'is not a completed transcript that you have access to' }]);
    return json(202, { id, status: 'queued' });
  },
});

export const readDraft = page({
  method: 'GET',
  path: '/templates/preview/{id}',
  async handler({ db, vault, params }, actor) {
    const preview = await readPreview(db, vault, actor, params.id!);
    if (!preview) throw notFound();
    return json(200, preview);
  },
});
