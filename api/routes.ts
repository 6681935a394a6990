import { authorizePage } from './mcp/oauth/authorize.ts';
import { register, resourceMetadata, resourceMetadataOfMcp, revoke, serverMetadata, token } from './mcp/oauth/endpoints.ts';
import { mcp } from './mcp/route.ts';
import type { Route } from './route.ts';
import { exportMany, exportOne } from './routes/exports.ts';
import { healthz, metricsRoute, readyz } from './routes/health.ts';
import { deleteIdentity, listWorkspaceMembers, putIdentity } from './routes/members.ts';
import { referenceRoutes } from './routes/reference.ts';
import { listPrompts, requestReport } from './routes/reports.ts';
import { getSubtitles } from './routes/subtitles.ts';
import { changeAuthor, deleteTranscription, getTranscription, listTranscriptions } from './routes/transcriptions.ts';
import { uploadRoute } from './routes/uploads.ts';
import { getWorkspace, listAllProjects } from './routes/workspace.ts';

/** Every route, one line each. */
const TABLE: readonly Route[] = [
  uploadRoute,
  listTranscriptions,
  getTranscription,
  changeAuthor,
  deleteTranscription,
  exportOne,
  exportMany,
  getSubtitles,
  listPrompts,
  requestReport,
  getWorkspace,
  listAllProjects,
  listWorkspaceMembers,
  putIdentity,
  deleteIdentity,
  mcp,
  resourceMetadata,
  resourceMetadataOfMcp,
  serverMetadata,
  register,
  authorizePage,
  token,
  revoke,
  healthz,
  readyz,
  metricsRoute,
];

export const ROUTES: readonly Route[] = [...TABLE, ...referenceRoutes(TABLE)];
