import { type Actor, requireFullRights, requireScope } from '../../api/contract/actor.ts';
import { CATALOGUE } from '../../api/contract/catalogue.ts';
import { forbidden, invalid, notFound } from '../../api/contract/errors.ts';
import { Slug, slugOf, type Template, type TemplateScope } from '../../api/contract/report.ts';
import { audit } from '../access/audit.ts';
import { Template as TemplateEntity } from '../postgres/entities/report.ts';
import { HELD, lowered } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import { isTaken } from '../postgres/unique.ts';
import { existingMember, findPeople } from '../tenants/members.ts';
import { lookupId } from '../tenants/visibility.ts';

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
  /** Owner; null: the whole workspace. */
  owner: { id: string; email: string } | null;
}

type Found = Omit<TemplateRow, 'description' | 'updated_at' | 'owner'> & {
  workspaceId: string;
  ownerId?: string | null;
  description?: string | null;
  updatedAt: Date;
};

async function shown(tx: Tx, templates: readonly Found[]): Promise<TemplateRow[]> {
  const owners = templates.flatMap(({ ownerId }) => ownerId ?? []);
  const people = owners.length ? await findPeople(tx, templates[0]!.workspaceId, owners) : new Map();
  return templates.map(({ id, slug, name, description, scope, status, prompt, updatedAt, ownerId }) => ({
    ...{ id, slug, name, description: description ?? null, scope, status, prompt },
    ...{ updated_at: updatedAt.toISOString(), owner: people.get(ownerId ?? '') ?? null },
  }));
}

/** Every template the actor may request: the catalogue, then the workspace's, then their own; published ones only. */
export async function listTemplates(tx: Tx, actor: Actor): Promise<Template[]> {
  const published = await tx.em.find(
    TemplateEntity,
    { workspaceId: actor.workspaceId, status: 'published', $or: [{ scope: 'workspace' }, ...personal(actor)] },
    { orderBy: { scope: 'desc', createdAt: 'asc', id: 'asc' } }, // 'workspace' before 'personal'
  );
  const common = new Set(published.filter(({ scope }) => scope === 'workspace').map(({ slug }) => slug));
  const custom = published.filter(({ scope, slug }) => scope === 'workspace' || !common.has(slug));
  return [
    ...CATALOGUE.map(({ slug, name, category }): Template => ({ slug, name, kind: 'builtin', scope: null, description: category })),
    ...custom.map(
      ({ slug, name, scope, description }): Template => ({ slug, name, kind: 'custom', scope, description: description ?? null }),
    ),
  ];
}

/** A person's own templates and the workspace's with their prompts; drafts of the workspace only for its owners. */
export async function listOwnTemplates(tx: Tx, actor: Actor): Promise<TemplateRow[]> {
  requireScope(actor, 'reports:write', 'reports_scope_required');
  const common = actor.role === 'owner' ? { scope: 'workspace' as const } : { scope: 'workspace' as const, status: 'published' as const };
  const found = await tx.em.find(
    TemplateEntity,
    { workspaceId: actor.workspaceId, $or: [common, ...personal(actor)] },
    { orderBy: { scope: 'desc', [lowered('name')]: 'asc', id: 'asc' } },
  );
  return shown(tx, found);
}

/** The operator has no personal templates. */
const personal = ({ memberId }: Actor) => (memberId ? [{ ownerId: memberId }] : []);

export interface NewTemplate {
  name: string;
  prompt: string;
  /** Default: derived from the name. */
  slug?: string;
  description?: string | null;
  scope: TemplateScope;
  status: 'draft' | 'published';
  /** Owner of a personal template created by the operator; others create their own. */
  ownerId?: string;
}

/**
 * Throws 403 for a member who creates one for the whole workspace, and `validation_error` for a slug that is invalid, built in or taken.
 */
export async function createTemplate(tx: Tx, actor: Actor, template: NewTemplate): Promise<TemplateRow> {
  mayWrite(actor, template.scope);
  const slug = template.slug ?? slugOf(template.name);
  if (!Slug.safeParse(slug).success) throw slugFault('cannot be made from this name; give one of a-z, 0-9 and hyphens');
  const owner = actor.kind === 'operator' ? () => existingMember(tx, actor.workspaceId, template.ownerId ?? '') : () => actor.memberId;
  const ownerId = template.scope === 'personal' ? await owner() : null;
  const { name, description = null, prompt, scope, status } = template;
  const made = tx.em.create(TemplateEntity, { workspaceId: actor.workspaceId, ownerId, scope, slug, name, description, prompt, status });
  await refusingTaken(slug, () => tx.em.flush());
  await audit(tx, actor, 'template.create', made.id);
  return (await shown(tx, [made]))[0]!;
}

/** Filter for the templates that an actor may change: their own; for an owner also the workspace's, for the operator all. */
function mine(actor: Actor, id: string) {
  const own = [...personal(actor), ...(actor.role === 'owner' ? [{ scope: 'workspace' as const }] : [])];
  return { workspaceId: actor.workspaceId, id: lookupId(id), ...(actor.kind !== 'operator' && { $or: own }) };
}

/** Throws 404, 403 and `validation_error` as `createTemplate` does. */
export async function changeTemplate(tx: Tx, actor: Actor, id: string, change: Partial<NewTemplate>): Promise<TemplateRow> {
  mayWrite(actor, change.scope);
  const found = await tx.em.findOne(TemplateEntity, mine(actor, id), HELD);
  if (!found) throw notFound();
  const { name, slug, prompt, status, description, scope } = change;
  if (name !== undefined) found.name = name;
  if (slug !== undefined) found.slug = slug;
  if (prompt !== undefined) found.prompt = prompt;
  if (status) found.status = status;
  if (description !== undefined) found.description = description;
  if (scope) found.scope = scope;
  found.ownerId = found.scope === 'personal' ? (found.ownerId ?? actor.memberId) : null;
  found.updatedAt = new Date();
  await refusingTaken(slug ?? '', () => tx.em.flush());
  await audit(tx, actor, 'template.change', found.id);
  return (await shown(tx, [found]))[0]!;
}

/** Deletes a template; its reports are kept. Throws 404. */
export async function deleteTemplate(tx: Tx, actor: Actor, id: string): Promise<void> {
  mayWrite(actor);
  if (!(await tx.em.nativeDelete(TemplateEntity, mine(actor, id)))) throw notFound();
  await audit(tx, actor, 'template.delete', id);
}

/** The id of the template with this slug: the workspace's, or with `ownerId` this member's. Null: there is none. */
export async function findTemplate(tx: Tx, actor: Actor, slug: string, ownerId?: string): Promise<string | null> {
  const owner = ownerId === undefined ? null : lookupId(ownerId);
  const found = await tx.em.findOne(TemplateEntity, { workspaceId: actor.workspaceId, slug, ownerId: owner });
  return found?.id ?? null;
}

function mayWrite(actor: Actor, scope?: TemplateScope): void {
  requireFullRights(actor);
  if (scope === 'workspace' && actor.role !== 'owner') throw forbidden('Only owners of the workspace may publish templates for all of it');
}

/** Reports a slug that is built in, or taken by another template of the same scope, as an error of the field. */
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
