import { z } from 'zod';
import { findCredential, hashOf } from '../../../db/access/credentials.ts';
import { closeSession, type Entrant, findSession, openSession, type Session, spendSignInLink } from '../../../db/access/sessions.ts';
import { listNotifications, markRead } from '../../../db/webhooks/notifications.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Settings } from '../../contract/settings.ts';
import { refuseForeign, requireSession, sessionCookie, sessionToken } from '../../guard/session.ts';
import { type Context, empty, json, type Reply, route } from '../../http/route.ts';
import { VERSION } from '../../version.ts';
import { providerName } from '../oidc.ts';
import { page } from '../page.ts';

const open = { tag: 'Console', access: null, hidden: true, answers: {}, errors: [] } as const;

/** What the page needs to know about the person. */
function told({ actor, csrf }: Session, settings: Settings) {
  return {
    member: { id: actor.memberId, email: actor.memberEmail, name: actor.memberName, role: actor.role },
    workspace: { id: actor.workspaceId, name: actor.workspaceName },
    scopes: [...actor.scopes],
    csrf,
    expires_at: actor.expiresAt,
    operator: actor.role === 'owner',
    oidc: providerName(settings),
  };
}

export const options = route({
  ...open,
  method: 'GET',
  path: '/v1/app/options',
  summary: 'Ways to sign in',
  handler: ({ settings }) => json(200, { oidc: providerName(settings), version: VERSION }),
});

export const whoAmI = page({
  method: 'GET',
  path: '/session',
  handler: async (context) => json(200, told(await requireSession(context.request, context), context.settings)),
});

const SignIn = z.strictObject({ key: z.string().max(512).optional(), link: z.string().max(512).optional() });

export const signIn = route({
  ...open,
  method: 'POST',
  path: '/v1/app/session',
  summary: 'Sign in',
  body: SignIn,
  async handler(context) {
    refuseForeign(context.request, context);
    const { request, signIns } = context;
    const { key, link } = await context.body();
    const subjects = [request.address, `proof ${hashOf(key ?? link ?? '').toString('base64')}`];
    for (const subject of subjects) signIns.check(subject);
    const member = key ? await memberOfKey(context, key) : link ? await context.db.acrossTenants((tx) => spendSignInLink(tx, link)) : null;
    if (member) return welcome(context, member);
    for (const subject of subjects) signIns.count(subject);
    throw new ApiError('unauthorized', {
      message: key ? 'This key is not valid: it is mistyped, expired or revoked' : 'This link is used or over: ask for a new one',
    });
  },
});

/** Tokens of assistants open no session. */
async function memberOfKey({ db }: Context, key: string): Promise<Entrant | null> {
  const actor = await findCredential(db, key);
  return actor?.kind === 'key' ? actor : null;
}

/** Starts the session of a member and tells the page about it. */
async function welcome(context: Context, member: Entrant): Promise<Reply> {
  const { token, session } = await context.db.acrossTenants(async (tx) => {
    const token = await openSession(tx, member);
    return { token, session: await findSession(tx, token) };
  });
  if (!session) throw new ApiError('unauthorized', { message: 'This member is no longer active' });
  return json(201, told(session, context.settings), { 'set-cookie': sessionCookie(context, token) });
}

export const signOut = page({
  method: 'DELETE',
  path: '/session',
  async handler(context) {
    await context.db.acrossTenants((tx) => closeSession(tx, sessionToken(context.request)!));
    return { ...empty(204), headers: { 'set-cookie': sessionCookie(context, null) } };
  },
});

export const notifications = page({
  method: 'GET',
  path: '/notifications',
  handler: async ({ db, vault }, actor) => json(200, await db.workspace(actor.workspaceId, (tx) => listNotifications(tx, vault, actor))),
});

export const readNotifications = page({
  method: 'POST',
  path: '/notifications/read',
  body: z.strictObject({ ids: z.array(z.int()).max(1000).optional() }),
  async handler(context, actor) {
    const { ids } = await context.body();
    await context.db.workspace(actor.workspaceId, (tx) => markRead(tx, actor, ids ?? null));
    return empty(204);
  },
});
