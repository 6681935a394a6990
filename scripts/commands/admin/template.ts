import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { TEMPLATE_SCOPES } from '../../../api/contract/report.ts';
import { addPreview } from './preview.ts';
import { NAME, operate, verb, WORKSPACE } from './verb.ts';

const templates = () => import('../../../db/reports/templates.ts');

export function addTemplate(group: Command): void {
  addPreview(group);
  verb(group.command('create'), 'create a report template', async (db, _vault, { workspace, promptFile, ...given }) => {
    const { createTemplate } = await templates();
    const { name, slug, scope, owner: ownerId } = given;
    const prompt = given.prompt ?? readFileSync(promptFile, 'utf8');
    const template = { name, slug, scope, ownerId, prompt, status: given.draft ? 'draft' : 'published' } as const;
    const made = await operate(db, ['workspace', workspace], (tx, actor) => createTemplate(tx, actor, template));
    return { slug: made.slug };
  })
    .requiredOption(...WORKSPACE)
    .requiredOption(...NAME)
    .addOption(new Option('--prompt <text>', 'instructions for the report').conflicts('promptFile'))
    .addOption(new Option('--prompt-file <file>', 'file with the instructions'))
    .option('--slug <slug>', 'id in requests; default: derived from the name')
    .addOption(new Option('--scope <scope>', 'for the workspace, or for its owner only').choices(TEMPLATE_SCOPES).default('workspace'))
    .option('--owner <member>', 'member who owns a personal template')
    .option('--draft', 'save as a draft')
    .hook('preAction', (_program, command) => {
      const { prompt, promptFile, scope, owner } = command.opts();
      if (prompt === undefined && promptFile === undefined) command.error('error: give --prompt or --prompt-file');
      if (scope === 'personal' && !owner) command.error('error: a personal template needs --owner');
    });
  for (const [name, description] of [
    ['publish', 'publish a draft'],
    ['delete', 'delete a template; its reports stay'],
  ] as const)
    verb(group.command(name), description, async (db, _vault, { workspace, slug, owner }) => {
      const { changeTemplate, deleteTemplate, findTemplate } = await templates();
      return operate(db, ['workspace', workspace], async (tx, actor) => {
        const id = await findTemplate(tx, actor, slug, owner);
        if (!id) throw new Error(`There is no template ${slug} in this workspace`);
        if (name === 'publish') await changeTemplate(tx, actor, id, { status: 'published' });
        else await deleteTemplate(tx, actor, id);
        return { slug };
      });
    })
      .requiredOption(...WORKSPACE)
      .requiredOption('--slug <slug>', 'the template')
      .option('--owner <member>', 'member who owns a personal template');
}
