import type { Command } from 'commander';
import { addClient, addGrant, addSession, addToken } from './admin/access.ts';
import { addKey } from './admin/key.ts';
import { addMember } from './admin/member.ts';
import { addProject } from './admin/project.ts';
import { addAudit, addOperator, addUsage } from './admin/reports.ts';
import { addTemplate } from './admin/template.ts';
import { verb } from './admin/verb.ts';
import { addWorkspace } from './admin/workspace.ts';

/** `admin`: workspaces, members, keys, projects, templates and tokens, directly in the database. */
export function addAdmin(program: Command): void {
  const admin = program.command('admin').description('manage workspaces, members, keys, projects and templates, directly in the database');
  const group = (name: string, description: string) => admin.command(name).description(description);
  addWorkspace(group('workspace', 'create, list and delete workspaces, and add minutes'));
  addMember(group('member', 'members of a workspace'));
  addKey(group('key', 'API keys'));
  addProject(group('project', 'projects and their members'));
  addTemplate(group('template', 'report templates of a workspace or of one member'));
  addToken(group('token', 'OAuth access tokens'));
  addGrant(group('grant', 'OAuth grants of assistants'));
  addClient(group('client', 'OAuth clients of assistants'));
  addSession(group('session', 'console sessions'));
  addOperator(group('operator', 'operators of the installation'));
  addUsage(admin.command('usage'));
  addAudit(admin.command('audit'));
  const rotate = group('keys', 'data keys of all workspaces').command('rotate');
  verb(rotate, 're-encrypt every data key with the newest master key', async (_db, vault) => ({ rewrapped: await vault.rotate() }));
}
