import { Migration } from '@mikro-orm/migrations';

/** Seconds of speech by ASR model per engine since its start. Older engines never set it. */
export class Migration061 extends Migration {
  override up(): void {
    this.addSql(`alter table engines add column recognised jsonb not null default '{}'`);
  }
}
