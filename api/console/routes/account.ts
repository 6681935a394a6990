import { z } from 'zod';
import { findCredential, hashOf } from '../../../db/access/credentials.ts';
import { closeSession, type Entrant, findSession, openSession, type Session } from '../../../db/access/sessions.ts';
import { enter } from '../../../db/access/sign-in.ts';
import { spendSignInLink } from '../../../db/access/sign-in-links.ts';
import { acceptInvitation } from '../../../db/tenants/invitations.ts';
import { listNotifications, markRead } from '../../../db/webhooks/notifications.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Settings } from '../../contract/settings.ts';
import { refuseForeign, requireSession, sessionCookie } from '../../guard/session.ts';
import { type Context, empty, json, type Reply, route } from '../../http/route.ts';
import { VERSION } from '../../version.ts';
import { providerName } from '../oidc.ts';
import { page } from '../page.ts';
import { personOf } from '../person.ts';

const open = { tag: 'Console', access: null, hidden: true, answers: {}, errors: [] } as const;

/** The signed-in person, as the page needs them. */
function told({ actor, csrf }: Session, settings: Settings) {
  return {
    member: { id: actor.memberId, email: actor.memberEmail, name: actor.memberName, role: actor.role },
    workspace: { id: actor.workspaceId, name: actor.workspaceName },
    scopes: [...actor.scopes],
    csrf,
    expires_at: actor.expiresAt,
    operator: actor.runsInstallation,
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

const Proof = z.string().max(512).optional();
/** Credentials for signing in: a key, a link, an invitation, or a recent sign-in at the provider with the chosen workspace. */
const SignIn = z.strictObject({ key: Proof, link: Proof, invitation: Proof, workspace_id: z.guid().optional() });

export const signIn = route({
  ...open,
  method: 'POST',
  path: '/v1/app/session',
  summary: 'Sign in',
  body: SignIn,
  async handler(context) {
    refuseForeign(context.request, context);
    const { request, signIns } = context;
    const proof = await context.body();
    const { key, invitation } = proof;
    signIns.check(request.address);
    const subjects = [request.address, await identityOf(context, proof)];
    for (const subject of subjects) signIns.check(subject);
    const member = await proven(context, proof);
    if (member) return welcome(context, member);
    for (const subject of subjects) signIns.count(subject);
    throw new ApiError('unauthorized', { message: key ? KEY_REFUSED : invitation ? INVITATION_REFUSED : LINK_REFUSED });
  },
});

/** Failures with the same result count together. Never a workspace: a stranger's failures would keep its members out. */
async function identityOf(context: Context, { key, link, invitation, workspace_id }: z.output<typeof SignIn>): Promise<string> {
  const secret = key ?? link ?? invitation;
  const person = secret === undefined && workspace_id !== undefined ? await personOf(context) : null;
  return `proof ${hashOf(person ? `${person.issuer} ${person.subject}` : (secret ?? '')).toString('base64')}`;
}

const KEY_REFUSED = 'This key is not valid: it is mistyped, expired or revoked';
const LINK_REFUSED = 'This link was already used or has expired: ask for a new one';
const INVITATION_REFUSED = 'This invitation was already accepted, was withdrawn or has expired: ask for a new one';

/** The member that the credentials prove, or null. */
async function proven(context: Context, { key, link, invitation, workspace_id }: z.output<typeof SignIn>): Promise<Entrant | null> {
  if (key) return memberOfKey(context, key);
  if (link) return context.db.acrossTenants((tx) => spendSignInLink(tx, link));
  if (invitation) return context.db.acrossTenants((tx) => acceptInvitation(tx, invitation));
  if (!workspace_id) return null;
  const person = await personOf(context);
  return context.db.acrossTenants((tx) => enter(tx, person, workspace_id));
}

/** OAuth tokens of assistants open no session. */
async function memberOfKey({ db }: Context, key: string): Promise<Entrant | null> {
  const actor = await findCredential(db, key);
  return actor?.kind === 'key' ? actor : null;
}

/** Starts a member's session and returns it to the page. */
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
  async handler(context, actor) {
    await context.db.workspace(actor.workspaceId, (tx) => closeSession(tx, actor));
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
