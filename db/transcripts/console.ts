import { forbidden, notFound } from '../../api/contract/errors.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { editable, lookupId, type Viewer, visible } from '../tenants/visibility.ts';
import { titleOf } from '../webhooks/notifications.ts';
import type { StoredSpeaker } from './list-row.ts';
import { hold } from './mutate.ts';

/** Gives a speaker a name that overrides the AI's; null takes it away. Throws 404, and 403 without the right to change the transcription. */
export async function renameSpeaker(
  tx: Tx,
  vault: Vault,
  viewer: Viewer,
  id: string,
  speakerId: string,
  name: string | null,
): Promise<void> {
  const held = await hold(tx, viewer, id);
  if (!held.editable) throw forbidden();
  const place = `transcriptions|${held.id}|speakers`;
  const row = await tx.row<{ speakers_sealed: Buffer | null }>(
    'select speakers_sealed from transcriptions where workspace_id = ? and id = ?',
    [viewer.workspaceId, held.id],
  );
  const speakers = JSON.parse((await vault.text(viewer.workspaceId, place, row!.speakers_sealed)) ?? '[]') as StoredSpeaker[];
  const speaker = speakers.find((one) => one.id === speakerId);
  if (!speaker) throw notFound();
  speaker.name = name;
  const sealed = await vault.seal(viewer.workspaceId, place, JSON.stringify(speakers));
  await tx.rows('update transcriptions set speakers_sealed = ?, updated_at = now() where workspace_id = ? and id = ?', [
    sealed,
    viewer.workspaceId,
    held.id,
  ]);
}

/** Whether the viewer may change a transcription. Throws 404. */
export async function mayEdit(tx: Tx, viewer: Viewer, id: string): Promise<boolean> {
  const [see, edit] = [visible(viewer), editable(viewer)];
  const row = await tx.row<{ editable: boolean }>(
    `select (${edit.sql}) as editable from transcriptions t where t.id = ?::uuid and ${see.sql}`,
    [...edit.parameters, lookupId(id), ...see.parameters],
  );
  if (!row) throw notFound();
  return row.editable;
}

export interface SearchHit {
  id: string;
  title: string;
  created_at: Date;
  matches: { segment_id: number; start: number; speaker: string | null; text: string }[];
}

const PAGE = 25; // transcripts unsealed at a time
const MATCHES = 5; // shown of one transcript

/**
 * Transcripts that hold `text`, newest first, until `limit` are found or the time is up: there is no plain-text index, every transcript that
 * the person may see is unsealed for the search. `next` reads pages in transactions of their own.
 */
export async function search(
  read: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
  vault: Vault,
  viewer: Viewer,
  text: string,
  limits: { hits: number; milliseconds: number },
) {
  const wanted = text.toLowerCase();
  const until = performance.now() + limits.milliseconds;
  const items: SearchHit[] = [];
  let [scanned, complete] = [0, false];
  let before: { at: string; id: string } | null = null;
  while (items.length < limits.hits && performance.now() < until) {
    const rows: Row[] = await read((tx) => page(tx, viewer, before));
    for (const row of rows) {
      const hit = await matchIn(read, vault, viewer, row, wanted);
      if (hit) items.push(hit);
      scanned++;
      if (items.length >= limits.hits || performance.now() > until) break;
    }
    if (rows.length < PAGE) {
      complete = scanned % PAGE === rows.length % PAGE && performance.now() < until;
      break;
    }
    before = { at: rows.at(-1)!.created_at, id: rows.at(-1)!.id };
  }
  return { items, scanned, complete };
}

interface Row {
  id: string;
  created_at: string;
  title_sealed: Buffer | null;
  filename_sealed: Buffer;
}

function page(tx: Tx, viewer: Viewer, before: { at: string; id: string } | null): Promise<Row[]> {
  const see = visible(viewer);
  return tx.rows<Row>(
    `select t.id, t.created_at, t.title_sealed, t.filename_sealed from transcriptions t
     where t.status = 'completed' and ${see.sql} and (?::timestamptz is null or (t.created_at, t.id) < (?::timestamptz, ?::uuid))
     order by t.created_at desc, t.id desc limit ${PAGE}`,
    [...see.parameters, before?.at ?? null, before?.at ?? null, before?.id ?? null],
  );
}

async function matchIn(
  read: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
  vault: Vault,
  viewer: Viewer,
  row: Row,
  wanted: string,
): Promise<SearchHit | null> {
  const title = await titleOf(vault, viewer.workspaceId, row.id, row);
  const blocks = await read((tx) =>
    tx.rows<{ block: number; turns_sealed: Buffer }>(
      'select block, turns_sealed from segments where workspace_id = ? and transcription_id = ? order by block',
      [viewer.workspaceId, row.id],
    ),
  );
  const matches: SearchHit['matches'] = [];
  for (const { block, turns_sealed } of blocks) {
    const turns = JSON.parse((await vault.text(viewer.workspaceId, `segments|${row.id}:${block}|turns`, turns_sealed))!) as {
      id: number;
      start: number;
      speaker: string | null;
      text: string;
    }[];
    for (const turn of turns) {
      if (matches.length < MATCHES && turn.text.toLowerCase().includes(wanted))
        matches.push({ segment_id: turn.id, start: turn.start, speaker: turn.speaker, text: turn.text });
    }
  }
  return matches.length || title.toLowerCase().includes(wanted)
    ? { id: row.id, title, created_at: new Date(row.created_at), matches }
    : null;
}
