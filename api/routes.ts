import type { Route } from './route.ts';
import { exportMany, exportOne } from './routes/exports.ts';
import { deleteIdentity, listWorkspaceMembers, putIdentity } from './routes/members.ts';
import { listPrompts, requestReport } from './routes/reports.ts';
import { changeAuthor, deleteTranscription, getTranscription, listTranscriptions } from './routes/transcriptions.ts';
import { getWorkspace, listAllProjects } from './routes/workspace.ts';

/** Every route, one line each. */
export const ROUTES: readonly Route[] = [
  listTranscriptions,
  getTranscription,
  changeAuthor,
  deleteTranscription,
  exportOne,
  exportMany,
  listPrompts,
  requestReport,
  getWorkspace,
  listAllProjects,
  listWorkspaceMembers,
  putIdentity,
  deleteIdentity,
];
