import { defineEntity } from '@mikro-orm/core';
import { STATUSES } from '../../../api/contract/transcription.ts';
import { index, moment, reference, serial, THIS_MILLISECOND, unique } from './columns.ts';
import { ApiKey, Project } from './member.ts';
import { Workspace } from './workspace.ts';

/* Transcriptions with their leases, encrypted turns, and checkpoints of running work. */

export const Transcription = defineEntity({
  name: 'Transcription',
  tableName: 'transcriptions',
  properties: (p) => ({
    id: p.uuid().primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    projectId: reference(Project, 'project_id', 'set null').nullable(),
    keyId: reference(ApiKey, 'key_id', 'set null').nullable(),
    creatorId: p.uuid().nullable(),
    authorId: p.uuid(),
    authorEmail: p.text(),
    authorName: p.text().nullable(),
    status: p.enum([...STATUSES]),
    titleSealed: p.blob().nullable(),
    filenameSealed: p.blob(),
    extension: p.text(),
    sizeBytes: p.bigint().defaultRaw('0'),
    mediaType: p.enum(['audio', 'video']).nullable(),
    requestedLanguage: p.text().default('auto'),
    language: p.text().nullable(),
    diarize: p.boolean().default(true),
    diarized: p.boolean().default(false),
    speakersCount: p.integer().nullable(),
    aiMetadata: p.boolean().default(false),
    externalId: p.text().nullable(),
    metadataText: p.text().nullable(),
    metadata: p.json<unknown>().nullable(),
    durationSeconds: p.double().nullable(),
    summarySealed: p.blob().nullable(),
    summaryWriter: p.enum(['model', 'extractive']).nullable(),
    topicsSealed: p.blob().nullable(),
    speakersSealed: p.blob().nullable(),
    errorCode: p.text().nullable(),
    requiredMinutes: p.decimal().columnType('numeric').nullable(),
    availableMinutes: p.decimal().columnType('numeric').nullable(),
    stage: p.text().default('waiting'),
    fraction: p.float().default(0),
    mediaKeySealed: p.blob().nullable(),
    mediaBytes: p.bigint().nullable(),
    probedAt: moment().nullable(),
    leaseToken: p.uuid().nullable(),
    leaseUntil: moment().nullable(),
    engineId: p.uuid().nullable(),
    attempt: p.integer().default(0),
    deaths: p.integer().default(0),
    runAfter: moment().defaultRaw('now()'),
    hostFaultAt: moment().nullable(),
    reportsMade: p.integer().default(0),
    startedAt: moment().nullable(),
    completedAt: moment().nullable(),
    createdAt: moment().defaultRaw(THIS_MILLISECOND),
    updatedAt: moment().defaultRaw('now()'),
    changedIn: p.bigint().defaultRaw('0'),
    confidence: p.float().nullable(),
    vocabularySealed: p.blob().nullable(),
    mediaUntil: moment().nullable(),
  }),
  checks: [{ name: 'transcriptions_speakers_count_check', expression: 'speakers_count >= 1 and speakers_count <= 20' }],
  indexes: [
    index(
      'transcriptions_age',
      'transcriptions',
      "(workspace_id, created_at) where (status in ('completed', 'failed', 'insufficient_balance'))",
    ),
    index('transcriptions_author', 'transcriptions', '(workspace_id, author_id)'),
    index('transcriptions_changed', 'transcriptions', '(workspace_id, status, changed_in, id) include (updated_at)'),
    index('transcriptions_created', 'transcriptions', '(workspace_id, status, created_at desc, id)'),
    index('transcriptions_creator', 'transcriptions', '(workspace_id, creator_id)'),
    index('transcriptions_duration', 'transcriptions', '(workspace_id, status, duration_seconds desc nulls last, id)'),
    index('transcriptions_duration_up', 'transcriptions', '(workspace_id, status, duration_seconds, id)'),
    index('transcriptions_ended', 'transcriptions', '(workspace_id, completed_at) where (completed_at is not null)'),
    index('transcriptions_external', 'transcriptions', '(workspace_id, external_id) where (external_id is not null)'),
    index('transcriptions_key', 'transcriptions', '(key_id) where (key_id is not null)'),
    index('transcriptions_lease', 'transcriptions', '(lease_until) where (lease_token is not null)'),
    index('transcriptions_kept', 'transcriptions', '(workspace_id, completed_at) where (media_until is not null)'),
    index('transcriptions_kept_until', 'transcriptions', '(media_until) where (media_until is not null)'),
    index(
      'transcriptions_leftover',
      'transcriptions',
      "(id) where ((media_key_sealed is not null) and (media_until is null) and (status in ('completed', 'failed', 'insufficient_balance')))",
    ),
    index('transcriptions_media', 'transcriptions', '(id) where (media_key_sealed is not null)'),
    index('transcriptions_open', 'transcriptions', "(workspace_id, created_at) where (status in ('queued', 'processing'))"),
    index('transcriptions_project', 'transcriptions', '(project_id) where (project_id is not null)'),
    index(
      'transcriptions_ready',
      'transcriptions',
      "(workspace_id, created_at, id) where ((status = 'queued') and (probed_at is not null) and (lease_token is null))",
    ),
    index(
      'transcriptions_ready_short',
      'transcriptions',
      "(workspace_id, created_at, id) where ((status = 'queued') and (probed_at is not null) and (lease_token is null) and (duration_seconds <= (120)::double precision))",
    ),
    index('transcriptions_running', 'transcriptions', "(workspace_id, created_at, id) where (status = 'processing')"),
    index('transcriptions_updated', 'transcriptions', '(workspace_id, status, updated_at) include (changed_in)'),
    index(
      'transcriptions_unsure',
      'transcriptions',
      "(workspace_id, confidence) where ((status = 'completed') and (confidence is not null))",
    ),
    index(
      'transcriptions_unprobed',
      'transcriptions',
      "(workspace_id, created_at, id) where ((status = 'queued') and (probed_at is null) and (lease_token is null))",
    ),
  ],
});

export const MetadataTerm = defineEntity({
  name: 'MetadataTerm',
  tableName: 'metadata_terms',
  properties: (p) => ({
    transcriptionId: reference(Transcription, 'transcription_id').primary(),
    term: p.uuid().primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    status: p.text(),
    createdAt: moment(),
  }),
  indexes: [index('metadata_terms_find', 'metadata_terms', '(workspace_id, term, status, created_at desc, transcription_id)')],
});

/** Changes that may affect list totals: see db/transcripts/totals.ts. */
export const ListChange = defineEntity({
  name: 'ListChange',
  tableName: 'list_changes',
  properties: (p) => ({
    id: serial(),
    workspaceId: reference(Workspace, 'workspace_id'),
    day: p.date(),
    changes: p.bigint(),
  }),
  indexes: [index('list_changes_find', 'list_changes', '(workspace_id, day) include (changes)')],
});

export const Segment = defineEntity({
  name: 'Segment',
  tableName: 'segments',
  properties: (p) => ({
    transcriptionId: reference(Transcription, 'transcription_id').primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    block: p.integer().primary(),
    turnsSealed: p.blob(),
    wordsSealed: p.blob(),
  }),
  indexes: [index('segments_workspace', 'segments', '(workspace_id)')],
});

/** Corrections: see db/transcripts/corrections.ts. */
export const CorrectionRow = defineEntity({
  name: 'CorrectionRow',
  tableName: 'corrections',
  properties: (p) => ({
    id: p.uuid().primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    transcriptionId: reference(Transcription, 'transcription_id'),
    version: p.integer(),
    at: moment().defaultRaw('now()'),
    changeSealed: p.blob(),
  }),
  indexes: [
    unique('corrections_version', 'corrections', '(transcription_id, version)'),
    index('corrections_workspace', 'corrections', '(workspace_id)'),
  ],
});

export const Checkpoint = defineEntity({
  name: 'Checkpoint',
  tableName: 'checkpoints',
  properties: (p) => ({
    transcriptionId: reference(Transcription, 'transcription_id').primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    name: p.text().primary(),
    valueSealed: p.blob(),
  }),
  indexes: [index('checkpoints_workspace', 'checkpoints', '(workspace_id)')],
});
