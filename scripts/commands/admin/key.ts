import { type Command, InvalidArgumentError, Option } from 'commander';
import { positive } from '../numbers.ts';
import { MEMBER, scopeList, verb, WORKSPACE } from './verb.ts';

const verbs = () => import('../../../db/access/keys-admin.ts');

export function addKey(group: Command): void {
  verb(group.command('create'), 'make an API key; it is shown this once', async (db, _vault, { workspace, member, scopes, expires }) =>
    (await verbs()).createKey(db, { workspaceId: workspace, memberId: member, scopes, expiresAt: expires }),
  )
    .requiredOption(...WORKSPACE)
    .requiredOption(...MEMBER)
    .addOption(scopeList())
    .option('--expires <time>', 'when it ends, ISO 8601', time);
  verb(group.command('revoke'), 'end a key at once', async (db, _vault, { keyId }) => (await verbs()).revokeKey(db, keyId)).requiredOption(
    '--key-id <id>',
    'the id that `create` and `list` show',
  );
  verb(group.command('list'), 'keys, without their secrets', async (db, _vault, { workspace }) =>
    (await verbs()).listKeys(db, workspace),
  ).option(...WORKSPACE);
}

export function addToken(group: Command): void {
  verb(group.command('create'), 'make a token as the sign-in flow would issue it', async (db, _vault, { workspace, member, scopes, ttl }) =>
    (await verbs()).createToken(db, { workspaceId: workspace, memberId: member, scopes, ttlSeconds: ttl }),
  )
    .requiredOption(...WORKSPACE)
    .requiredOption(...MEMBER)
    .addOption(scopeList())
    .addOption(new Option('--ttl <seconds>', 'how long it is valid').argParser(positive).default(3600));
}

function time(text: string): Date {
  const [date, day] = [new Date(text), new Date(`${text.slice(0, 10)}T00:00Z`)];
  const real = !Number.isNaN(date.getTime() + day.getTime()) && text.startsWith(day.toISOString().slice(0, 10)); // 30 February is read as 2 March
  if (!real) throw new InvalidArgumentError('It must be a time like 2027-01-31T12:00:00Z.');
  return date;
}
