import type { Actor } from '../../api/contract/actor.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { visible } from '../tenants/visibility.ts';

/** "Your transcription is ready": the newest fifty of a member, of what the member may still see. */
export async function listNotifications(tx: Tx, vault: Vault, actor: Actor) {
  const see = visible(actor);
  const rows = await tx.rows<{
    id: string;
    transcription_id: string;
    title_sealed: Buffer | null;
    filename_sealed: Buffer;
    created_at: string;
    read_at: string | null;
  }>(
    `select n.id, n.transcription_id, n.created_at, n.read_at, t.title_sealed, t.filename_sealed
     from notifications n join transcriptions t on t.id = n.transcription_id
     where n.workspace_id = ? and n.member_id = ? and ${see.sql} order by n.id desc limit 50`,
    [actor.workspaceId, actor.memberId, ...see.parameters],
  );
  const items = await Promise.all(
    rows.map(async (row) => ({
      id: Number(row.id),
      transcription_id: row.transcription_id,
      title: await titleOf(vault, actor.workspaceId, row.transcription_id, row),
      created_at: new Date(row.created_at),
      read: row.read_at !== null,
    })),
  );
  return { items, unread: items.filter((item) => !item.read).length };
}

/** Marks these, or all, as read. */
export async function markRead(tx: Tx, actor: Actor, ids: readonly number[] | null): Promise<void> {
  await tx.rows(
    `update notifications set read_at = now() where workspace_id = ? and member_id = ? and read_at is null
     and (?::json is null or id in (select value::bigint from json_array_elements_text(?::json)))`,
    [actor.workspaceId, actor.memberId, ids && JSON.stringify(ids), ids && JSON.stringify(ids)],
  );
}

/** The title that people see: the one the AI layer gave, else the file name. */
export async function titleOf(
  vault: Vault,
  workspaceId: string,
  id: string,
  row: { title_sealed: Buffer | null; filename_sealed: Buffer },
): Promise<string> {
  const place = `transcriptions|${id}`;
  return (
    (await vault.text(workspaceId, `${place}|title`, row.title_sealed)) ??
    (await vault.text(workspaceId, `${place}|filename`, row.filename_sealed)) ??
    ''
  );
}
