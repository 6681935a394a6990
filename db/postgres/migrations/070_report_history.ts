import { Migration } from '@mikro-orm/migrations';

/** A regenerated report replaces the previous one, which is kept: per slug, one report is neither failed nor replaced. */
export class Migration070 extends Migration {
  override up(): void {
    this.addSql('alter table reports add column replaced_by uuid'); // the report that replaced it; no reference, because both are deleted with the transcription
    this.addSql('drop index reports_live');
    this.addSql(`create unique index reports_live on reports (transcription_id, slug)
      where status in ('queued', 'processing', 'completed') and replaced_by is null`);
    this.addSql('create index reports_replaced on reports (replaced_by) where replaced_by is not null');
  }
}
