import { type Command, Option } from 'commander';
import { PROJECT_ROLES } from '../../../api/contract/workspace.ts';
import { MEMBER, NAME, verb, WORKSPACE } from './verb.ts';

const verbs = () => import('../../../db/tenants/members-admin.ts');

export function addProject(group: Command): void {
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
