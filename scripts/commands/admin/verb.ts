import { type Command, InvalidArgumentError, Option } from 'commander';
import type { OperatorActor } from '../../../api/contract/actor.ts';
import type { TemplateScope } from '../../../api/contract/report.ts';
import { type Plan, SCOPES, type Scope } from '../../../api/contract/workspace.ts';
import type { UsageBy } from '../../../db/minutes/usage.ts';
import type { Db, Tx } from '../../../db/postgres/orm.ts';
import type { Vault } from '../../../db/secrets/vault.ts';
import type { operatorOn } from '../../../db/tenants/operator.ts';
import { loadSettings } from '../environment.ts';
import { print, printCsv } from '../output.ts';

/** Options of a command; each declares its own. */
interface Options {
  workspace: string;
  member: string;
  project: string;
  keyId: string;
  sessionId: string;
  grantId: string;
  tokenId: string;
  clientId: string;
  lowBalance?: number;
  keepRecordingsDays?: number;
  from?: string;
  to?: string;
  by: UsageBy;
  csv?: boolean;
  limit: number;
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

/** Defines a subcommand that runs on the database and prints its result. */
export function verb(command: Command, description: string, work: Verb): Command {
  return command
    .description(description)
    .option('--json', 'print JSON')
    .action(async (options: Options & { json?: boolean }) => {
      const { withVault } = await import('../database.ts');
      const result = await withVault(loadSettings(), (db, vault) => work(db, vault, options));
      if (options.csv) printCsv(result as Record<string, unknown>[]);
      else print(result, options.json);
    });
}

/** Runs `work` as the operator on the workspace with this id, or on that of one of its objects. */
export async function operate<T>(
  db: Db,
  [kind, id]: [kind: Parameters<typeof operatorOn>[1], id: string],
  work: (tx: Tx, actor: OperatorActor) => Promise<T>,
): Promise<T> {
  const { operatorOn: find } = await import('../../../db/tenants/operator.ts');
  const actor = await find(db, kind, id);
  return db.workspace(actor.workspaceId, (tx) => work(tx, actor));
}

/** Results of `work` in one workspace, or in every workspace. */
export async function everywhere<T>(
  db: Db,
  workspaceId: string | undefined,
  work: (tx: Tx, actor: OperatorActor) => Promise<T[]>,
): Promise<T[]> {
  const { listWorkspaces } = await import('../../../db/tenants/workspaces.ts');
  const ids = workspaceId === undefined ? (await db.acrossTenants(listWorkspaces)).map(({ id }) => id) : [workspaceId];
  const found: T[] = [];
  for (const id of ids) found.push(...(await operate(db, ['workspace', id], work)));
  return found;
}

export const WORKSPACE = ['--workspace <id>', 'the workspace'] as const;
export const MEMBER = ['--member <id>', 'the member'] as const;
export const NAME = ['--name <name>', 'display name', filled] as const;
export const scopeList = () => new Option('--scopes <list>', `${SCOPES.join(',')} or all`).argParser(scopes).default([...SCOPES], 'all');

function filled(text: string): string {
  if (!text.trim()) throw new InvalidArgumentError('It must not be empty.');
  return text.trim();
}

function scopes(text: string): Scope[] {
  if (text === 'all') return [...SCOPES];
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !SCOPES.includes(name as Scope));
  if (unknown !== undefined) throw new InvalidArgumentError(`${JSON.stringify(unknown)} is not one of ${SCOPES.join(', ')}, all.`);
  return names as Scope[];
}
