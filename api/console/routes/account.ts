import { z } from 'zod';
import { findCredential, hashOf } from '../../../db/access/keys.ts';
import { closeSession, type Entrant, findSession, openSession, type Session, spendSignInLink } from '../../../db/access/sessions.ts';
import { listNotifications, markRead } from '../../../db/webhooks/notifications.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Settings } from '../../contract/settings.ts';
import { type Context, empty, json, type Reply, route } from '../../http/route.ts';
import { VERSION } from '../../version.ts';
import { providerName } from '../oidc.ts';
import { page } from '../page.ts';
import { refuseForeign, sessionCookie, sessionToken, signedIn } from '../session.ts';

const open = { tag: 'Console', access: null, hidden: true, answers: {}, errors: [] } as const;

/** What the page needs to know about the person. */
function told({ caller, csrf }: Session, settings: Settings) {
  return {
    member: { id: caller.memberId, email: caller.memberEmail, name: caller.memberName, role: caller.role },
    workspace: { id: caller.workspaceId, name: caller.workspaceName },
    scopes: [...caller.scopes],
    csrf,
    expires_at: caller.expiresAt,
    operator: caller.role === 'owner',
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

export const whoAmI = route({
  ...open,
  method: 'GET',
  path: '/v1/app/session',
  summary: 'Who is signed in',
  handler: async (context) => json(200, told(await signedIn(context), context.settings)),
});

const SignIn = z.strictObject({ key: z.string().max(512).optional(), link: z.string().max(512).optional() });

export const signIn = route({
  ...open,
  method: 'POST',
  path: '/v1/app/session',
  summary: 'Sign in',
  body: SignIn,
  async handler(context) {
    refuseForeign(context);
    const { db, request, signIns } = context;
    const { key, link } = await context.body();
    const subjects = [request.address, `proof ${hashOf(key ?? link ?? '').toString('base64')}`];
    for (const subject of subjects) signIns.check(subject);
    const member = key ? await findCredential(db, key) : link ? await db.system((tx) => spendSignInLink(tx, link)) : null;
    if (!member || ('kind' in member && member.kind !== 'key')) {
      for (const subject of subjects) signIns.count(subject);
      throw new ApiError('unauthorized', {
        message: key ? 'This key is not valid: it is mistyped, expired or revoked' : 'This link is used or over: ask for a new one',
      });
    }
    return welcome(context, member);
  },
});

/** Starts the session of a member and tells the page about it. */
async function welcome(context: Context, member: Entrant): Promise<Reply> {
  const { token, session } = await context.db.system(async (tx) => {
    const token = await openSession(tx, member);
    return { token, session: await findSession(tx, token) };
  });
  if (!session) throw new ApiError('unauthorized', { message: 'This member is no longer active' });
  return json(201, told(session, context.settings), { 'set-cookie': sessionCookie(context, token) });
}

export const signOut = page({
  method: 'DELETE',
  path: '/session',
  limited: true,
  async handler(context) {
    await context.db.system((tx) => closeSession(tx, sessionToken(context.request)!));
    return { ...empty(204), headers: { 'set-cookie': sessionCookie(context, null) } };
  },
});

export const notifications = page({
  method: 'GET',
  path: '/notifications',
  handler: async ({ db, vault }, { caller }) =>
    json(200, await db.workspace(caller.workspaceId, (tx) => listNotifications(tx, vault, caller))),
});

export const readNotifications = page({
  method: 'POST',
  path: '/notifications/read',
  limited: true,
  body: z.strictObject({ ids: z.array(z.int()).max(1000).optional() }),
  async handler(context, { caller }) {
    const { ids } = await context.body();
    await context.db.workspace(caller.workspaceId, (tx) => markRead(tx, caller, ids ?? null));
    return empty(204);
  },
});
