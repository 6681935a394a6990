import { z } from 'zod';
import { createKey, listKeys, revokeKey } from '../../../db/access/keys.ts';
import { invalid } from '../../contract/errors.ts';
import { SCOPES } from '../../contract/workspace.ts';
import { empty, json } from '../../http/route.ts';
import { page } from '../page.ts';

const NewKey = z.strictObject({
  name: z.string().trim().max(100).nullable().default(null),
  scopes: z.array(z.enum(SCOPES)).min(1),
  expires_at: z.iso.datetime({ offset: true }).nullable().default(null),
});

const LAST_YEAR = 9999; // last year of a four-digit date

export const keys = page({
  method: 'GET',
  path: '/keys',
  handler: async ({ db }, actor) => json(200, { items: await db.workspace(actor.workspaceId, (tx) => listKeys(tx, actor)) }),
});

export const newKey = page({
  method: 'POST',
  path: '/keys',
  body: NewKey,
  async handler(context, actor) {
    const { name, scopes, expires_at } = await context.body();
    const expires = expires_at === null ? null : new Date(expires_at);
    if (expires && (expires.getTime() <= Date.now() || expires.getUTCFullYear() > LAST_YEAR)) {
      throw invalid([{ field: 'expires_at', message: `must be in the future, and no later than the year ${LAST_YEAR}` }]);
    }
    const key = { name: name || null, scopes: [...new Set(['read' as const, ...scopes])], expiresAt: expires };
    return json(201, await context.db.workspace(actor.workspaceId, (tx) => createKey(tx, actor, key)));
  },
});

export const deleteKey = page({
  method: 'DELETE',
  path: '/keys/{id}',
  async handler({ db, params }, actor) {
    await db.workspace(actor.workspaceId, (tx) => revokeKey(tx, actor, params.id!));
    return empty(204);
  },
});
