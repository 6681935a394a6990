import { Buffer } from 'node:buffer';
import type { Actor } from '../../api/contract/actor.ts';
import { milli } from '../../api/contract/seconds.ts';
import { transcriptText } from '../../api/contract/text.ts';
import type { ReportResult, ReportStatus, Segment, Status, Transcription } from '../../api/contract/transcription.ts';
import { FRACTION, STAGE } from '../jobs/leases.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { type Condition, lookupId, visible, visibleTo } from '../tenants/visibility.ts';
import { givenName, ITEM_COLUMNS, type Item, type ItemRow, stamp, toItem } from './list-row.ts';
import type { Held } from './mutate.ts';

/* SQL: a record with everything that can change in it, in one query. */

/** A full record. `metadata` is the JSON text as received. */
export interface FullRecord extends Omit<Transcription, 'metadata'> {
  metadata: Item['metadata'];
}

export interface Loaded {
  record: FullRecord;
  /** As uploaded, sanitised. */
  filename: string;
  /** Changes whenever anything in the record does. */
  version: string;
}

/** SQL: a digest of everything that can change in a displayed record. */
const VERSION = `md5(concat_ws('/', extract(epoch from t.updated_at), t.status, ${STAGE}, ${FRACTION}, p.name,
  (select string_agg(r.id || r.status, ',' order by r.created_at, r.id)
   from reports r where r.workspace_id = t.workspace_id and r.transcription_id = t.id and r.replaced_by is null)))`;

const PROJECT = 'left join projects p on p.id = t.project_id and p.workspace_id = t.workspace_id';

interface RecordRow extends ItemRow {
  status: Status;
  error_code: string | null;
  required: string | null;
  available: string | null;
  stage: NonNullable<Transcription['progress']>['stage'];
  fraction: number;
  version: string;
  reports: (Omit<ReportResult, 'status'> & { status: ReportStatus; text: string | null })[];
  block: number | null;
  turns_sealed: Buffer | null;
  words_sealed: Buffer | null;
}

/** The full record, or null if the actor cannot see one with this id. Read in one snapshot. */
export function loadRecord(tx: Tx, vault: Vault, actor: Actor, id: string, words = false): Promise<Loaded | null> {
  return load(tx, vault, visible(actor), id, words);
}

/** The record of a locked transcription, even if the change has made it invisible to the actor. */
export async function loadHeld(tx: Tx, vault: Vault, held: Held): Promise<Loaded> {
  return (await load(tx, vault, { sql: 't.workspace_id = ?::uuid', parameters: [held.workspaceId] }, held.id, false))!;
}

async function load(tx: Tx, vault: Vault, { sql, parameters }: Condition, id: string, words: boolean): Promise<Loaded | null> {
  const rows = await tx.rows<RecordRow>(
    `select ${ITEM_COLUMNS}, t.status, t.error_code, ${STAGE} as stage, ${FRACTION} as fraction, ${VERSION} as version,
       ceil(t.required_minutes * 100) / 100 as required, floor(t.available_minutes * 100) / 100 as available,
       s.block, s.turns_sealed, ${words ? 's.words_sealed' : 'null'} as words_sealed,
       coalesce((select json_agg(json_build_object('id', r.id, 'slug', r.slug, 'name', r.name, 'status', r.status,
           'error_code', r.error_code, 'text', encode(r.text_sealed, 'base64'),
           'created_at', ${stamp('r.created_at')}, 'completed_at', ${stamp('r.completed_at')}) order by r.created_at, r.id)
         from reports r where r.workspace_id = t.workspace_id and r.transcription_id = t.id and r.replaced_by is null), '[]') as reports
     from transcriptions t ${PROJECT}
     left join segments s on s.workspace_id = t.workspace_id and s.transcription_id = t.id and t.status = 'completed'
     where t.id = ?::uuid and ${sql} order by s.block`,
    [lookupId(id), ...parameters],
  );
  const [row] = rows;
  if (!row) return null;
  const { item, filename, speakers } = await toItem(vault, row);
  const names = new Map(speakers.map((speaker) => [speaker.id, givenName(speaker)]));
  const segments = (await Promise.all(rows.map((each) => unsealTurns(vault, each, names)))).flat();
  const record: FullRecord = {
    id: item.id,
    title: item.title,
    status: row.status,
    summary: item.summary,
    language: item.language,
    duration_seconds: item.duration_seconds,
    media_type: item.media_type,
    project: item.project,
    author: item.author,
    speakers: item.speakers,
    topics: item.topics,
    text: row.status === 'completed' ? transcriptText(segments) : null,
    segments,
    prompt_results: await Promise.all(row.reports.map((report) => unsealReport(vault, row.workspace_id, report))),
    external_id: item.external_id,
    metadata: item.metadata,
    error_code: row.status === 'failed' ? row.error_code : null,
    required_minutes: row.status === 'insufficient_balance' ? decimal(row.required) : null,
    available_minutes: row.status === 'insufficient_balance' ? decimal(row.available) : null,
    created_at: item.created_at,
    updated_at: item.updated_at,
  };
  if (row.status === 'queued' || row.status === 'processing') record.progress = { stage: row.stage, fraction: milli(row.fraction) };
  return { record, filename, version: row.version };
}

interface StoredTurn {
  id: number;
  start: number;
  end: number;
  speaker: string | null;
  text: string;
}

/** The segments of one block; none if the row has no block. */
async function unsealTurns(vault: Vault, row: RecordRow, names: ReadonlyMap<string, string | null>): Promise<Segment[]> {
  if (row.block === null || !row.turns_sealed) return [];
  const place = `segments|${row.id}:${row.block}`;
  const turns: StoredTurn[] = JSON.parse((await vault.open(row.workspace_id, `${place}|turns`, row.turns_sealed)).toString());
  const words: StoredWord[][] | null = row.words_sealed
    ? JSON.parse((await vault.open(row.workspace_id, `${place}|words`, row.words_sealed)).toString())
    : null;
  return turns.map((turn, index) => ({
    id: turn.id,
    start: milli(turn.start),
    end: milli(turn.end),
    speaker_id: turn.speaker,
    speaker_name: (turn.speaker && names.get(turn.speaker)) ?? null,
    text: turn.text,
    ...(words && sure(words[index] ?? [])),
  }));
}

/** A word's start, end, text and confidence, which earlier versions did not keep. */
type StoredWord = [start: number, end: number, text: string, confidence?: number];

/** Words with their confidence, and the mean confidence, as far as known. */
function sure(stored: readonly StoredWord[]): Pick<Segment, 'words' | 'confidence'> {
  const words = stored.map(([start, end, text, confidence]) => ({
    ...{ start: milli(start), end: milli(end), text },
    ...(confidence !== undefined && { confidence }),
  }));
  const known = stored.flatMap(([, , , confidence]) => confidence ?? []);
  const mean = known.reduce((sum, confidence) => sum + confidence, 0) / known.length;
  return { ...(known.length && { confidence: milli(mean) }), words };
}

async function unsealReport(vault: Vault, workspaceId: string, report: RecordRow['reports'][number]): Promise<ReportResult> {
  const done = report.status === 'completed' && report.text !== null;
  const sealed = done ? Buffer.from(report.text!, 'base64') : null;
  return {
    id: report.id,
    slug: report.slug,
    name: report.name,
    status: report.status,
    error_code: report.status === 'failed' ? report.error_code : null,
    text: await vault.text(workspaceId, `reports|${report.id}|text`, sealed),
    created_at: report.created_at,
    completed_at: done ? report.completed_at : null,
  };
}

function decimal(text: string | null): number | null {
  return text === null ? null : Number(text);
}

/** One of many queries: which version of `id` does this actor see? */
export interface VersionQuestion {
  actor: Actor;
  id: string;
}

/** For each query, in order, the version that `loadRecord` would return, or null: visibility is re-evaluated, in one query. */
export async function readVersions(db: Db, workspaceId: string, questions: readonly VersionQuestion[]): Promise<(string | null)[]> {
  const asked = questions.map(({ actor, id }, n) => ({ n, id: lookupId(id), member: actor.memberId, owner: actor.role === 'owner' }));
  const rows = await db.query<{ n: number; version: string }>(
    workspaceId,
    `select q.n, ${VERSION} as version
     from jsonb_to_recordset(?::jsonb) as q(n integer, id uuid, member uuid, owner boolean)
     join transcriptions t on t.id = q.id ${PROJECT}
     where ${visibleTo({ workspace: '?::uuid', member: 'q.member', owner: 'q.owner' })}`,
    [JSON.stringify(asked), workspaceId, workspaceId],
  );
  const answers: (string | null)[] = questions.map(() => null);
  for (const { n, version } of rows) answers[n] = version;
  return answers;
}
