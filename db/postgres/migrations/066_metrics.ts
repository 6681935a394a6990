import { Migration } from '@mikro-orm/migrations';

/**
 * Metrics that need no sums over the ledger: charged minutes, in slots so that charges seldom wait for one another, and the API process
 * that exports the metrics of the installation. Charges by engines of the previous version are not counted.
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
