import { z } from 'zod';
import { listAudit } from '../../../db/access/audit.ts';
import { listKeys } from '../../../db/access/keys.ts';
import { USAGE_BY, usage } from '../../../db/minutes/usage.ts';
import { findPeople } from '../../../db/tenants/members.ts';
import { listProjects } from '../../../db/tenants/projects.ts';
import { requireOwner } from '../../contract/actor.ts';
import { json } from '../../http/route.ts';
import { Day } from '../../v1/query.ts';
import { page } from '../page.ts';

const ENTRIES = 500;

/** Minutes charged to the workspace, by day, key or project, with their names. */
export const usageOf = page({
  method: 'GET',
  path: '/usage',
  query: z.object({ by: z.enum(USAGE_BY, 'must be day, key or project').default('day'), from: Day.optional(), to: Day.optional() }),
  async handler({ db, query }, actor) {
    const items = await db.workspace(actor.workspaceId, async (tx) => {
      const lines = await usage(tx, actor, query);
      const names = new Map<string, string>();
      if (query.by === 'key') for (const { id, name, hint } of await listKeys(tx, actor)) names.set(id, name ?? `lh_…${hint}`);
      if (query.by === 'project') for (const { id, name } of await listProjects(tx, actor)) names.set(id, name);
      const none = query.by === 'key' ? 'Console and assistants' : 'No project';
      return lines.map(({ recordings, minutes, ...line }) => {
        const group = line[query.by] as string | null;
        return { name: group === null ? none : (names.get(group) ?? group), recordings, minutes };
      });
    });
    return json(200, { items });
  },
});

/** The latest entries of the audit log, with the e-mail addresses of members. */
export const auditLog = page({
  method: 'GET',
  path: '/audit',
  async handler({ db }, actor) {
    requireOwner(actor);
    const entries = await db.acrossTenants((tx) => listAudit(tx, actor.workspaceId, ENTRIES));
    const members = [...new Set(entries.flatMap(({ member_id }) => member_id ?? []))];
    const people = await db.workspace(actor.workspaceId, (tx) => findPeople(tx, actor.workspaceId, members));
    return json(200, {
      items: entries.map(({ at, actor_kind, member_id, action, target_id }) => ({
        ...{ at, actor_kind, action, target_id },
        member: people.get(member_id ?? '')?.email ?? null,
      })),
    });
  },
});
