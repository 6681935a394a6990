import { type Command, Option } from 'commander';
import { positive } from '../parsers.ts';
import { everywhere, MEMBER, operate, scopeList, verb, WORKSPACE } from './verb.ts';

const grants = () => import('../../../db/access/grants.ts');
const sessions = () => import('../../../db/access/sessions.ts');

export function addToken(group: Command): void {
  verb(
    group.command('create'),
    'create a token as the sign-in flow would issue it',
    async (db, _vault, { workspace, member, scopes, ttl }) => {
      const { createToken } = await import('../../../db/access/tokens.ts');
      return operate(db, ['workspace', workspace], (tx, actor) => createToken(tx, actor, { memberId: member, scopes, ttlSeconds: ttl }));
    },
  )
    .requiredOption(...WORKSPACE)
    .requiredOption(...MEMBER)
    .addOption(scopeList())
    .addOption(new Option('--ttl <seconds>', 'lifetime').argParser(positive).default(3600));
  verb(group.command('revoke'), 'revoke a token and all others of the same grant', async (db, _vault, { tokenId }) =>
    endGrant(db, tokenId),
  ).requiredOption('--token-id <id>', 'id from `create` or `grant list`');
}

export function addGrant(group: Command): void {
  verb(group.command('list'), 'list OAuth grants, without their tokens', async (db, _vault, { workspace }) => {
    const { listGrants } = await grants();
    return everywhere(db, workspace, async (tx, actor) =>
      (await listGrants(tx, actor)).map(({ id, client, member, scopes, created_at, expires_at }) => ({
        ...{ id, workspace_id: actor.workspaceId, member_id: member.id, email: member.email },
        ...{ client: client?.name ?? null, scopes, created_at, expires_at },
      })),
    );
  }).option(...WORKSPACE);
  verb(group.command('revoke'), 'revoke a grant', async (db, _vault, { grantId }) => endGrant(db, grantId)).requiredOption(
    '--grant-id <id>',
    'id from `list`',
  );
}

export function addClient(group: Command): void {
  const clients = () => import('../../../db/access/oauth-clients.ts');
  verb(group.command('list'), 'list registered OAuth clients', async (db) => db.acrossTenants((await clients()).listClients));
  verb(group.command('revoke'), 'remove a client with all its grants', async (db, _vault, { clientId }) => {
    const { removeClient } = await clients();
    if (!(await db.acrossTenants((tx) => removeClient(tx, clientId)))) throw new Error(`There is no client ${clientId}`);
    return { id: clientId };
  }).requiredOption('--client-id <id>', 'id from `list`');
}

async function endGrant(db: Parameters<typeof operate>[0], id: string): Promise<{ id: string }> {
  const { revokeGrant } = await grants();
  await operate(db, ['grant', id], (tx, actor) => revokeGrant(tx, actor, id));
  return { id };
}

export function addSession(group: Command): void {
  verb(group.command('list'), 'list console sessions', async (db, _vault, { workspace }) => {
    const { listSessions } = await sessions();
    return everywhere(db, workspace, async (tx, actor) =>
      (await listSessions(tx, actor)).map(({ id, member, key, created_at, expires_at }) => ({
        ...{ id, workspace_id: actor.workspaceId, member_id: member.id, email: member.email },
        ...{ key_id: key?.id ?? null, created_at, expires_at },
      })),
    );
  }).option(...WORKSPACE);
  verb(group.command('revoke'), 'end a session', async (db, _vault, { sessionId }) => {
    const { revokeSession } = await sessions();
    await operate(db, ['session', sessionId], (tx, actor) => revokeSession(tx, actor, sessionId));
    return { id: sessionId };
  }).requiredOption('--session-id <id>', 'id from `list`');
}
