import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Settings } from '../../../api/contract/settings.ts';
import { ROLES } from '../../../api/contract/workspace.ts';
import { loadSettings } from '../environment.ts';
import { runningUrl } from '../home.ts';
import { MEMBER, NAME, verb, WORKSPACE } from './verb.ts';

const verbs = () => import('../../../db/tenants/members-admin.ts');

export function addMember(group: Command): void {
  verb(group.command('add'), 'add a person', async (db, _vault, { workspace, ...member }) =>
    (await verbs()).addMember(db, { ...member, workspaceId: workspace }),
  )
    .requiredOption(...WORKSPACE)
    .requiredOption('--email <address>', 'their address', email)
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
      return { url: new URL(`/#/sign-in?link=${secret}`, url ?? address(loadSettings())).href };
    },
  )
    .requiredOption(...WORKSPACE)
    .requiredOption(...MEMBER)
    .option('--url <address>', 'of the console (LONGHAND_PUBLIC_URL)');
}

function email(text: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(text)) throw new InvalidArgumentError('It must be an address such as anna@example.com.');
  return text;
}

/** Where people find the console: as set, as `up` runs, or as an API with these settings would listen. */
function address({ LONGHAND_PUBLIC_URL: set, LONGHAND_HOME: home, HOST, PORT }: Settings): string {
  return set ?? runningUrl(home) ?? `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`;
}
