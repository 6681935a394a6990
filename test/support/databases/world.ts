import { randomBytes, randomUUID } from 'node:crypto';
import type { ReportStatus, Status } from '../../../api/contract/transcription.ts';
import { type ProjectRole, type Role, SCOPES, type Scope } from '../../../api/contract/workspace.ts';
import { hashOf, newKey, newToken } from '../../../db/access/credentials.ts';
import type { Db } from '../../../db/postgres/orm.ts';
import type { Vault } from '../../../db/secrets/vault.ts';
import type { StoredSpeaker } from '../../../db/transcripts/list-row.ts';

/** Inserts rows for tests as the product does, encrypted columns included. */
export interface World {
  workspace(options?: { name?: string; plan?: 'api' | 'free'; minutes?: number }): Promise<string>;
  member(
    workspaceId: string,
    options?: { email?: string; name?: string; role?: Role; status?: 'active' | 'pending' | 'removed' },
  ): Promise<Person>;
  key(person: Person, scopes?: readonly Scope[]): Promise<{ id: string; key: string }>;
  token(person: Person, scopes?: readonly Scope[]): Promise<{ id: string; key: string }>;
  project(workspaceId: string, name: string): Promise<string>;
  join(projectId: string, person: Person, role: ProjectRole): Promise<void>;
  template(workspaceId: string, slug: string, options?: { owner?: Person; draft?: boolean }): Promise<string>;
  /** A transcription by `person`; by default completed, with one turn per speaker. */
  transcription(person: Person, given?: Given): Promise<string>;
  report(transcriptionId: string, slug: string, status: ReportStatus, text?: string): Promise<string>;
}

export interface Person {
  workspaceId: string;
  id: string;
  email: string;
  name: string | null;
}

export interface GivenTurn {
  start: number;
  end: number;
  speaker: string | null;
  text: string;
  words?: [number, number, string][];
}

export interface Given {
  status?: Status;
  filename?: string;
  title?: string;
  author?: Person;
  keyId?: string;
  projectId?: string;
  language?: string;
  duration?: number | null;
  externalId?: string;
  /** JSON text. */
  metadata?: string;
  summary?: string;
  topics?: string[];
  speakers?: StoredSpeaker[];
  turns?: GivenTurn[];
  createdAt?: string;
  errorCode?: string;
  required?: number;
  available?: number;
  stage?: string;
  fraction?: number;
}

export const TURNS: GivenTurn[] = [
  {
    start: 0.5,
    end: 2,
    speaker: 'speaker_1',
    text: 'Hello there.',
    words: [
      [0.5, 1.1, ' Hello'],
      [1.2, 2, ' there.'],
    ],
  },
  { start: 2.5, end: 4, speaker: 'speaker_2', text: 'Hi.', words: [[2.5, 4, ' Hi.']] },
];
export const SPEAKERS: StoredSpeaker[] = [
  { id: 'speaker_1', ai_name: null, name: null },
  { id: 'speaker_2', ai_name: null, name: null },
];

const BLOCK = 200; // turns

export function openWorld(db: Db, vault: Vault): World {
  const one = async (sql: string, parameters: unknown[]) => (await db.acrossTenants((tx) => tx.row<{ id: string }>(sql, parameters)))!.id;
  const credential = async (person: Person, scopes: readonly Scope[], kind: 'key' | 'token') => {
    const key = kind === 'key' ? newKey() : newToken();
    const list = `{${scopes.join(',')}}`;
    const id =
      kind === 'key'
        ? await one('insert into api_keys (workspace_id, member_id, hash, hint, scopes) values (?, ?, ?, ?, ?::text[]) returning id', [
            person.workspaceId,
            person.id,
            hashOf(key),
            key.slice(-4),
            list,
          ])
        : await one(
            `insert into oauth_tokens (hash, kind, family, workspace_id, member_id, scopes, expires_at)
             values (?, 'access', ?, ?, ?, ?::text[], now() + interval '1 hour') returning id`,
            [hashOf(key), randomUUID(), person.workspaceId, person.id, list],
          );
    return { id, key };
  };
  return {
    async workspace({ name = 'Acme', plan = 'api', minutes = 100 } = {}) {
      return db.acrossTenants(async (tx) => {
        const row = await tx.row<{ id: string }>('insert into workspaces (name, plan, balance_minutes) values (?, ?, ?) returning id', [
          name,
          plan,
          minutes,
        ]);
        await vault.createKey(tx, row!.id);
        return row!.id;
      });
    },
    async member(workspaceId, options = {}) {
      const { email = `m${randomBytes(5).toString('hex')}@example.com`, name = null, role = 'user', status = 'active' } = options;
      const id = await one('insert into members (workspace_id, email, name, role, status) values (?, ?, ?, ?, ?) returning id', [
        workspaceId,
        email,
        name,
        role,
        status,
      ]);
      return { workspaceId, id, email, name };
    },
    key: (person, scopes = SCOPES) => credential(person, scopes, 'key'),
    token: (person, scopes = SCOPES) => credential(person, scopes, 'token'),
    project: (workspaceId, name) => one('insert into projects (workspace_id, name) values (?, ?) returning id', [workspaceId, name]),
    async join(projectId, person, role) {
      await db.acrossTenants((tx) =>
        tx.rows('insert into project_members (project_id, member_id, workspace_id, role) values (?, ?, ?, ?)', [
          projectId,
          person.id,
          person.workspaceId,
          role,
        ]),
      );
    },
    template: (workspaceId, slug, { owner, draft } = {}) =>
      one(
        `insert into templates (workspace_id, owner_id, scope, slug, name, prompt, status) values (?, ?, ?, ?, ?, 'Say what happened.', ?) returning id`,
        [workspaceId, owner?.id ?? null, owner ? 'personal' : 'workspace', slug, slug, draft ? 'draft' : 'published'],
      ),
    transcription: (person, given = {}) => insertTranscription(db, vault, person, given),
    async report(transcriptionId, slug, status, text) {
      const id = randomUUID();
      const target = await db.acrossTenants((tx) =>
        tx.row<{ workspace_id: string }>('select workspace_id from transcriptions where id = ?', [transcriptionId]),
      );
      const sealed = text === undefined ? null : await vault.seal(target!.workspace_id, `reports|${id}|text`, text);
      return one(
        `insert into reports (id, workspace_id, transcription_id, slug, name, status, text_sealed, error_code, created_at, completed_at)
         values (?, ?, ?, ?, ?, ?, ?, ?, clock_timestamp(), case when ? in ('completed', 'failed') then now() end) returning id`,
        [id, target!.workspace_id, transcriptionId, slug, slug, status, sealed, status === 'failed' ? 'INTERNAL_ERROR' : null, status],
      );
    },
  };
}

async function insertTranscription(db: Db, vault: Vault, person: Person, given: Given): Promise<string> {
  const id = randomUUID();
  const { status = 'completed', filename = 'call.mp3', author = person } = given;
  const place = (column: string) => `transcriptions|${id}|${column}`;
  const seal = (column: string, value: string | undefined) =>
    (value ?? null) ? vault.seal(person.workspaceId, place(column), value!) : null;
  const speakers = given.speakers ?? (status === 'completed' ? SPEAKERS : undefined);
  const values: Record<string, unknown> = {
    id,
    workspace_id: person.workspaceId,
    project_id: given.projectId ?? null,
    key_id: given.keyId ?? null,
    creator_id: person.id,
    author_id: author.id,
    author_email: author.email,
    author_name: author.name,
    status,
    title_sealed: await seal('title', given.title),
    filename_sealed: await seal('filename', filename),
    extension: filename.split('.').at(-1) ?? 'mp3',
    media_type: status === 'completed' ? 'audio' : null,
    language: given.language ?? null,
    external_id: given.externalId ?? null,
    metadata_text: given.metadata ?? null,
    metadata: given.metadata ?? null,
    duration_seconds: given.duration === undefined ? (status === 'completed' ? 4.2 : null) : given.duration,
    summary_sealed: await seal('summary', given.summary),
    topics_sealed: await seal('topics', given.topics && JSON.stringify(given.topics)),
    speakers_sealed: await seal('speakers', speakers && JSON.stringify(speakers)),
    error_code: given.errorCode ?? null,
    required_minutes: given.required ?? null,
    available_minutes: given.available ?? null,
    stage: given.stage ?? 'waiting',
    fraction: given.fraction ?? 0,
  };
  if (given.createdAt) values.created_at = given.createdAt;
  const columns = Object.keys(values);
  const turns = (given.turns ?? TURNS).map((turn, index) => ({ id: index + 1, ...turn }));
  await db.acrossTenants(async (tx) => {
    await tx.rows(
      `insert into transcriptions (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
      Object.values(values),
    );
    for (let block = 0; status === 'completed' && block * BLOCK < turns.length; block++) {
      const part = turns.slice(block * BLOCK, (block + 1) * BLOCK);
      const told = part.map(({ words: _, ...turn }) => turn);
      await tx.rows('insert into segments (transcription_id, workspace_id, block, turns_sealed, words_sealed) values (?, ?, ?, ?, ?)', [
        id,
        person.workspaceId,
        block,
        await vault.seal(person.workspaceId, `segments|${id}:${block}|turns`, JSON.stringify(told)),
        await vault.seal(person.workspaceId, `segments|${id}:${block}|words`, JSON.stringify(part.map((turn) => turn.words ?? []))),
      ]);
    }
  });
  return id;
}
