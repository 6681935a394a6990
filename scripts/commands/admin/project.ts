import { type Command, Option } from 'commander';
import { PROJECT_ROLES } from '../../../api/contract/workspace.ts';
import { everywhere, MEMBER, NAME, operate, verb, WORKSPACE } from './verb.ts';

const projects = () => import('../../../db/tenants/projects.ts');

export function addProject(group: Command): void {
  verb(group.command('create'), 'create a project', async (db, _vault, { workspace, name }) => {
    const { createProject } = await projects();
    const project = await operate(db, ['workspace', workspace], (tx, actor) => createProject(tx, actor, name));
    return { id: project.id, name: project.name };
  })
    .requiredOption(...WORKSPACE)
    .requiredOption(...NAME);
  verb(group.command('list'), 'list projects', async (db, _vault, { workspace }) => {
    const { listProjects } = await projects();
    return everywhere(db, workspace, async (tx, actor) =>
      (await listProjects(tx, actor)).map((project) => ({ workspace_id: actor.workspaceId, ...project })),
    );
  }).option(...WORKSPACE);
  verb(group.command('delete'), 'delete a project; its transcriptions stay', async (db, _vault, { project }) => {
    const { deleteProject } = await projects();
    await operate(db, ['project', project], (tx, actor) => deleteProject(tx, actor, project));
    return { id: project, deleted: true };
  }).requiredOption('--project <id>', 'the project');
  verb(group.command('member'), 'set the role of a member in a project', async (db, _vault, { project, member, role }) => {
    const { setProjectMember } = await projects();
    await operate(db, ['project', project], (tx, actor) => setProjectMember(tx, actor, project, member, role));
    return { project_id: project, member_id: member, role };
  })
    .requiredOption('--project <id>', 'the project')
    .requiredOption(...MEMBER)
    .addOption(new Option('--role <role>', 'role; none removes the member').choices([...PROJECT_ROLES, 'none']).makeOptionMandatory());
}
