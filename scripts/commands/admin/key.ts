import { type Command, InvalidArgumentError } from 'commander';
import { everywhere, MEMBER, operate, scopeList, verb, WORKSPACE } from './verb.ts';

const keys = () => import('../../../db/access/keys.ts');

export function addKey(group: Command): void {
  verb(group.command('create'), 'create an API key and show it, once', async (db, _vault, { workspace, member, scopes, expires }) => {
    const { createKey } = await keys();
    const { id, key } = await operate(db, ['workspace', workspace], (tx, actor) =>
      createKey(tx, actor, { memberId: member, scopes, expiresAt: expires }),
    );
    return { id, key };
  })
    .requiredOption(...WORKSPACE)
    .requiredOption(...MEMBER)
    .addOption(scopeList())
    .option('--expires <time>', 'expiry, ISO 8601', time);
  verb(group.command('revoke'), 'revoke a key', async (db, _vault, { keyId }) => {
    const { revokeKey } = await keys();
    await operate(db, ['key', keyId], (tx, actor) => revokeKey(tx, actor, keyId));
    return { id: keyId };
  }).requiredOption('--key-id <id>', 'id from `create` or `list`');
  verb(group.command('list'), 'list keys, without their secrets', async (db, _vault, { workspace }) => {
    const { listKeys } = await keys();
    return everywhere(db, workspace, async (tx, actor) =>
      (await listKeys(tx, actor)).map(({ member, hint, ...key }) => ({
        ...{ id: key.id, workspace_id: actor.workspaceId, member_id: member.id, ends_in: hint, scopes: key.scopes },
        ...{ expires_at: key.expires_at, revoked_at: key.revoked_at, last_used_at: key.last_used_at, created_at: key.created_at },
      })),
    );
  }).option(...WORKSPACE);
}

function time(text: string): Date {
  const [date, day] = [new Date(text), new Date(`${text.slice(0, 10)}T00:00Z`)];
  const real = !Number.isNaN(date.getTime() + day.getTime()) && text.startsWith(day.toISOString().slice(0, 10)); // 30 February is parsed as 2 March
  if (!real) throw new InvalidArgumentError('It must be a time like 2027-01-31T12:00:00Z.');
  if (date.getTime() <= Date.now()) throw new InvalidArgumentError('It must be in the future.');
  return date;
}
