import { z } from 'zod';
import { readPreview, startPreview } from '../../../db/reports/previews.ts';
import { addTemplate, changeTemplate, customTemplates, removeTemplate } from '../../../db/reports/templates-console.ts';
import { CATALOGUE } from '../../contract/catalogue.ts';
import { forbidden, invalid, notFound } from '../../contract/errors.ts';
import { Slug, slugOf, TEMPLATE_SCOPES } from '../../contract/report.ts';
import { empty, json } from '../../http/route.ts';
import { page } from '../page.ts';

const fields = {
  name: z.string().trim().min(1).max(100),
  slug: Slug,
  prompt: z.string().trim().min(10, 'must say in at least 10 characters what the report should hold').max(8_000),
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

const SHARED = 'Only owners of the workspace may publish templates for all of it';

export const templates = page({
  method: 'GET',
  path: '/templates',
  async handler({ db }, { caller }) {
    const items = await db.workspace(caller.workspaceId, (tx) => customTemplates(tx, caller));
    return json(200, { items, builtin: CATALOGUE.map(({ slug, name, category }) => ({ slug, name, description: category })) });
  },
});

export const createTemplate = page({
  method: 'POST',
  path: '/templates',
  body: NewTemplate,
  async handler(context, { caller }) {
    const wish = await context.body();
    if (wish.scope === 'workspace' && caller.role !== 'owner') throw forbidden(SHARED);
    const slug = wish.slug ?? slugOf(wish.name);
    if (!slug) throw invalid([{ field: 'slug', message: 'cannot be made from this name; give one of a-z, 0-9 and hyphens' }]);
    return json(201, await context.db.workspace(caller.workspaceId, (tx) => addTemplate(tx, caller, { ...wish, slug })));
  },
});

export const updateTemplate = page({
  method: 'PATCH',
  path: '/templates/{id}',
  body: z.strictObject(fields).partial(),
  async handler(context, { caller }) {
    const change = await context.body();
    if (change.scope === 'workspace' && caller.role !== 'owner') throw forbidden(SHARED);
    return json(200, await context.db.workspace(caller.workspaceId, (tx) => changeTemplate(tx, caller, context.params.id!, change)));
  },
});

export const deleteTemplate = page({
  method: 'DELETE',
  path: '/templates/{id}',
  async handler({ db, params }, { caller }) {
    await db.workspace(caller.workspaceId, (tx) => removeTemplate(tx, caller, params.id!));
    return empty(204);
  },
});

/** What a template makes of a talk, before anybody else sees it: of a transcript, or of a short sample. Written by an engine, read with `readDraft`. */
export const tryDraft = page({
  method: 'POST',
  path: '/templates/preview',
  body: z.strictObject({ name: fields.name, prompt: fields.prompt, transcription_id: z.uuid().nullable().default(null) }),
  async handler(context, { caller }) {
    const { name, prompt, transcription_id: transcriptionId } = await context.body();
    const wish = { slug: slugOf(name) || 'draft', name, prompt, transcriptionId };
    const id = await context.db.workspace(caller.workspaceId, (tx) => startPreview(tx, caller, wish));
    if (!id) throw invalid([{ field: 'transcription_id', message: 'is no finished transcript that you may see' }]);
    return json(202, { id, status: 'queued' });
  },
});

export const readDraft = page({
  method: 'GET',
  path: '/templates/preview/{id}',
  async handler({ db, vault, params }, { caller }) {
    const preview = await readPreview(db, vault, caller, params.id!);
    if (!preview) throw notFound();
    return json(200, preview);
  },
});
