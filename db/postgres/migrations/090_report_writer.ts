import { Migration } from '@mikro-orm/migrations';

/** Whether a language model wrote a report. Unknown for earlier ones. */
export class Migration090 extends Migration {
  override up(): void {
    this.addSql(`alter table reports add column writer text check (writer in ('model', 'extractive'))`);
  }
}
