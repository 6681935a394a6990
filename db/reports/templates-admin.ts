import { CATALOGUE } from '../../api/contract/catalogue.ts';
import { Slug, slugOf, type TemplateScope } from '../../api/contract/report.ts';
import type { Db } from '../postgres/orm.ts';
import { absent, existing, unique } from '../tenants/existing.ts';
import { lookupId } from '../tenants/visibility.ts';

export interface NewTemplate {
  workspaceId: string;
  name: string;
  prompt: string;
  slug?: string;
  scope?: TemplateScope;
  owner?: string;
  draft?: boolean;
}

export function createTemplate(db: Db, template: NewTemplate): Promise<{ slug: string }> {
  const slug = template.slug ?? slugOf(template.name);
  if (!Slug.safeParse(slug).success)
    throw new Error(`Cannot create the template: the slug ${JSON.stringify(slug)} is not words of a-z and 0-9 joined by hyphens`);
  if (CATALOGUE.some((builtin) => builtin.slug === slug))
    throw new Error(`Cannot create the template: ${slug} is a built-in one; give another --slug`);
  const personal = template.scope === 'personal';
  return db.system(async (tx) => {
    await existing(tx, 'workspace', template.workspaceId);
    if (personal) await existing(tx, 'member', template.owner ?? '', template.workspaceId);
    return unique(
      'slug',
      `a template with the slug ${slug}`,
      tx.row<{ slug: string }>(
        'insert into templates (workspace_id, owner_id, scope, slug, name, prompt, status) values (?, ?, ?, ?, ?, ?, ?) returning slug',
        [
          template.workspaceId,
          personal ? template.owner : null,
          template.scope ?? 'workspace',
          slug,
          template.name,
          template.prompt,
          template.draft ? 'draft' : 'published',
        ],
      ),
    );
  });
}

interface TemplateName {
  workspaceId: string;
  slug: string;
  /** Of a personal template. */
  owner?: string;
}

const NAMED = 'workspace_id = ? and slug = ? and owner_id is not distinct from ?::uuid';
const named = ({ workspaceId, slug, owner }: TemplateName) => [lookupId(workspaceId), slug, owner === undefined ? null : lookupId(owner)];

export function publishTemplate(db: Db, template: TemplateName): Promise<{ slug: string }> {
  const sql = `update templates set status = 'published', updated_at = now() where ${NAMED} returning slug`;
  return db.system(
    async (tx) => (await tx.row<{ slug: string }>(sql, named(template))) ?? Promise.reject(absent('template', template.slug)),
  );
}

export function deleteTemplate(db: Db, template: TemplateName): Promise<{ slug: string }> {
  const sql = `delete from templates where ${NAMED} returning slug`;
  return db.system(
    async (tx) => (await tx.row<{ slug: string }>(sql, named(template))) ?? Promise.reject(absent('template', template.slug)),
  );
}
