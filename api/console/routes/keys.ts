import { z } from 'zod';
import { addKey, listKeys, revokeKey } from '../../../db/access/keys-console.ts';
import { invalid, notFound } from '../../contract/errors.ts';
import { SCOPES } from '../../contract/workspace.ts';
import { empty, json } from '../../http/route.ts';
import { page } from '../page.ts';

const NewKey = z.strictObject({
  name: z.string().trim().max(100).nullable().default(null),
  scopes: z.array(z.enum(SCOPES)).min(1),
  expires_at: z.iso.datetime({ offset: true }).nullable().default(null),
});

const LAST_YEAR = 9999; // that dates are written with

export const keys = page({
  method: 'GET',
  path: '/keys',
  handler: async ({ db }, { caller }) => json(200, { items: await db.workspace(caller.workspaceId, (tx) => listKeys(tx, caller)) }),
});

export const createKey = page({
  method: 'POST',
  path: '/keys',
  body: NewKey,
  async handler(context, { caller }) {
    const { name, scopes, expires_at } = await context.body();
    if (scopes.includes('members:write') && caller.role !== 'owner') {
      throw invalid([{ field: 'scopes', message: 'members:write can be given by owners of the workspace only' }]);
    }
    const expires = expires_at === null ? null : new Date(expires_at);
    if (expires && (expires.getTime() <= Date.now() || expires.getUTCFullYear() > LAST_YEAR)) {
      throw invalid([{ field: 'expires_at', message: `must be in the future, and in the year ${LAST_YEAR} at the latest` }]);
    }
    const wish = { name: name || null, scopes: [...new Set(['read' as const, ...scopes])], expiresAt: expires?.toISOString() ?? null };
    return json(201, await context.db.workspace(caller.workspaceId, (tx) => addKey(tx, caller, wish)));
  },
});

export const deleteKey = page({
  method: 'DELETE',
  path: '/keys/{id}',
  async handler({ db, params }, { caller }) {
    if (!(await db.workspace(caller.workspaceId, (tx) => revokeKey(tx, caller, params.id!)))) throw notFound();
    return empty(204);
  },
});
