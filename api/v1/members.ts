import { z } from 'zod';
import { linkIdentity, unlinkIdentity } from '../../db/tenants/identities.ts';
import { activeMember, listMembers } from '../../db/tenants/members.ts';
import { ApiError } from '../contract/errors.ts';
import { LIMITS } from '../contract/limits.ts';
import { Identity, MemberList } from '../contract/workspace.ts';
import { empty, json, route } from '../http/route.ts';
import { judgedLater } from './body.ts';
import { MEMBERS_EXAMPLE } from './examples.ts';

const MANAGE = { scope: 'members:write', scopeError: 'members_scope_required', tokenError: 'api_key_required' } as const;
const TAG = 'Members';

/** An identity to link: the provider is converted to lower case. */
const IdentityLink = z
  .strictObject({
    provider: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,32}$/)
      .toLowerCase(),
    external_id: z.string().regex(new RegExp(`^[\\x20-\\x7e]{1,${LIMITS.EXTERNAL_ID_CHARACTERS}}$`)),
  })
  .meta({ id: 'IdentityLink' });

export const listWorkspaceMembers = route({
  method: 'GET',
  path: '/v1/workspace/members',
  id: 'listMembers',
  summary: 'List members',
  description: 'Active members with their linked identities; at most 1000.',
  tag: TAG,
  access: MANAGE,
  answers: { 200: { description: 'Members', schema: MemberList, example: MEMBERS_EXAMPLE } },
  errors: [],
  async handler({ db, caller }) {
    const items = await db.workspace(caller.workspaceId, (tx) => listMembers(tx, caller));
    return json(200, { items, total: items.length });
  },
});

const IDENTITY = { provider: 'telephony', external_id: '+15550100' };
const linked = (description: string) => ({ description, schema: Identity, example: IDENTITY });

export const putIdentity = route({
  method: 'PUT',
  path: '/v1/workspace/members/{user_id}/identities',
  id: 'linkIdentity',
  summary: 'Link an identity to a member',
  description: 'X-Author may then name the member as `external:<provider>:<external_id>`.',
  tag: TAG,
  access: MANAGE,
  params: { user_id: 'Of the member' },
  body: IdentityLink,
  answers: { 201: linked('Linked'), 200: linked('Already linked to this member') },
  errors: ['member_not_found', 'invalid_identity', 'validation_error', 'identity_conflict'],
  async handler(context) {
    const { db, caller, params } = context;
    const given = await judgedLater(context);
    return db.workspace(caller.workspaceId, async (tx) => {
      const memberId = await activeMember(tx, caller.workspaceId, params.user_id!);
      const identity = IdentityLink.safeParse(given());
      if (!identity.success) throw new ApiError('invalid_identity');
      const created = await linkIdentity(tx, caller, memberId, identity.data);
      return json(created ? 201 : 200, identity.data);
    });
  },
});

export const deleteIdentity = route({
  method: 'DELETE',
  path: '/v1/workspace/members/{user_id}/identities/{provider}/{external_id}',
  id: 'unlinkIdentity',
  summary: 'Unlink an identity',
  description: 'Percent-encode `external_id` if it contains a slash or colon.',
  tag: TAG,
  access: MANAGE,
  params: { user_id: 'Of the member', provider: 'Label of the identity', external_id: 'Case-sensitive' },
  answers: { 204: { description: 'Unlinked' } },
  errors: ['member_not_found', 'identity_not_found'],
  async handler({ db, caller, params }) {
    await db.workspace(caller.workspaceId, async (tx) => {
      const memberId = await activeMember(tx, caller.workspaceId, params.user_id!);
      await unlinkIdentity(tx, caller, memberId, { provider: params.provider!, external_id: params.external_id! });
    });
    return empty(204);
  },
});
