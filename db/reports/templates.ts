import { type Actor, requireFullRights, requireScope } from '../../api/contract/actor.ts';
import { CATALOGUE } from '../../api/contract/catalogue.ts';
import { forbidden, invalid, notFound } from '../../api/contract/errors.ts';
import { Slug, slugOf, type Template, type TemplateScope } from '../../api/contract/report.ts';
import { audit } from '../access/audit.ts';
import type { Tx } from '../postgres/orm.ts';
import { isTaken } from '../postgres/unique.ts';
import { existingMember } from '../tenants/members.ts';
import { lookupId } from '../tenants/visibility.ts';
import { stamp } from '../transcripts/list-row.ts';

/** A template of a workspace or of one member, as the console shows it. */
export interface TemplateRow {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  scope: TemplateScope;
  status: 'draft' | 'published';
  prompt: string;
  updated_at: string;
  /** Null: of the whole workspace. */
  owner: { id: string; email: string } | null;
}

const COLUMNS = `p.id, p.slug, p.name, p.description, p.scope, p.status, p.prompt, ${stamp('p.updated_at')} as updated_at,
  case when p.owner_id is null then null else (select json_build_object('id', m.id, 'email', m.email) from members m where m.id = p.owner_id) end as owner`;

/** Every template the actor may request: the catalogue, then the workspace's, then their own; published ones only. */
export async function listTemplates(tx: Tx, actor: Actor): Promise<Template[]> {
  const custom = await tx.rows<{ slug: string; name: string; scope: TemplateScope; description: string | null }>(
    `select p.slug, p.name, p.scope, p.description from templates p
     where p.workspace_id = ? and p.status = 'published' and (p.scope = 'workspace' or (p.owner_id = ? and not exists (
       select 1 from templates w
       where w.workspace_id = p.workspace_id and w.slug = p.slug and w.scope = 'workspace' and w.status = 'published')))
     order by p.scope = 'workspace' desc, p.created_at, p.id`,
    [actor.workspaceId, actor.memberId],
  );
  return [
    ...CATALOGUE.map(({ slug, name, category }): Template => ({ slug, name, kind: 'builtin', scope: null, description: category })),
    ...custom.map(({ slug, name, scope, description }): Template => ({ slug, name, kind: 'custom', scope, description })),
  ];
}

/** A person's own templates and the workspace's with their prompts; drafts of the workspace only for its owners. */
export function listOwnTemplates(tx: Tx, actor: Actor): Promise<TemplateRow[]> {
  requireScope(actor, 'reports:write', 'reports_scope_required');
  return tx.rows<TemplateRow>(
    `select ${COLUMNS} from templates p
     where p.workspace_id = ? and (p.owner_id = ? or (p.scope = 'workspace' and (p.status = 'published' or ?)))
     order by p.scope desc, lower(p.name), p.id`,
    [actor.workspaceId, actor.memberId, actor.role === 'owner'],
  );
}

export interface NewTemplate {
  name: string;
  prompt: string;
  /** From the name when left out. */
  slug?: string;
  description?: string | null;
  scope: TemplateScope;
  status: 'draft' | 'published';
  /** Whose personal template it is, where the operator makes it; everybody else makes their own. */
  ownerId?: string;
}

/** Throws 403 for a member who wants one for the whole workspace, `validation_error` for a slug that is no slug, built in or taken. */
export async function createTemplate(tx: Tx, actor: Actor, template: NewTemplate): Promise<TemplateRow> {
  mayWrite(actor, template.scope);
  const slug = template.slug ?? slugOf(template.name);
  if (!Slug.safeParse(slug).success) throw slugFault('cannot be made from this name; give one of a-z, 0-9 and hyphens');
  const owner = actor.kind === 'operator' ? () => existingMember(tx, actor.workspaceId, template.ownerId ?? '') : () => actor.memberId;
  const ownerId = template.scope === 'personal' ? await owner() : null;
  const row = await refusingTaken(slug, () =>
    tx.row<TemplateRow>(
      `insert into templates as p (workspace_id, owner_id, scope, slug, name, description, prompt, status) values (?, ?, ?, ?, ?, ?, ?, ?) returning ${COLUMNS}`,
      [
        ...[actor.workspaceId, ownerId, template.scope, slug],
        ...[template.name, template.description ?? null, template.prompt, template.status],
      ],
    ),
  );
  await audit(tx, actor, 'template.create', row!.id);
  return row!;
}

/** Which templates an actor may change: a person their own, an owner the workspace's too, the operator all. */
const MINE = `p.workspace_id = ? and (p.owner_id = ? or (p.scope = 'workspace' and ?) or ?)`;
const mine = (actor: Actor) => [actor.workspaceId, actor.memberId, actor.role === 'owner', actor.kind === 'operator'];

/** Throws 404, 403 and `validation_error` as `createTemplate` does. */
export async function changeTemplate(tx: Tx, actor: Actor, id: string, change: Partial<NewTemplate>): Promise<TemplateRow> {
  mayWrite(actor, change.scope);
  const row = await refusingTaken(change.slug ?? '', () =>
    tx.row<TemplateRow>(
      `update templates p set name = coalesce(?, p.name), slug = coalesce(?, p.slug), prompt = coalesce(?, p.prompt), status = coalesce(?, p.status),
         description = case when ? then ? else p.description end, scope = coalesce(?, p.scope),
         owner_id = case coalesce(?, p.scope) when 'personal' then coalesce(p.owner_id, ?) end, updated_at = now()
       where p.id = ? and ${MINE} returning ${COLUMNS}`,
      [
        ...[change.name ?? null, change.slug ?? null, change.prompt ?? null, change.status ?? null],
        ...[change.description !== undefined, change.description ?? null, change.scope ?? null],
        ...[change.scope ?? null, actor.memberId, lookupId(id), ...mine(actor)],
      ],
    ),
  );
  if (!row) throw notFound();
  await audit(tx, actor, 'template.change', row.id);
  return row;
}

/** Its reports stay. Throws 404. */
export async function deleteTemplate(tx: Tx, actor: Actor, id: string): Promise<void> {
  mayWrite(actor);
  const row = await tx.row(`delete from templates p where p.id = ? and ${MINE} returning p.id`, [lookupId(id), ...mine(actor)]);
  if (!row) throw notFound();
  await audit(tx, actor, 'template.delete', id);
}

/** The id of the template with this slug: the workspace's, or with `ownerId` this member's. Null: there is none. */
export async function findTemplate(tx: Tx, actor: Actor, slug: string, ownerId?: string): Promise<string | null> {
  const row = await tx.row<{ id: string }>(
    'select id from templates where workspace_id = ? and slug = ? and owner_id is not distinct from ?::uuid',
    [actor.workspaceId, slug, ownerId === undefined ? null : lookupId(ownerId)],
  );
  return row?.id ?? null;
}

function mayWrite(actor: Actor, scope?: TemplateScope): void {
  requireFullRights(actor);
  if (scope === 'workspace' && actor.role !== 'owner') throw forbidden('Only owners of the workspace may publish templates for all of it');
}

/** A slug may be built in, or taken by another template of the same scope: both are told as a fault of the field. */
async function refusingTaken<T>(slug: string, write: () => Promise<T>): Promise<T> {
  if (CATALOGUE.some((builtin) => builtin.slug === slug)) throw slugFault(`${slug} is a built-in template; choose another`);
  try {
    return await write();
  } catch (error) {
    if (isTaken('slug', error)) throw slugFault(`There is a template with the slug ${slug} already`);
    throw error;
  }
}

function slugFault(message: string) {
  return invalid([{ field: 'slug', message }]);
}
