import { z } from 'zod';
import { keptDays } from '../../../db/tenants/preferences.ts';
import { createProject, listProjectMembers, setProjectMember, uploadProjects } from '../../../db/tenants/projects.ts';
import { PROJECT_ROLES } from '../../contract/workspace.ts';
import { empty, json } from '../../http/route.ts';
import { page } from '../page.ts';

export const newProject = page({
  method: 'POST',
  path: '/projects',
  body: z.strictObject({ name: z.string().trim().min(1).max(200) }),
  async handler(context, actor) {
    const { name } = await context.body();
    return json(201, await context.db.workspace(actor.workspaceId, (tx) => createProject(tx, actor, name)));
  },
});

/** Projects to which this person may add recordings, which viewers of a project may not, and for how many days recordings are kept. */
export const uploadPlaces = page({
  method: 'GET',
  path: '/projects/upload',
  handler: async ({ db, settings }, actor) =>
    db.workspace(actor.workspaceId, async (tx) =>
      json(200, {
        items: await uploadProjects(tx, actor),
        kept_days: await keptDays(tx, actor.workspaceId, settings.LONGHAND_KEEP_RECORDINGS_DAYS),
      }),
    ),
});

export const projectMembers = page({
  method: 'GET',
  path: '/projects/{id}/members',
  handler: async ({ db, params }, actor) =>
    json(200, await db.workspace(actor.workspaceId, (tx) => listProjectMembers(tx, actor, params.id!))),
});

export const putProjectMember = page({
  method: 'PUT',
  path: '/projects/{id}/members/{member_id}',
  body: z.strictObject({ role: z.enum([...PROJECT_ROLES, 'none']) }),
  async handler(context, actor) {
    const { role } = await context.body();
    const { id, member_id } = context.params as { id: string; member_id: string };
    await context.db.workspace(actor.workspaceId, (tx) => setProjectMember(tx, actor, id, member_id, role));
    return empty(204);
  },
});
