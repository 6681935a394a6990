import { defineEntity } from '@mikro-orm/core';
import { EPOCH, index, moment, reference, serial } from './columns.ts';
import { Transcription } from './transcription.ts';
import { Workspace } from './workspace.ts';

/* Keyed hashes of the words of transcripts: see db/search. */

export const SearchState = defineEntity({
  name: 'SearchState',
  tableName: 'search_states',
  properties: (p) => ({
    workspaceId: reference(Workspace, 'workspace_id').primary(),
    keyVersion: p.integer(),
    lastNumber: p.integer().default(0),
    due: p.boolean().default(false),
    mergedUntil: moment().defaultRaw(EPOCH),
  }),
  indexes: [index('search_states_due', 'search_states', '(merged_until) where due')],
});

export const SearchDocument = defineEntity({
  name: 'SearchDocument',
  tableName: 'search_documents',
  properties: (p) => ({
    transcriptionId: reference(Transcription, 'transcription_id').primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    number: p.integer(),
  }),
  indexes: [
    {
      name: 'search_documents_number',
      expression: 'create unique index search_documents_number on search_documents (workspace_id, number)',
    },
  ],
});

export const SearchFresh = defineEntity({
  name: 'SearchFresh',
  tableName: 'search_fresh',
  properties: (p) => ({
    workspaceId: reference(Workspace, 'workspace_id').primary(),
    number: p.integer().primary(),
    terms: p.array((text) => Number(text)).columnType('bigint[]'),
  }),
});

export const SearchBlock = defineEntity({
  name: 'SearchBlock',
  tableName: 'search_blocks',
  properties: (p) => ({
    id: serial(),
    workspaceId: reference(Workspace, 'workspace_id'),
    level: p.integer(),
    first: p.integer(),
    last: p.integer(),
    ready: p.boolean().default(false),
  }),
  indexes: [index('search_blocks_place', 'search_blocks', '(workspace_id, level, first)')],
});

export const SearchPostings = defineEntity({
  name: 'SearchPostings',
  tableName: 'search_postings',
  properties: (p) => ({
    blockId: reference(SearchBlock, 'block_id').primary(),
    bucket: p.integer().primary(),
    workspaceId: p.uuid(),
    data: p.blob(),
  }),
});

export const SearchGone = defineEntity({
  name: 'SearchGone',
  tableName: 'search_gone',
  properties: (p) => ({
    workspaceId: reference(Workspace, 'workspace_id').primary(),
    number: p.integer().primary(),
    goneAt: moment().defaultRaw('now()'),
  }),
});

export const SearchWaiting = defineEntity({
  name: 'SearchWaiting',
  tableName: 'search_waiting',
  properties: (p) => ({
    transcriptionId: reference(Transcription, 'transcription_id').primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    attempt: p.integer().default(0),
    dueAt: moment().defaultRaw('now()'),
  }),
  indexes: [
    index('search_waiting_due', 'search_waiting', '(due_at)'),
    index('search_waiting_workspace', 'search_waiting', '(workspace_id, due_at)'),
  ],
});
