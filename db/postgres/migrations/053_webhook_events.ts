import { Migration } from '@mikro-orm/migrations';

/** Webhooks are told of what they ask for, and their secrets can be changed. */
export class Migration053 extends Migration {
  override up(): void {
    this.addSql(`
alter table webhooks add column events text[],                   -- null: all
  add column former_secret_sealed bytea,                         -- signs too, until
  add column former_until timestamptz`);
  }
}
