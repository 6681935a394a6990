import type { Buffer } from 'node:buffer';
import { milli } from '../../api/contract/seconds.ts';
import type { ListItem } from '../../api/contract/transcription.ts';
import type { Vault } from '../secrets/vault.ts';

/** One transcription as listed. `metadata` is the JSON text as received, because JSON.parse would change large numbers. */
export interface Item extends Omit<ListItem, 'metadata'> {
  metadata: string | null;
}

/** A stored speaker: `name` was given by a person, `ai_name` by the AI layer; in order of first appearance. */
export interface StoredSpeaker {
  id: string;
  ai_name: string | null;
  name: string | null;
}

/** SQL: a timestamp as returned to clients, UTC with milliseconds. */
export function stamp(column: string): string {
  return `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** SQL: the language shown to clients: the detected one, else the requested one. */
export const LANGUAGE = `coalesce(t.language, nullif(t.requested_language, 'auto'))`;

/** SQL: the columns of `transcriptions t` and `projects p` that `toItem` needs. */
export const ITEM_COLUMNS = `t.id, t.workspace_id, t.title_sealed, t.filename_sealed, t.summary_sealed, t.topics_sealed, t.speakers_sealed,
  ${LANGUAGE} as language, t.duration_seconds, t.media_type, p.id as project_id, p.name as project_name,
  t.author_id, t.author_email, t.author_name, t.external_id, t.metadata_text,
  ${stamp('t.created_at')} as created_at, ${stamp('t.updated_at')} as updated_at`;

export interface ItemRow {
  id: string;
  workspace_id: string;
  title_sealed: Buffer | null;
  filename_sealed: Buffer;
  summary_sealed: Buffer | null;
  topics_sealed: Buffer | null;
  speakers_sealed: Buffer | null;
  language: string | null;
  duration_seconds: number | null;
  media_type: 'audio' | 'video' | null;
  project_id: string | null;
  project_name: string | null;
  author_id: string;
  author_email: string;
  author_name: string | null;
  external_id: string | null;
  metadata_text: string | null;
  created_at: string;
  updated_at: string;
}

/** Values decrypted by `toItem`, with those that only the full record and exports show. */
export interface Unsealed {
  item: Item;
  filename: string;
  speakers: StoredSpeaker[];
}

export async function toItem(vault: Vault, row: ItemRow): Promise<Unsealed> {
  const text = (column: string, sealed: Buffer | null) => vault.text(row.workspace_id, `transcriptions|${row.id}|${column}`, sealed);
  const [title, filename, summary, topics, speakers] = await Promise.all([
    text('title', row.title_sealed),
    text('filename', row.filename_sealed),
    text('summary', row.summary_sealed),
    text('topics', row.topics_sealed),
    text('speakers', row.speakers_sealed),
  ]);
  const stored: StoredSpeaker[] = speakers ? JSON.parse(speakers) : [];
  const item: Item = {
    id: row.id,
    title: title ?? filename,
    summary,
    language: row.language,
    duration_seconds: milli(row.duration_seconds),
    media_type: row.media_type,
    project: row.project_id ? { id: row.project_id, name: row.project_name! } : null,
    author: { id: row.author_id, email: row.author_email, name: row.author_name },
    speakers: stored.map((speaker, index) => ({ id: speaker.id, name: givenName(speaker) ?? `Speaker ${index + 1}` })),
    topics: topics ? (JSON.parse(topics) as string[]).map((name) => ({ title: name })) : null,
    external_id: row.external_id,
    metadata: row.metadata_text,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
  return { item, filename: filename!, speakers: stored };
}

/** A speaker's name: a person's choice overrides the AI layer's. */
export function givenName(speaker: StoredSpeaker): string | null {
  return speaker.name ?? speaker.ai_name;
}
