import { Migration } from '@mikro-orm/migrations';

/**
 * Row-level security, a second line of defence behind explicit predicates: a row is visible when acting for its workspace, or for the
 * installation ('*'). If the user in the database URL may create roles (as superusers may), the program runs as `longhand_app`, which owns
 * nothing and cannot bypass policies; otherwise as the owner, for whom FORCE enforces them.
 */
export class Migration002 extends Migration {
  override up(): void {
    this.addSql(`
do $$
declare
  scoped record;
begin
  for scoped in
    select c.table_name, 'workspace_id' as owner from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = current_schema() and c.column_name = 'workspace_id' and t.table_type = 'BASE TABLE'
    union all select 'workspaces', 'id'
  loop
    execute format('alter table %I enable row level security', scoped.table_name);
    execute format('alter table %I force row level security', scoped.table_name);
    execute format(
      'create policy workspace on %I using ((select current_setting(''longhand.workspace'', true)) = ''*''
        or %I = (select nullif(nullif(current_setting(''longhand.workspace'', true), ''*''), '''')::uuid))', -- uuids: the planner has statistics of them
      scoped.table_name, scoped.owner);
  end loop;
end $$`);

    // Jobs are added with the rights of the queue's owner, because nobody else can access its tables.
    this.addSql(`
create function longhand_enqueue(name text, payload json, seconds double precision, attempts integer, key text, priority integer)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (select id from graphile_worker.add_job(name, payload, run_at := now() + seconds * interval '1 second',
    max_attempts := attempts, job_key := key, priority := priority));
end $$`);
    this.addSql(`
create function longhand_unlock_workers(workers text[])
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform graphile_worker.force_unlock_workers(workers);
end $$`);
    this.addSql(`
create function longhand_purge_jobs()
returns integer language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  failed bigint[];
begin
  select array_agg(id) into failed from graphile_worker.jobs where attempts >= max_attempts and locked_at is null;
  perform graphile_worker.complete_jobs(failed);
  return coalesce(cardinality(failed), 0);
end $$`);
    for (const name of ['enqueue', 'unlock_workers', 'purge_jobs']) this.addSql(`revoke all on function longhand_${name} from public`);

    this.addSql(`
do $$
declare
  home text := current_schema();
begin
  begin
    create role longhand_app nologin nobypassrls;
  exception when duplicate_object or unique_violation or insufficient_privilege then null;
  end;
  if exists (select from pg_roles where rolname = 'longhand_app') then
    begin
      execute format('grant longhand_app to %I', session_user);
      execute format('grant usage on schema %I to longhand_app', home);
      execute format('grant select, insert, update, delete on all tables in schema %I to longhand_app', home);
      execute format('alter default privileges in schema %I grant select, insert, update, delete on tables to longhand_app', home);
      grant execute on function longhand_enqueue, longhand_unlock_workers, longhand_purge_jobs to longhand_app;
    exception when insufficient_privilege then null;
    end;
  end if;
end $$`);
  }
}
