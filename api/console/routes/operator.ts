import { z } from 'zod';
import { engines, overview, readSettings, writeSettings } from '../../../db/ops/overview.ts';
import { whileWanted } from '../../../db/postgres/wanted.ts';
import { json } from '../../http/route.ts';
import { page } from '../page.ts';

export const operator = page({
  method: 'GET',
  path: '/operator',
  owner: true,
  async handler({ db, request }, { caller }) {
    const own = await whileWanted(request.signal, () => db.workspace(caller.workspaceId, (tx) => overview(tx, caller.workspaceId)));
    return json(200, { ...own, engines: await db.system(engines) });
  },
});

export const settings = page({
  method: 'GET',
  path: '/settings',
  owner: true,
  handler: async ({ db, vault }, { caller }) =>
    json(200, await db.workspace(caller.workspaceId, (tx) => readSettings(tx, vault, caller.workspaceId))),
});

export const putSettings = page({
  method: 'PUT',
  path: '/settings',
  owner: true,
  body: z.strictObject({ vocabulary: z.string().trim().max(2_000), retention_days: z.int().min(1).max(36_500).nullable() }),
  async handler(context, { caller }) {
    const wish = await context.body();
    await context.db.workspace(caller.workspaceId, (tx) => writeSettings(tx, context.vault, caller.workspaceId, wish));
    return json(200, wish);
  },
});
