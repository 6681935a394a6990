import { type Command, InvalidArgumentError, Option } from 'commander';
import { email, positive } from '../parsers.ts';
import { operate, verb, WORKSPACE } from './verb.ts';

const BY = ['day', 'key', 'project'] as const;
const ENTRIES = 1000; // default number of entries of the audit log

/** `admin usage`: charges of a workspace. */
export function addUsage(command: Command): void {
  verb(command, 'minutes charged to a workspace, by day, key or project', async (db, _vault, { workspace, from, to, by }) => {
    const { usage } = await import('../../../db/minutes/usage.ts');
    return operate(db, ['workspace', workspace], (tx, actor) => usage(tx, actor, { by, from, to }));
  })
    .requiredOption(...WORKSPACE)
    .option('--from <day>', 'first day, UTC, such as 2026-01-31', day)
    .option('--to <day>', 'last day', day)
    .addOption(new Option('--by <what>', 'grouping').choices(BY).default('day'))
    .addOption(new Option('--csv', 'print CSV').conflicts('json'));
}

/** `admin audit`: the audit log of a workspace, also of a deleted one. */
export function addAudit(command: Command): void {
  verb(command, 'audit log of a workspace, newest first; ids only', async (db, _vault, { workspace, limit }) => {
    const { listAudit } = await import('../../../db/access/audit.ts');
    const { lookupId } = await import('../../../db/tenants/visibility.ts');
    const entries = await db.acrossTenants((tx) => listAudit(tx, lookupId(workspace), limit));
    if (!entries.length) await operate(db, ['workspace', workspace], async () => {}); // throws if there is none
    return entries;
  })
    .requiredOption(...WORKSPACE)
    .addOption(new Option('--limit <entries>', 'number of entries').argParser(positive).default(ENTRIES))
    .addOption(new Option('--csv', 'print CSV').conflicts('json'));
}

/** `admin operator`: people with access to the whole installation in the console. */
export function addOperator(group: Command): void {
  const operators = () => import('../../../db/access/operators.ts');
  verb(group.command('add'), 'give a person access to engines, hosts and the load of all workspaces', async (db, _vault, { email }) => {
    const { addOperator: add } = await operators();
    return db.acrossTenants((tx) => add(tx, email));
  }).requiredOption('--email <address>', 'e-mail address for signing in', email);
  verb(group.command('remove'), 'withdraw that access', async (db, _vault, { email }) => {
    const { removeOperator } = await operators();
    return db.acrossTenants((tx) => removeOperator(tx, email));
  }).requiredOption('--email <address>', 'e-mail address');
  verb(group.command('list'), 'list operators', async (db) => db.acrossTenants((await operators()).listOperators));
}

function day(text: string): string {
  const date = new Date(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(date.getTime()) || !date.toISOString().startsWith(text))
    throw new InvalidArgumentError('It must be a date such as 2026-01-31.');
  return text;
}
