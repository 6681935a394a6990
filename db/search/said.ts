import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';

/* SQL: reads transcripts in bulk. */

/** A stored turn. */
export interface SaidTurn {
  id: number;
  start: number;
  speaker: string | null;
  text: string;
}

/** The words of a completed transcript, decrypted. */
export interface Said {
  texts: string[];
  title: string;
}

/** The words of a completed transcription. Null: there is none. */
export async function readSaid(tx: Tx, vault: Vault, workspaceId: string, id: string): Promise<Said | null> {
  const row = await tx.row<{ title_sealed: Buffer | null; filename_sealed: Buffer }>(
    `select t.title_sealed, t.filename_sealed from transcriptions t
     where t.workspace_id = ?::uuid and t.id = ?::uuid and t.status = 'completed'`,
    [workspaceId, id],
  );
  if (!row) return null;
  const [column, sealed] = row.title_sealed ? (['title', row.title_sealed] as const) : (['filename', row.filename_sealed] as const);
  const title = await vault.text(workspaceId, `transcriptions|${id}|${column}`, sealed);
  const turns = (await readTurns(tx, vault, workspaceId, [id])).get(id) ?? [];
  return { texts: turns.map(({ text }) => text), title: title ?? '' };
}

/** The turns of these transcripts, in order. */
export async function readTurns(tx: Tx, vault: Vault, workspaceId: string, ids: readonly string[]): Promise<Map<string, SaidTurn[]>> {
  const rows = await tx.rows<{ id: string; block: number; turns_sealed: Buffer }>(
    `select s.transcription_id as id, s.block, s.turns_sealed from segments s
     where s.workspace_id = ?::uuid and s.transcription_id = any (?::uuid[]) order by s.transcription_id, s.block`,
    [workspaceId, ids],
  );
  const turns = new Map<string, SaidTurn[]>();
  for (const { id, block, turns_sealed } of rows) {
    const opened: SaidTurn[] = JSON.parse((await vault.open(workspaceId, `segments|${id}:${block}|turns`, turns_sealed)).toString());
    turns.set(id, [...(turns.get(id) ?? []), ...opened]);
  }
  return turns;
}
