import { Migration } from '@mikro-orm/migrations';

/**
 * What monitors read without adding up ledgers: minutes charged, in slots so that charges seldom wait for one another, and which API process shows the
 * numbers of the installation. Charges by engines of the version before are not counted.
 */
export class Migration066 extends Migration {
  override up(): void {
    this.addSql(`
create table charged (
  slot integer primary key,
  minutes numeric not null default 0
) with (fillfactor = 50);
insert into charged (slot) select generate_series(0, 15);
update charged set minutes = (select coalesce(- sum(minutes), 0) from ledger where minutes < 0) where slot = 0;
create table metrics_source (
  name text primary key,
  node_id uuid not null,
  until timestamptz not null
);`);
  }
}
