import type { Route } from '../http/route.ts';
import { authorizePage } from '../mcp/oauth/authorize.ts';
import { preflights, register, resourceMetadata, resourceMetadataOfMcp, revoke, serverMetadata, token } from '../mcp/oauth/endpoints.ts';
import { mcp } from '../mcp/route.ts';
import { createTranscription, getModel, listModels } from '../openai/routes.ts';
import { referenceRoutes } from '../openapi/routes.ts';
import { healthz, readyz } from '../ops/health.ts';
import { metricsRoute } from '../ops/metrics-listener.ts';
import { exportMany, exportOne } from './exports.ts';
import { listTranscriptions } from './list.ts';
import { deleteIdentity, listWorkspaceMembers, putIdentity } from './members.ts';
import { getRecording } from './recording.ts';
import { listPrompts, requestReport } from './reports.ts';
import { getSubtitles } from './subtitles.ts';
import { changeAuthor, deleteTranscription, getTranscription } from './transcriptions.ts';
import { uploadRoute } from './uploads.ts';
import { getWebhook, getWebhooks, patchWebhook, postSecret, postTest, postWebhook, removeWebhook } from './webhooks.ts';
import { getWorkspace, listAllProjects } from './workspace.ts';

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
  getRecording,
  listPrompts,
  requestReport,
  createTranscription,
  listModels,
  getModel,
  getWorkspace,
  listAllProjects,
  listWorkspaceMembers,
  putIdentity,
  deleteIdentity,
  getWebhooks,
  postWebhook,
  getWebhook,
  patchWebhook,
  removeWebhook,
  postSecret,
  postTest,
  mcp,
  resourceMetadata,
  resourceMetadataOfMcp,
  serverMetadata,
  register,
  authorizePage,
  token,
  revoke,
  ...preflights,
  healthz,
  readyz,
  metricsRoute,
];

export const ROUTES: readonly Route[] = [...TABLE, ...referenceRoutes(TABLE)];
