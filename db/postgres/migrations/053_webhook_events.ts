import { Migration } from '@mikro-orm/migrations';

/** Webhooks subscribe to events, and their secrets can be rotated. */
export class Migration053 extends Migration {
  override up(): void {
    this.addSql(`
alter table webhooks add column events text[],                   -- null: all
  add column former_secret_sealed bytea,                         -- signs too, until
  add column former_until timestamptz`);
  }
}
