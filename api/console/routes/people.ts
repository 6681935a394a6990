import { z } from 'zod';
import { signInLink } from '../../../db/access/sign-in-links.ts';
import { addMember, changeMember, listPendingMembers, removeMember } from '../../../db/tenants/members.ts';
import { ROLES } from '../../contract/workspace.ts';
import { originOf } from '../../http/public-url.ts';
import { empty, json } from '../../http/route.ts';
import { page } from '../page.ts';

const Name = z.string().trim().max(200);

export const invited = page({
  method: 'GET',
  path: '/members/pending',
  handler: async ({ db }, actor) => json(200, { items: await db.workspace(actor.workspaceId, (tx) => listPendingMembers(tx, actor)) }),
});

export const createMember = page({
  method: 'POST',
  path: '/members',
  body: z.strictObject({
    email: z.email().max(254),
    name: Name.optional(),
    role: z.enum(ROLES).default('user'),
    pending: z.boolean().default(false),
  }),
  async handler(context, actor) {
    const { name, ...member } = await context.body();
    return json(201, await context.db.workspace(actor.workspaceId, (tx) => addMember(tx, actor, { ...member, name: name || undefined })));
  },
});

export const updateMember = page({
  method: 'PATCH',
  path: '/members/{id}',
  body: z.strictObject({ name: Name.nullable().optional(), role: z.enum(ROLES).optional(), status: z.literal('active').optional() }),
  async handler(context, actor) {
    const change = await context.body();
    return json(200, await context.db.workspace(actor.workspaceId, (tx) => changeMember(tx, actor, context.params.id!, change)));
  },
});

export const deleteMember = page({
  method: 'DELETE',
  path: '/members/{id}',
  async handler({ db, params }, actor) {
    await db.workspace(actor.workspaceId, (tx) => removeMember(tx, actor, params.id!));
    return empty(204);
  },
});

export const memberLink = page({
  method: 'POST',
  path: '/members/{id}/link',
  async handler({ db, params, request, settings }, actor) {
    const link = await db.workspace(actor.workspaceId, (tx) => signInLink(tx, actor, params.id!));
    return json(201, { url: `${originOf(request, settings)}/#/sign-in?link=${link}` });
  },
});
