import { Migration } from '@mikro-orm/migrations';

/** When a place for reports was last given to a workspace: whose turn it is. Older engines leave it alone and serve the oldest first. */
export class Migration006 extends Migration {
  override up(): void {
    this.addSql(`alter table workspaces add column reports_served_at timestamptz not null default 'epoch'`);
  }
}
