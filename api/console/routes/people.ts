import { z } from 'zod';
import { makeSignInLink } from '../../../db/access/sessions.ts';
import { Taken } from '../../../db/tenants/existing.ts';
import { activeMember } from '../../../db/tenants/members.ts';
import { addMember, endMembership, setProjectMember } from '../../../db/tenants/members-admin.ts';
import { addProject, changeMember, keepsOwner, pendingMembers, projectMembers, standing } from '../../../db/tenants/members-console.ts';
import { uploadProjects } from '../../../db/tenants/projects.ts';
import { forbidden, invalid, notFound } from '../../contract/errors.ts';
import { PROJECT_ROLES, ROLES } from '../../contract/workspace.ts';
import { originOf } from '../../http/public-url.ts';
import { empty, json } from '../../http/route.ts';
import { page } from '../page.ts';

const Name = z.string().trim().max(200);

export const invited = page({
  method: 'GET',
  path: '/members/pending',
  owner: true,
  handler: async ({ db }, { caller }) =>
    json(200, { items: await db.workspace(caller.workspaceId, (tx) => pendingMembers(tx, caller.workspaceId)) }),
});

export const createMember = page({
  method: 'POST',
  path: '/members',
  owner: true,
  body: z.strictObject({
    email: z.email().max(254),
    name: Name.optional(),
    role: z.enum(ROLES).default('user'),
    pending: z.boolean().default(false),
  }),
  async handler(context, { caller }) {
    const wish = await context.body();
    try {
      return json(201, await addMember(context.db, { workspaceId: caller.workspaceId, ...wish, name: wish.name || undefined }));
    } catch (error) {
      if (error instanceof Taken) throw invalid([{ field: 'email', message: error.message }]);
      throw error;
    }
  },
});

export const updateMember = page({
  method: 'PATCH',
  path: '/members/{id}',
  owner: true,
  body: z.strictObject({ name: Name.nullable().optional(), role: z.enum(ROLES).optional(), status: z.literal('active').optional() }),
  async handler(context, { caller }) {
    const change = await context.body();
    return json(
      200,
      await context.db.workspace(caller.workspaceId, (tx) => changeMember(tx, caller.workspaceId, context.params.id!, change)),
    );
  },
});

export const deleteMember = page({
  method: 'DELETE',
  path: '/members/{id}',
  owner: true,
  async handler({ db, params }, { caller }) {
    await db.workspace(caller.workspaceId, async (tx) => {
      await keepsOwner(tx, caller.workspaceId, params.id!);
      await changeMember(tx, caller.workspaceId, params.id!, {});
      await endMembership(tx, caller.workspaceId, params.id!);
    });
    return empty(204);
  },
});

export const memberLink = page({
  method: 'POST',
  path: '/members/{id}/link',
  owner: true,
  async handler(context, { caller }) {
    const { db, params, request, settings } = context;
    const link = await db.workspace(caller.workspaceId, async (tx) =>
      makeSignInLink(tx, { workspaceId: caller.workspaceId, memberId: await activeMember(tx, caller.workspaceId, params.id!) }),
    );
    return json(201, { url: `${originOf(request, settings)}/#/sign-in?link=${link}` });
  },
});

export const createProject = page({
  method: 'POST',
  path: '/projects',
  body: z.strictObject({ name: z.string().trim().min(1).max(200) }),
  async handler(context, { caller }) {
    const { name } = await context.body();
    return json(201, await context.db.workspace(caller.workspaceId, (tx) => addProject(tx, caller, name)));
  },
});

/** Projects in which this person may put recordings: a viewer of a project may not. */
export const uploadPlaces = page({
  method: 'GET',
  path: '/projects/upload',
  handler: async ({ db }, { caller }) => json(200, { items: await db.workspace(caller.workspaceId, (tx) => uploadProjects(tx, caller)) }),
});

export const listProjectMembers = page({
  method: 'GET',
  path: '/projects/{id}/members',
  async handler({ db, params }, { caller }) {
    const items = await db.workspace(caller.workspaceId, async (tx) => {
      if ((await standing(tx, caller, params.id!)) === 'none') throw notFound();
      return projectMembers(tx, caller.workspaceId, params.id!);
    });
    return json(200, { items });
  },
});

export const putProjectMember = page({
  method: 'PUT',
  path: '/projects/{id}/members/{member_id}',
  body: z.strictObject({ role: z.enum([...PROJECT_ROLES, 'none']) }),
  async handler(context, { caller }) {
    const { role } = await context.body();
    const { id, member_id } = context.params as { id: string; member_id: string };
    await context.db.workspace(caller.workspaceId, async (tx) => {
      const place = await standing(tx, caller, id);
      if (place === 'none') throw notFound();
      if (place !== 'owner') throw forbidden('Only owners of the project or the workspace may change who belongs to it');
      await activeMember(tx, caller.workspaceId, member_id);
    });
    await setProjectMember(context.db, id, member_id, role);
    return empty(204);
  },
});
