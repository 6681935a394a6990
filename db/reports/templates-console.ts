import { CATALOGUE } from '../../api/contract/catalogue.ts';
import { invalid, notFound } from '../../api/contract/errors.ts';
import type { TemplateScope } from '../../api/contract/report.ts';
import type { Tx } from '../postgres/orm.ts';
import { isTaken } from '../postgres/unique.ts';
import { lookupId, type Viewer } from '../tenants/visibility.ts';
import { stamp } from '../transcripts/list-row.ts';

export interface TemplateWish {
  name: string;
  slug: string;
  prompt: string;
  description: string | null;
  scope: TemplateScope;
  status: 'draft' | 'published';
}

const COLUMNS = `p.id, p.slug, p.name, p.description, p.scope, p.status, p.prompt, ${stamp('p.updated_at')} as updated_at,
  case when p.owner_id is null then null else (select json_build_object('id', m.id, 'email', m.email) from members m where m.id = p.owner_id) end as owner`;
/** A person's own templates and the workspace's; drafts of the workspace only for its owners. */
const MINE = `p.workspace_id = ? and (p.owner_id = ? or (p.scope = 'workspace' and (p.status = 'published' or ?)))`;

export function customTemplates(tx: Tx, viewer: Viewer) {
  return tx.rows(`select ${COLUMNS} from templates p where ${MINE} order by p.scope desc, lower(p.name), p.id`, [
    viewer.workspaceId,
    viewer.memberId,
    viewer.role === 'owner',
  ]);
}

export function addTemplate(tx: Tx, viewer: Viewer, wish: TemplateWish) {
  return refusingTaken(wish.slug, () =>
    tx.row(
      `insert into templates as p (workspace_id, owner_id, scope, slug, name, description, prompt, status) values (?, ?, ?, ?, ?, ?, ?, ?) returning ${COLUMNS}`,
      [
        viewer.workspaceId,
        wish.scope === 'personal' ? viewer.memberId : null,
        wish.scope,
        wish.slug,
        wish.name,
        wish.description,
        wish.prompt,
        wish.status,
      ],
    ),
  );
}

/** Changes a person's own template, or for an owner one of the workspace. Throws 404. */
export async function changeTemplate(tx: Tx, viewer: Viewer, id: string, change: Partial<TemplateWish>) {
  const row = await refusingTaken(change.slug ?? '', () =>
    tx.row(
      `update templates p set name = coalesce(?, p.name), slug = coalesce(?, p.slug), prompt = coalesce(?, p.prompt), status = coalesce(?, p.status),
         description = case when ? then ? else p.description end, scope = coalesce(?, p.scope),
         owner_id = case coalesce(?, p.scope) when 'personal' then coalesce(p.owner_id, ?) end, updated_at = now()
       where p.id = ? and p.workspace_id = ? and (p.owner_id = ? or (p.scope = 'workspace' and ?)) returning ${COLUMNS}`,
      [
        ...[change.name ?? null, change.slug ?? null, change.prompt ?? null, change.status ?? null],
        ...[change.description !== undefined, change.description ?? null, change.scope ?? null],
        ...[change.scope ?? null, viewer.memberId, lookupId(id), viewer.workspaceId, viewer.memberId, viewer.role === 'owner'],
      ],
    ),
  );
  if (!row) throw notFound();
  return row;
}

export async function removeTemplate(tx: Tx, viewer: Viewer, id: string): Promise<void> {
  const row = await tx.row(
    `delete from templates p where p.id = ? and p.workspace_id = ? and (p.owner_id = ? or (p.scope = 'workspace' and ?)) returning p.id`,
    [lookupId(id), viewer.workspaceId, viewer.memberId, viewer.role === 'owner'],
  );
  if (!row) throw notFound();
}

/** A slug may be built in, or taken by another template of the same scope: both are told as a fault of the field. */
async function refusingTaken<T>(slug: string, write: () => Promise<T>): Promise<T> {
  const taken = (message: string) => invalid([{ field: 'slug', message }]);
  if (CATALOGUE.some((builtin) => builtin.slug === slug)) throw taken(`${slug} is a built-in template; choose another`);
  try {
    return await write();
  } catch (error) {
    if (isTaken('slug', error)) throw taken(`there is a template ${slug} already`);
    throw error;
  }
}
