import { Migration } from '@mikro-orm/migrations';

/** A session opened with an API key has the rights of that key and ends with it. */
export class Migration003 extends Migration {
  override up(): void {
    this.addSql('alter table sessions add column key_id uuid references api_keys on delete cascade');
  }
}
