import { type Command, Option } from 'commander';
import { ROLES } from '../../../api/contract/workspace.ts';
import { loadSettings } from '../environment.ts';
import { MEMBER, NAME, verb, WORKSPACE } from './verb.ts';

const verbs = () => import('../../../db/admin/members.ts');

export function addMember(group: Command): void {
  verb(group.command('add'), 'add a person', async (db, _vault, { workspace, ...member }) =>
    (await verbs()).addMember(db, { ...member, workspaceId: workspace }),
  )
    .requiredOption(...WORKSPACE)
    .requiredOption('--email <address>', 'their address')
    .option(...NAME)
    .addOption(new Option('--role <role>', 'an owner sees and changes everything').choices(ROLES).default('user'))
    .option('--pending', 'invited, not yet active');
  verb(group.command('activate'), 'make a pending member active', async (db, _vault, { workspace, member }) =>
    (await verbs()).activateMember(db, workspace, member),
  )
    .requiredOption(...WORKSPACE)
    .requiredOption(...MEMBER);
  verb(group.command('remove'), 'end a membership; keys of the member stop working', async (db, _vault, { workspace, member }) =>
    (await verbs()).removeMember(db, workspace, member),
  )
    .requiredOption(...WORKSPACE)
    .requiredOption(...MEMBER);
  verb(
    group.command('link'),
    'a link that signs a member in to the console, once, within a day',
    async (db, _vault, { workspace, member, url }) => {
      const secret = await (await verbs()).signInLink(db, workspace, member);
      return { url: new URL(`/#/sign-in?link=${secret}`, url ?? loadSettings().LONGHAND_PUBLIC_URL ?? address(loadSettings())).href };
    },
  )
    .requiredOption(...WORKSPACE)
    .requiredOption(...MEMBER)
    .option('--url <address>', 'of the console (LONGHAND_PUBLIC_URL)');
}

/** Where an API with these settings listens on this machine. */
function address({ HOST, PORT }: { HOST: string; PORT: number }): string {
  return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`;
}
