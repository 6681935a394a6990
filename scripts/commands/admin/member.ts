import { type Command, Option } from 'commander';
import type { Settings } from '../../../api/contract/settings.ts';
import { ROLES } from '../../../api/contract/workspace.ts';
import { loadSettings } from '../environment.ts';
import { runningUrl } from '../home.ts';
import { address, email } from '../parsers.ts';
import { everywhere, MEMBER, NAME, operate, verb, WORKSPACE } from './verb.ts';

const members = () => import('../../../db/tenants/members.ts');

export function addMember(group: Command): void {
  verb(group.command('add'), 'add a member', async (db, _vault, { workspace, ...member }) => {
    const { addMember } = await members();
    return operate(db, ['workspace', workspace], (tx, actor) => addMember(tx, actor, member));
  })
    .requiredOption(...WORKSPACE)
    .requiredOption('--email <address>', 'e-mail address', email)
    .option(...NAME)
    .addOption(new Option('--role <role>', 'an owner has access to everything').choices(ROLES).default('user'))
    .option('--pending', 'invited, not yet active');
  verb(group.command('list'), 'list active and pending members', async (db, _vault, { workspace }) => {
    const { listMembers, listPendingMembers } = await members();
    return everywhere(db, workspace, async (tx, actor) => {
      const [active, pending] = [await listMembers(tx, actor), await listPendingMembers(tx, actor)];
      const row = (status: string) => (member: { id: string; email: string; name: string | null; role: string }) => ({
        ...{ id: member.id, workspace_id: actor.workspaceId, email: member.email, name: member.name, role: member.role, status },
      });
      return [...active.map(row('active')), ...pending.map(row('pending'))];
    });
  }).option(...WORKSPACE);
  verb(group.command('activate'), 'activate a pending member', async (db, _vault, { workspace, member }) => {
    const { changeMember } = await members();
    const { id, email, status } = await operate(db, ['workspace', workspace], (tx, actor) =>
      changeMember(tx, actor, member, { status: 'active' }),
    );
    return { id, email, status };
  })
    .requiredOption(...WORKSPACE)
    .requiredOption(...MEMBER);
  verb(group.command('remove'), 'remove a member; their keys stop working', async (db, _vault, { workspace, member }) => {
    const { removeMember } = await members();
    const { id, email, status } = await operate(db, ['workspace', workspace], (tx, actor) => removeMember(tx, actor, member));
    return { id, email, status };
  })
    .requiredOption(...WORKSPACE)
    .requiredOption(...MEMBER);
  verb(
    group.command('link'),
    'create a link that signs a member in to the console: valid once, for a day',
    async (db, _vault, { workspace, member, url }) => {
      const { signInLink } = await import('../../../db/access/sign-in-links.ts');
      const secret = await operate(db, ['workspace', workspace], (tx, actor) => signInLink(tx, actor, member));
      return { url: new URL(`/#/sign-in?link=${secret}`, url ?? ownUrl(loadSettings())).href };
    },
  )
    .requiredOption(...WORKSPACE)
    .requiredOption(...MEMBER)
    .option('--url <address>', 'base URL of the console (LONGHAND_PUBLIC_URL)', address);
}

/** URL of the console: as configured, as `up` runs it, or where an API with these settings would listen. */
function ownUrl({ LONGHAND_PUBLIC_URL: set, LONGHAND_HOME: home, HOST, PORT }: Settings): string {
  return set ?? runningUrl(home) ?? `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`;
}
