import type { Db } from '../postgres/orm.ts';

/* SQL: one scheduled statement over all workspaces. */

/** A workspace that is running out of minutes, and the addresses of its owners. */
export interface LowBalance {
  workspaceName: string;
  /** Remaining minutes, with 2 decimals. */
  minutes: number;
  owners: string[];
}

/**
 * Notifies the owners of workspaces whose balance fell below the workspace's threshold, once until it has been above it again. Workspaces
 * that were never granted minutes are skipped. One host does this; the caller also sends the result by e-mail.
 */
export function notifyLowBalances(db: Db): Promise<LowBalance[]> {
  return db.acrossTenants(async (tx) => {
    await tx.rows(
      'update workspaces set low_balance_told_at = null where low_balance_told_at is not null and balance_minutes >= low_balance_minutes',
    );
    const low = await tx.rows<{ id: string; name: string; minutes: number }>(
      `update workspaces set low_balance_told_at = now() where id in (select w.id from workspaces w
         where w.deleted_at is null and w.low_balance_told_at is null and w.balance_minutes < w.low_balance_minutes
           and exists (select from ledger l where l.workspace_id = w.id and l.minutes > 0) for no key update of w skip locked)
       returning id, name, round(balance_minutes, 2)::float8 as minutes`,
    );
    const told: LowBalance[] = [];
    for (const { id, name, minutes } of low) {
      const owners = await tx.rows<{ id: string; email: string }>(
        `select id, email from members where workspace_id = ? and role = 'owner' and status = 'active' order by id`,
        [id],
      );
      for (const owner of owners)
        await tx.rows(`insert into notifications (workspace_id, member_id, kind, minutes) values (?, ?, 'low_balance', ?)`, [
          id,
          owner.id,
          minutes,
        ]);
      told.push({ workspaceName: name, minutes, owners: owners.map(({ email }) => email) });
    }
    return told;
  });
}
