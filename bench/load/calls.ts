/** A workspace with very many transcriptions, for bench/load/list.ts: a year of calls of 50 members, inserted directly into the database. */
import { randomUUID } from 'node:crypto';
import { hashOf, newKey } from '../../db/access/credentials.ts';
import type { Db, Tx } from '../../db/postgres/orm.ts';
import type { Vault } from '../../db/secrets/vault.ts';
import { termOf } from '../../db/transcripts/filter.ts';

/** Keys that request the list. */
export interface People {
  workspaceId: string;
  members: string[];
  projectId: string;
  /** Has access to all calls. */
  ownerKey: string;
  /** Has access to its own calls (2 %) and those of the project (10 %). */
  memberKey: string;
}

/** The call in the middle of the year, to look up. */
export const middleOf = (rows: number): number => rows >> 1;

/** Hash that decorrelates everything derived from the same number (the finaliser of MurmurHash3). */
function mix(i: number, salt: number): number {
  let h = Math.imul(i, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Call `i`: 20 calls per deal, about 1,000 per agent, 10 % per region, 67 % from one source, and one tag on all. */
export function call(i: number) {
  const metadata = {
    deal: Math.floor(i / 20),
    agent: `a${mix(i, 1) % 1000}`,
    region: `r${mix(i, 2) % 10}`,
    source: mix(i, 3) % 3 ? 'crm' : 'pbx',
    tags: [`t${mix(i, 4) % 100}`, 'call'],
  };
  const terms = Object.entries(metadata).flatMap(([key, value]) => [value].flat().map((scalar) => termOf(key, String(scalar))));
  return {
    metadata: JSON.stringify(metadata),
    terms,
    externalId: `deal-${Math.floor(i / 4)}`,
    language: mix(i, 5) % 4 ? 'en' : 'de',
    status: mix(i, 6) % 100 ? 'completed' : 'failed',
    inProject: mix(i, 7) % 10 === 0,
    member: mix(i, 8),
    seconds: 10 + (mix(i, 9) % 3_600_000) / 1000,
  };
}

export async function makePeople(db: Db, vault: Vault): Promise<People> {
  return db.acrossTenants(async (tx) => {
    const id = async (sql: string, parameters: unknown[]) => (await tx.row<{ id: string }>(sql, parameters))!.id;
    const workspaceId = await id(`insert into workspaces (name) values ('Large') returning id`, []);
    await vault.createKey(tx, workspaceId);
    const members: string[] = [];
    for (let i = 0; i < 50; i++) {
      const member = [workspaceId, `m${i}@example.com`, i ? 'user' : 'owner'];
      members.push(await id('insert into members (workspace_id, email, role) values (?, ?, ?) returning id', member));
    }
    const projectId = await id(`insert into projects (workspace_id, name) values (?, 'Sales') returning id`, [workspaceId]);
    const joined = [projectId, members[1], workspaceId];
    await tx.rows(`insert into project_members (project_id, member_id, workspace_id, role) values (?, ?, ?, 'viewer')`, joined);
    const key = (member: string) => addKey(tx, workspaceId, member);
    return { workspaceId, members, projectId, ownerKey: await key(members[0]!), memberKey: await key(members[1]!) };
  });
}

async function addKey(tx: Tx, workspaceId: string, memberId: string): Promise<string> {
  const key = newKey();
  const row = [workspaceId, memberId, hashOf(key)];
  await tx.rows(`insert into api_keys (workspace_id, member_id, hash, hint, scopes) values (?, ?, ?, '', '{read}')`, row);
  return key;
}

const BATCH = 5_000; // rows per insert
const YEAR_MS = 365 * 86_400_000;
const SPEAKERS = '[{"id":"speaker_1","ai_name":null,"name":null},{"id":"speaker_2","ai_name":null,"name":null}]';
const COLUMNS = `(id uuid, project_id uuid, author_id uuid, status text, language text, filename_sealed text, speakers_sealed text,
  external_id text, metadata_text text, duration_seconds float8, created_at timestamptz)`;

/** Inserts the rows. Triggers of the tables must be off: the metadata terms are inserted here, in bulk. */
export async function writeCalls(db: Db, vault: Vault, people: People, rows: number, told: (done: number) => void): Promise<void> {
  for (let from = 0; from < rows; from += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, rows - from) }, (_, k) => from + k);
    const batch = JSON.stringify(await Promise.all(numbers.map((i) => row(vault, people, i, rows))));
    await db.acrossTenants(async (tx) => {
      await tx.rows(
        `insert into transcriptions (id, workspace_id, project_id, creator_id, author_id, author_email, status, language, filename_sealed,
           speakers_sealed, extension, media_type, external_id, metadata_text, metadata, duration_seconds, created_at)
         select r.id, ?::uuid, r.project_id, r.author_id, r.author_id, 'm@example.com', r.status, r.language, decode(r.filename_sealed, 'hex'),
           decode(r.speakers_sealed, 'hex'), 'mp3', 'audio', r.external_id, r.metadata_text, r.metadata_text::jsonb, r.duration_seconds, r.created_at
         from json_to_recordset(?::json) as r${COLUMNS}`,
        [people.workspaceId, batch],
      );
      await tx.rows(
        `insert into metadata_terms (transcription_id, workspace_id, term, status, created_at)
         select r.id, ?::uuid, x::uuid, r.status, r.created_at
         from json_to_recordset(?::json) as r(id uuid, status text, created_at timestamptz, terms text[]), unnest(r.terms) x`,
        [people.workspaceId, batch],
      );
    });
    told(from + numbers.length);
  }
}

async function row(vault: Vault, { workspaceId, members, projectId }: People, i: number, rows: number) {
  const id = randomUUID();
  const { metadata, terms, externalId, language, status, inProject, member, seconds } = call(i);
  const seal = async (column: string, text: string) =>
    (await vault.seal(workspaceId, `transcriptions|${id}|${column}`, text)).toString('hex');
  return {
    ...{ id, terms, language, status, external_id: externalId, metadata_text: metadata, duration_seconds: seconds },
    project_id: inProject ? projectId : null,
    author_id: members[member % members.length]!,
    filename_sealed: await seal('filename', `Call ${i}.mp3`),
    speakers_sealed: await seal('speakers', SPEAKERS),
    created_at: new Date(Date.now() - YEAR_MS + Math.floor((i / rows) * YEAR_MS)).toISOString(),
  };
}
