import { Migration } from '@mikro-orm/migrations';

/** Vocabulary of a single recording, given at upload, encrypted. */
export class Migration054 extends Migration {
  override up(): void {
    this.addSql('alter table transcriptions add column vocabulary_sealed bytea');
  }
}
