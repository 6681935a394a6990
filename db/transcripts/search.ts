import type { Actor } from '../../api/contract/actor.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { visible } from '../tenants/visibility.ts';
import { titleOf } from '../webhooks/notifications.ts';

/* SQL: pages of lists. */

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
  actor: Actor,
  text: string,
  limits: { hits: number; milliseconds: number },
) {
  const wanted = text.toLowerCase();
  const until = performance.now() + limits.milliseconds;
  const items: SearchHit[] = [];
  let [scanned, complete] = [0, false];
  let before: { at: string; id: string } | null = null;
  while (items.length < limits.hits && performance.now() < until) {
    const rows: Row[] = await read((tx) => page(tx, actor, before));
    for (const row of rows) {
      const hit = await matchIn(read, vault, actor, row, wanted);
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

function page(tx: Tx, actor: Actor, before: { at: string; id: string } | null): Promise<Row[]> {
  const see = visible(actor);
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
  actor: Actor,
  row: Row,
  wanted: string,
): Promise<SearchHit | null> {
  const title = await titleOf(vault, actor.workspaceId, row.id, row);
  const blocks = await read((tx) =>
    tx.rows<{ block: number; turns_sealed: Buffer }>(
      'select block, turns_sealed from segments where workspace_id = ? and transcription_id = ? order by block',
      [actor.workspaceId, row.id],
    ),
  );
  const matches: SearchHit['matches'] = [];
  for (const { block, turns_sealed } of blocks) {
    const turns = JSON.parse((await vault.text(actor.workspaceId, `segments|${row.id}:${block}|turns`, turns_sealed))!) as {
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
