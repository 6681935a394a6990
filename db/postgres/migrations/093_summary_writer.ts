import { Migration } from '@mikro-orm/migrations';

/** Whether a language model wrote a summary. Unknown for earlier ones. */
export class Migration093 extends Migration {
  override up(): void {
    this.addSql(`alter table transcriptions add column summary_writer text check (summary_writer in ('model', 'extractive'))`);
  }
}
