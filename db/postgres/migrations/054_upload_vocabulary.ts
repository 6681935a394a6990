import { Migration } from '@mikro-orm/migrations';

/** Names and terms that an upload brings for its recording, sealed. */
export class Migration054 extends Migration {
  override up(): void {
    this.addSql('alter table transcriptions add column vocabulary_sealed bytea');
  }
}
