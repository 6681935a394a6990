import { Migration } from '@mikro-orm/migrations';

/**
 * The fleet's sweep reschedules itself. After the clock was set back the next sweep is far ahead, although the sweep is what corrects such
 * times.
 */
export class Migration023 extends Migration {
  override up(): void {
    this.addSql(`
create function longhand_sweep_is_late(seconds double precision)
returns boolean language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin -- plpgsql: the queue's tables are made later
  return exists (select from graphile_worker.jobs where key = 'sweep' and run_at > now() + seconds * interval '1 second');
end $$`);
    this.addSql('revoke all on function longhand_sweep_is_late from public');
    this.addSql(`
do $$
begin
  if exists (select from pg_roles where rolname = 'longhand_app') then
    begin
      grant execute on function longhand_sweep_is_late to longhand_app;
    exception when insufficient_privilege then null;
    end;
  end if;
end $$`);
  }
}
