import { Migration } from '@mikro-orm/migrations';

/** Since when hosts have been unable to work on a recording: they may be for a day before these attempts count. Null: none was. */
export class Migration099 extends Migration {
  override up(): void {
    this.addSql('alter table transcriptions add column host_fault_at timestamptz');
  }
}
