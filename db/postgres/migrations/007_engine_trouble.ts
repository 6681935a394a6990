import { Migration } from '@mikro-orm/migrations';

/** Why an engine takes no recordings: its spool is unavailable. Older engines never set it. */
export class Migration007 extends Migration {
  override up(): void {
    this.addSql('alter table engines add column trouble text');
  }
}
