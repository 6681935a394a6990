import type { Actor } from '../../api/contract/actor.ts';
import { Notification } from '../postgres/entities/outbox.ts';
import { anyOf, now } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { visible } from '../tenants/visibility.ts';

interface NotificationRow {
  id: string;
  kind: 'ready' | 'low_balance';
  minutes: number | null;
  transcription_id: string | null;
  title_sealed: Buffer | null;
  filename_sealed: Buffer | null;
  created_at: string;
  read_at: string | null;
}

/**
 * The newest fifty notifications of a member: completed transcriptions that are still visible to the member and, for owners, low balances.
 * SQL: a list under the predicate of all lists.
 */
export async function listNotifications(tx: Tx, vault: Vault, actor: Actor) {
  const see = visible(actor);
  const rows = await tx.rows<NotificationRow>(
    `select n.id, n.kind, n.minutes::float8 as minutes, n.transcription_id, n.created_at, n.read_at, t.title_sealed, t.filename_sealed
     from notifications n left join transcriptions t on t.id = n.transcription_id
     where n.workspace_id = ? and n.member_id = ? and (n.kind <> 'ready' or (${see.sql})) order by n.id desc limit 50`,
    [actor.workspaceId, actor.memberId, ...see.parameters],
  );
  const items = await Promise.all(
    rows.map(async (row) => ({
      id: Number(row.id),
      kind: row.kind,
      transcription_id: row.transcription_id,
      title:
        row.transcription_id && row.filename_sealed
          ? await titleOf(vault, actor.workspaceId, row.transcription_id, {
              title_sealed: row.title_sealed,
              filename_sealed: row.filename_sealed,
            })
          : `Few minutes left: ${Math.max(0, row.minutes ?? 0)}`,
      created_at: new Date(row.created_at),
      read: row.read_at !== null,
    })),
  );
  return { items, unread: items.filter((item) => !item.read).length };
}

/** Marks these, or all, as read. */
export async function markRead(tx: Tx, actor: Actor, ids: readonly number[] | null): Promise<void> {
  const { workspaceId, memberId } = actor;
  if (memberId === null) return; // the operator has no notifications
  await tx.em.nativeUpdate(
    Notification,
    { workspaceId, memberId, readAt: null, ...(ids && { id: anyOf(ids, 'bigint') }) },
    { readAt: now() },
  );
}

/** The displayed title: from the AI layer, else the file name. */
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
