import { Migration } from '@mikro-orm/migrations';

/** Seconds of detected speech without words per engine since its start. Older engines never set it. */
export class Migration060 extends Migration {
  override up(): void {
    this.addSql('alter table engines add column uncovered_seconds double precision not null default 0');
  }
}
