import { CATALOGUE } from '../../api/contract/catalogue.ts';
import type { Template, TemplateScope } from '../../api/contract/report.ts';
import type { Tx } from '../postgres/orm.ts';

/** Every template the owner of a key may request: the catalogue, then the workspace's, then their own; published ones only. */
export async function listTemplates(tx: Tx, owner: { workspaceId: string; memberId: string }): Promise<Template[]> {
  const custom = await tx.rows<{ slug: string; name: string; scope: TemplateScope; description: string | null }>(
    `select p.slug, p.name, p.scope, p.description from templates p
     where p.workspace_id = ? and p.status = 'published' and (p.scope = 'workspace' or (p.owner_id = ? and not exists (
       select 1 from templates w
       where w.workspace_id = p.workspace_id and w.slug = p.slug and w.scope = 'workspace' and w.status = 'published')))
     order by p.scope = 'workspace' desc, p.created_at, p.id`,
    [owner.workspaceId, owner.memberId],
  );
  return [
    ...CATALOGUE.map(({ slug, name, category }): Template => ({ slug, name, kind: 'builtin', scope: null, description: category })),
    ...custom.map(({ slug, name, scope, description }): Template => ({ slug, name, kind: 'custom', scope, description })),
  ];
}
