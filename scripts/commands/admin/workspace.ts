import { type Command, InvalidArgumentError, Option } from 'commander';
import { PLANS } from '../../../api/contract/workspace.ts';
import { number, positive } from '../parsers.ts';
import { NAME, operate, verb, WORKSPACE } from './verb.ts';

const MOST_SLOTS = 1000; // limits of the columns
const MOST_DAYS = 36_500;
const MOST_MINUTES = 1e9; // 1,900 years; a balance is told as a number

const workspaces = () => import('../../../db/tenants/workspaces.ts');

export function addWorkspace(group: Command): void {
  verb(group.command('create'), 'create a workspace', async (db, vault, options) => {
    const { createWorkspace } = await workspaces();
    return db.acrossTenants((tx) => createWorkspace(tx, vault, options));
  })
    .requiredOption(...NAME)
    .addOption(new Option('--minutes <minutes>', 'initial minutes').argParser(minutes).default(0))
    .addOption(new Option('--plan <plan>', 'plan; free has no API access').choices(PLANS).default('api'))
    .addOption(new Option('--concurrency <files>', 'number of files transcribed at once').argParser(slots).default(4));
  verb(group.command('minutes'), 'add minutes; a negative number removes them', async (db, _vault, { workspace, add }) => {
    const { addMinutes } = await import('../../../db/minutes/balance.ts');
    return operate(db, ['workspace', workspace], (tx, actor) => addMinutes(tx, actor, add));
  })
    .requiredOption(...WORKSPACE)
    .requiredOption('--add <minutes>', 'number of minutes', minutes);
  verb(group.command('set'), 'change name, plan, concurrency or how long recordings are kept', async (db, _vault, options) => {
    const { workspace, lowBalance, keepRecordingsDays, ...change } = options;
    const { changeWorkspace } = await workspaces();
    return operate(db, ['workspace', workspace], (tx, actor) =>
      changeWorkspace(tx, actor, { ...change, keepRecordingsDays, lowBalanceMinutes: lowBalance }),
    );
  })
    .requiredOption(...WORKSPACE)
    .option(...NAME)
    .addOption(new Option('--plan <plan>', 'plan; free has no API access').choices(PLANS))
    .addOption(new Option('--concurrency <files>', 'number of files transcribed at once').argParser(slots))
    .addOption(new Option('--low-balance <minutes>', 'notify owners below this balance; 0 for never').argParser(minutes))
    .addOption(
      new Option(
        '--keep-recordings-days <days>',
        'keep recordings this long, at most LONGHAND_KEEP_RECORDINGS_DAYS; 0 for not at all',
      ).argParser(days),
    )
    .hook('preAction', (_program, command) => {
      const { name, plan, concurrency, lowBalance, keepRecordingsDays } = command.opts();
      if ([name, plan, concurrency, lowBalance, keepRecordingsDays].every((given) => given === undefined))
        command.error('error: give --name, --plan, --concurrency, --low-balance or --keep-recordings-days');
    });
  verb(group.command('list'), 'list workspaces', async (db) => db.acrossTenants((await workspaces()).listWorkspaces));
  verb(group.command('delete'), 'destroy the data key of a workspace; engines remove the rest', async (db, _vault, options) => {
    const { deleteWorkspace } = await workspaces();
    const { id } = await db.acrossTenants((tx) => deleteWorkspace(tx, options.workspace));
    return { id, deleted: true };
  }).requiredOption(...WORKSPACE);
}

function minutes(text: string): number {
  const given = number(text);
  if (Math.abs(given) > MOST_MINUTES) throw new InvalidArgumentError(`It must be from -${MOST_MINUTES} to ${MOST_MINUTES}.`);
  return given;
}

function days(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > MOST_DAYS) throw new InvalidArgumentError(`It must be a whole number from 0 to ${MOST_DAYS}.`);
  return Number(text);
}

function slots(text: string): number {
  if (positive(text) > MOST_SLOTS) throw new InvalidArgumentError(`It must be at most ${MOST_SLOTS}.`);
  return positive(text);
}
