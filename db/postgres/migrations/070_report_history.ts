import { Migration } from '@mikro-orm/migrations';

/** A report that is written again takes the place of the one before, which stays: one of each slug is live and not replaced. */
export class Migration070 extends Migration {
  override up(): void {
    this.addSql('alter table reports add column replaced_by uuid'); // the report in its place; no reference: both go with the transcription
    this.addSql('drop index reports_live');
    this.addSql(`create unique index reports_live on reports (transcription_id, slug)
      where status in ('queued', 'processing', 'completed') and replaced_by is null`);
    this.addSql('create index reports_replaced on reports (replaced_by) where replaced_by is not null');
  }
}
