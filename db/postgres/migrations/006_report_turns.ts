import { Migration } from '@mikro-orm/migrations';

/** When a workspace last got a report slot, for round-robin scheduling. Older engines ignore it and serve the oldest first. */
export class Migration006 extends Migration {
  override up(): void {
    this.addSql(`alter table workspaces add column reports_served_at timestamptz not null default 'epoch'`);
  }
}
