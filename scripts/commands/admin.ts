import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { PLANS, type Plan, PROJECT_ROLES, ROLES, SCOPES, type Scope } from '../../api/contract/workspace.ts';
import { TEMPLATE_SCOPES, type TemplateScope } from '../../api/contract/report.ts';
import type { Db } from '../../db/orm.ts';
import type { Vault } from '../../db/vault.ts';
import { loadSettings } from './environment.ts';
import { print } from './output.ts';
import { addPreview } from './preview.ts';

/** What the calls take; each declares its own. */
interface Options {
  workspace: string;
  member: string;
  project: string;
  keyId: string;
  name: string;
  minutes: number;
  add: number;
  plan: Plan;
  concurrency: number;
  email: string;
  role: never;
  pending?: boolean;
  scopes: Scope[];
  expires?: Date;
  ttl: number;
  prompt?: string;
  promptFile: string;
  slug: string;
  scope: TemplateScope;
  owner?: string;
  draft?: boolean;
  url?: string;
}

type Verb = (db: Db, vault: Vault, options: Options) => Promise<object>;

/** `admin`: workspaces, members, keys, projects, templates and tokens, on the database directly. */
export function addAdmin(program: Command): void {
  const admin = program.command('admin').description('workspaces, members, keys, projects, templates; on the database directly');
  const group = (name: string, description: string) => admin.command(name).description(description);
  addWorkspace(group('workspace', 'make, list and delete workspaces, and give them minutes'));
  addMember(group('member', 'the people of a workspace'));
  addKey(group('key', 'API keys'));
  addProject(group('project', 'projects and who may see them'));
  addTemplate(group('template', 'report templates of a workspace or of one member'));
  verb(
    group('token', 'OAuth access tokens').command('create'),
    'make a token as the sign-in flow would issue it',
    async (db, _vault, options) => {
      const { createToken } = await import('../../db/admin/access.ts');
      return createToken(db, { workspaceId: options.workspace, memberId: options.member, scopes: options.scopes, ttlSeconds: options.ttl });
    },
  )
    .requiredOption(...WORKSPACE)
    .requiredOption(...MEMBER)
    .addOption(scopeList())
    .addOption(new Option('--ttl <seconds>', 'how long it is valid').argParser(positive).default(3600));
  verb(
    group('keys', 'data keys of all workspaces').command('rotate'),
    'wrap every data key anew under the newest master key',
    async (_db, vault) => ({
      rewrapped: await vault.rotate(),
    }),
  );
}

const WORKSPACE = ['--workspace <id>', 'the workspace'] as const;
const MEMBER = ['--member <id>', 'the member'] as const;
const NAME = ['--name <name>', 'a name for people'] as const;
const scopeList = () => new Option('--scopes <list>', `${SCOPES.join(',')} or all`).argParser(scopes).default([...SCOPES], 'all');

function addWorkspace(group: Command): void {
  const verbs = () => import('../../db/admin/workspaces.ts');
  verb(group.command('create'), 'make a workspace', async (db, vault, options) => (await verbs()).createWorkspace(db, vault, options))
    .requiredOption(...NAME)
    .addOption(new Option('--minutes <minutes>', 'minutes to begin with').argParser(number).default(0))
    .addOption(new Option('--plan <plan>', 'free has no access to the API').choices(PLANS).default('api'))
    .addOption(new Option('--concurrency <files>', 'files worked on at once').argParser(positive).default(4));
  verb(group.command('minutes'), 'add minutes, or take them with a negative number', async (db, _vault, { workspace, add }) =>
    (await verbs()).addMinutes(db, workspace, add),
  )
    .requiredOption(...WORKSPACE)
    .requiredOption('--add <minutes>', 'how many', number);
  verb(group.command('list'), 'every workspace', async (db) => (await verbs()).listWorkspaces(db));
  verb(group.command('delete'), 'delete a workspace and destroy its data key', async (db, _vault, options) => {
    const [{ deleteWorkspace }, { openSpool }] = await Promise.all([verbs(), import('../../db/spool.ts')]);
    const { id, media } = await deleteWorkspace(db, options.workspace);
    const spool = await openSpool(loadSettings());
    for (const file of media) await spool.remove(file.id, file.extension);
    return { id, deleted: true };
  }).requiredOption(...WORKSPACE);
}

function addMember(group: Command): void {
  const verbs = () => import('../../db/admin/members.ts');
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

function addKey(group: Command): void {
  const verbs = () => import('../../db/admin/access.ts');
  verb(group.command('create'), 'make an API key; it is shown this once', async (db, _vault, options) =>
    (await verbs()).createKey(db, {
      workspaceId: options.workspace,
      memberId: options.member,
      scopes: options.scopes,
      expiresAt: options.expires,
    }),
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

function addProject(group: Command): void {
  const verbs = () => import('../../db/admin/members.ts');
  verb(group.command('create'), 'make a project', async (db, _vault, { workspace, name }) =>
    (await verbs()).createProject(db, workspace, name),
  )
    .requiredOption(...WORKSPACE)
    .requiredOption(...NAME);
  verb(group.command('member'), 'give a member a role in a project', async (db, _vault, { project, member, role }) =>
    (await verbs()).setProjectMember(db, project, member, role),
  )
    .requiredOption('--project <id>', 'the project')
    .requiredOption(...MEMBER)
    .addOption(new Option('--role <role>', 'none takes it away').choices([...PROJECT_ROLES, 'none']).makeOptionMandatory());
}

function addTemplate(group: Command): void {
  addPreview(group);
  const verbs = () => import('../../db/admin/templates.ts');
  verb(group.command('create'), 'make a report template', async (db, _vault, { workspace, promptFile, ...template }) => {
    const prompt = template.prompt ?? readFileSync(promptFile, 'utf8');
    return (await verbs()).createTemplate(db, { ...template, prompt, workspaceId: workspace });
  })
    .requiredOption(...WORKSPACE)
    .requiredOption(...NAME)
    .addOption(new Option('--prompt <text>', 'what the report shall say').conflicts('promptFile'))
    .addOption(new Option('--prompt-file <file>', 'the same, from a file'))
    .option('--slug <slug>', 'its name in requests; from the name when left out')
    .addOption(new Option('--scope <scope>', 'for everybody, or for its owner').choices(TEMPLATE_SCOPES).default('workspace'))
    .option('--owner <member>', 'of a personal template')
    .option('--draft', 'not yet to be requested')
    .hook('preAction', (_program, command) => {
      const { prompt, promptFile, scope, owner } = command.opts();
      if (prompt === undefined && promptFile === undefined) command.error('error: give --prompt or --prompt-file');
      if (scope === 'personal' && !owner) command.error('error: a personal template needs --owner');
    });
  for (const [name, description] of [
    ['publish', 'let a draft be requested'],
    ['delete', 'delete a template; its reports stay'],
  ] as const)
    verb(group.command(name), description, async (db, _vault, { workspace, slug, owner }) => {
      const { publishTemplate, deleteTemplate } = await verbs();
      return (name === 'publish' ? publishTemplate : deleteTemplate)(db, { workspaceId: workspace, slug, owner });
    })
      .requiredOption(...WORKSPACE)
      .requiredOption('--slug <slug>', 'the template')
      .option('--owner <member>', 'of a personal template');
}

/** A call that works on the database and prints what it answers. */
function verb(command: Command, description: string, work: Verb): Command {
  return command
    .description(description)
    .option('--json', 'print JSON')
    .action(async (options: Options & { json?: boolean }) => {
      const { withVault } = await import('./database.ts');
      print(await withVault(loadSettings(), (db, vault) => work(db, vault, options)), options.json);
    });
}

function number(text: string): number {
  if (text.trim() === '' || !Number.isFinite(Number(text))) throw new InvalidArgumentError('It must be a number.');
  return Number(text);
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

function time(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new InvalidArgumentError('It must be a time like 2027-01-31T12:00:00Z.');
  return date;
}

function scopes(text: string): Scope[] {
  if (text === 'all') return [...SCOPES];
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !SCOPES.includes(name as Scope));
  if (unknown !== undefined) throw new InvalidArgumentError(`${JSON.stringify(unknown)} is none of ${SCOPES.join(', ')}, all.`);
  return names as Scope[];
}
