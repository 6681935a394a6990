import { Migration } from '@mikro-orm/migrations';

/**
 * Charges record their key and project, because they outlive the recording; workspaces record that their owners were notified of a low
 * balance, and such notifications exist. Older engines write none of these columns.
 */
export class Migration015 extends Migration {
  override up(): void {
    this.addSql(`
alter table ledger add column key_id uuid, add column project_id uuid;
alter table workspaces
  add column low_balance_minutes numeric not null default 60, -- owners are told below this; 0: never
  add column low_balance_told_at timestamptz;
alter table notifications alter column transcription_id drop not null;
alter table notifications
  add column kind text not null default 'ready' check (kind in ('ready', 'low_balance')),
  add column minutes numeric,                           -- what was left, of a low balance
  add check ((kind = 'ready') = (transcription_id is not null));
`);
  }
}
