import { listProjects } from '../../db/tenants/projects.ts';
import { workspaceSummary } from '../../db/tenants/workspaces.ts';
import { ProjectList, SCOPES, WorkspaceInfo } from '../contract/workspace.ts';
import { json, route } from '../http/route.ts';
import { PROJECTS_EXAMPLE, WORKSPACE_EXAMPLE } from './examples.ts';

const READ = { scope: 'read', scopeError: null } as const;
const TAG = 'Workspace';

export const getWorkspace = route({
  method: 'GET',
  path: '/v1/workspace',
  id: 'getWorkspace',
  summary: 'Get balance, limits and permissions of this key',
  tag: TAG,
  access: READ,
  answers: { 200: { description: 'The workspace', schema: WorkspaceInfo, example: WORKSPACE_EXAMPLE } },
  errors: [],
  async handler({ db, caller, limits }) {
    const { id, name, concurrency, available_minutes } = await db.workspace(caller.workspaceId, (tx) => workspaceSummary(tx, caller));
    return json(200, {
      workspace: { id, name },
      balance: { available_minutes },
      limits: {
        max_file_size_mb: Math.floor(limits.MAX_FILE_BYTES / 1_048_576),
        concurrency,
        max_duration_hours: Math.floor(limits.MAX_DURATION_S / 3_600),
        reports_per_upload: limits.REPORTS_PER_REQUEST,
        reports_per_day: limits.REPORTS_PER_DAY,
      },
      key: { scopes: SCOPES.filter((scope) => caller.scopes.has(scope)), expires_at: caller.expiresAt?.toISOString() ?? null },
    });
  },
});

export const listAllProjects = route({
  method: 'GET',
  path: '/v1/projects',
  id: 'listProjects',
  summary: 'List projects',
  description: 'Newest first. Workspace owners see all projects, other members those that they belong to.',
  tag: TAG,
  access: READ,
  answers: { 200: { description: 'Projects', schema: ProjectList, example: PROJECTS_EXAMPLE } },
  errors: [],
  async handler({ db, caller }) {
    const items = await db.workspace(caller.workspaceId, (tx) => listProjects(tx, caller));
    return json(200, { items, total: items.length });
  },
});
