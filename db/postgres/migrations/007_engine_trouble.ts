import { Migration } from '@mikro-orm/migrations';

/** Why an engine takes no recordings: its spool is away. Older engines never say so. */
export class Migration007 extends Migration {
  override up(): void {
    this.addSql('alter table engines add column trouble text');
  }
}
