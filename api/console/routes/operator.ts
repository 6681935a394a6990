import { z } from 'zod';
import { installationLoad, overview } from '../../../db/ops/overview.ts';
import { whileWanted } from '../../../db/postgres/wanted.ts';
import { readPreferences, writePreferences } from '../../../db/tenants/preferences.ts';
import { requireOperator } from '../../contract/actor.ts';
import { json } from '../../http/route.ts';
import { page } from '../page.ts';

/** Activity of the own workspace, for its owners; engines and the load of every workspace, for operators of the installation. */
export const operator = page({
  method: 'GET',
  path: '/operator',
  async handler({ db, request }, actor) {
    const own = await whileWanted(request.signal, () => db.workspace(actor.workspaceId, (tx) => overview(tx, actor)));
    const installation = actor.runsInstallation
      ? await whileWanted(request.signal, () => db.acrossTenants(installationLoad))
      : { engines: null, workspaces: null };
    return json(200, { ...own, ...installation });
  },
});

/** Engines, hosts and the load of every workspace. */
export const installation = page({
  method: 'GET',
  path: '/installation',
  async handler({ db, request }, actor) {
    requireOperator(actor);
    return json(200, await whileWanted(request.signal, () => db.acrossTenants(installationLoad)));
  },
});

export const settings = page({
  method: 'GET',
  path: '/settings',
  handler: async ({ db, vault }, actor) => json(200, await db.workspace(actor.workspaceId, (tx) => readPreferences(tx, vault, actor))),
});

export const putSettings = page({
  method: 'PUT',
  path: '/settings',
  body: z.strictObject({ vocabulary: z.string().trim().max(2_000), retention_days: z.int().min(1).max(36_500).nullable() }),
  async handler(context, actor) {
    const wanted = await context.body();
    await context.db.workspace(actor.workspaceId, (tx) => writePreferences(tx, context.vault, actor, wanted));
    return json(200, wanted);
  },
});
