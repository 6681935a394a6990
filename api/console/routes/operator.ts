import { z } from 'zod';
import { insight, installationLoad, overview } from '../../../db/ops/overview.ts';
import { whileWanted } from '../../../db/postgres/wanted.ts';
import { readPreferences, writePreferences } from '../../../db/tenants/preferences.ts';
import { listTitles } from '../../../db/transcripts/list.ts';
import { requireOperator } from '../../contract/actor.ts';
import { invalid } from '../../contract/errors.ts';
import { json } from '../../http/route.ts';
import { page } from '../page.ts';

/** Activity of the own workspace, for its owners. */
export const activity = page({
  method: 'GET',
  path: '/activity',
  async handler({ db, vault, request }, actor) {
    const answer = await whileWanted(request.signal, () =>
      db.workspace(actor.workspaceId, async (tx) => {
        const { usage, ready, unsure } = await insight(tx, actor);
        const titles = await listTitles(
          tx,
          vault,
          actor,
          unsure.map(({ id }) => id),
        );
        const confidence = new Map(unsure.map((one) => [one.id, one.confidence]));
        const second_look = titles.map(({ id, title }) => ({ id, title, confidence: confidence.get(id) }));
        return { ...(await overview(tx, actor)), usage, ready, second_look };
      }),
    );
    return json(200, answer);
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
  async handler({ db, vault, settings: { LONGHAND_KEEP_RECORDINGS_DAYS: most } }, actor) {
    const own = await db.workspace(actor.workspaceId, (tx) => readPreferences(tx, vault, actor));
    return json(200, { ...own, keep_recordings_most: most });
  },
});

export const putSettings = page({
  method: 'PUT',
  path: '/settings',
  body: z.strictObject({
    vocabulary: z.string().trim().max(2_000),
    retention_days: z.int().min(1).max(36_500).nullable(),
    keep_recordings_days: z.int().min(0),
  }),
  async handler(context, actor) {
    const wanted = await context.body();
    const most = context.settings.LONGHAND_KEEP_RECORDINGS_DAYS;
    if (wanted.keep_recordings_days > most)
      throw invalid([{ field: 'keep_recordings_days', message: `must be at most ${most}, the operator's maximum` }]);
    await context.db.workspace(actor.workspaceId, (tx) => writePreferences(tx, context.vault, actor, wanted));
    return json(200, wanted);
  },
});
