import { defineEntity } from '@mikro-orm/core';
import { STATUSES } from '../../../api/contract/transcription.ts';

/* Transcriptions with their leases, the sealed turns, and finished chunks of running work. */

export const Transcription = defineEntity({
  name: 'Transcription',
  tableName: 'transcriptions',
  properties: (p) => ({
    id: p.uuid().primary(),
    workspaceId: p.uuid(),
    projectId: p.uuid().nullable(),
    keyId: p.uuid().nullable(),
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
    topicsSealed: p.blob().nullable(),
    speakersSealed: p.blob().nullable(),
    errorCode: p.text().nullable(),
    requiredMinutes: p.decimal().columnType('numeric').nullable(),
    availableMinutes: p.decimal().columnType('numeric').nullable(),
    stage: p.text().default('waiting'),
    fraction: p.float().default(0),
    mediaKeySealed: p.blob().nullable(),
    mediaBytes: p.bigint().nullable(),
    probedAt: p.datetime().columnType('timestamptz').nullable(),
    leaseToken: p.uuid().nullable(),
    leaseUntil: p.datetime().columnType('timestamptz').nullable(),
    engineId: p.uuid().nullable(),
    attempt: p.integer().default(0),
    deaths: p.integer().default(0),
    runAfter: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    reportsMade: p.integer().default(0),
    startedAt: p.datetime().columnType('timestamptz').nullable(),
    completedAt: p.datetime().columnType('timestamptz').nullable(),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    updatedAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});

export const MetadataTerm = defineEntity({
  name: 'MetadataTerm',
  tableName: 'metadata_terms',
  properties: (p) => ({
    transcriptionId: p.uuid().primary(),
    term: p.uuid().primary(),
    workspaceId: p.uuid(),
    status: p.text(),
    createdAt: p.datetime().columnType('timestamptz'),
  }),
});

/** What may have changed the totals of lists: see db/transcripts/totals.ts. */
export const ListChange = defineEntity({
  name: 'ListChange',
  tableName: 'list_changes',
  properties: (p) => ({
    id: p.bigint().primary().autoincrement(),
    workspaceId: p.uuid(),
    day: p.date(),
    changes: p.bigint(),
  }),
});

export const Segment = defineEntity({
  name: 'Segment',
  tableName: 'segments',
  properties: (p) => ({
    transcriptionId: p.uuid().primary(),
    workspaceId: p.uuid(),
    block: p.integer().primary(),
    turnsSealed: p.blob(),
    wordsSealed: p.blob(),
  }),
});

export const Checkpoint = defineEntity({
  name: 'Checkpoint',
  tableName: 'checkpoints',
  properties: (p) => ({
    transcriptionId: p.uuid().primary(),
    workspaceId: p.uuid(),
    name: p.text().primary(),
    valueSealed: p.blob(),
  }),
});
