import { z } from 'zod';
import { invite, listInvitations, revokeInvitation } from '../../../db/tenants/invitations.ts';
import { ROLES } from '../../contract/workspace.ts';
import { originOf } from '../../http/public-url.ts';
import { type Context, empty, json } from '../../http/route.ts';
import { send } from '../mail.ts';
import { page } from '../page.ts';

export const invitations = page({
  method: 'GET',
  path: '/invitations',
  handler: async ({ db }, actor) => json(200, { items: await db.workspace(actor.workspaceId, (tx) => listInvitations(tx, actor)) }),
});

/** Invites a person by a link, which is also sent by e-mail if a mail server is configured: `sent` tells whether it was. */
export const newInvitation = page({
  method: 'POST',
  path: '/invitations',
  body: z.strictObject({ email: z.email().max(254), name: z.string().trim().max(200).optional(), role: z.enum(ROLES).default('user') }),
  async handler(context, actor) {
    const { name, ...person } = await context.body();
    const { secret, ...made } = await context.db.workspace(actor.workspaceId, (tx) =>
      invite(tx, actor, { ...person, name: name || undefined }),
    );
    const url = `${originOf(context.request, context.settings)}/#/sign-in?invitation=${secret}`;
    const sent = await mail(context, made.email, actor.workspaceName, actor.memberName ?? actor.memberEmail, url);
    return json(201, { ...made, status: 'pending', url, sent });
  },
});

export const removeInvitation = page({
  method: 'DELETE',
  path: '/invitations/{id}',
  async handler({ db, params }, actor) {
    await db.workspace(actor.workspaceId, (tx) => revokeInvitation(tx, actor, params.id!));
    return empty(204);
  },
});

/** If the mail server rejects the message the invitation remains valid: there is still the link. */
async function mail({ settings, log }: Context, to: string, workspace: string, inviter: string, url: string): Promise<boolean> {
  const text = `${inviter} invites you to the workspace "${workspace}" of Longhand, where recordings are transcribed.

Accept within 7 days:

${url}

If you did not expect this, ignore it: you become a member only if you accept.
`;
  return send(settings, log, { to, subject: `Invitation to ${workspace}`, text }, 'cannot send an invitation by e-mail');
}
