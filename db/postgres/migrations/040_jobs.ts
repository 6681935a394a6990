import { Migration } from '@mikro-orm/migrations';

/**
 * Jobs carry their name as a flag, so that an engine without a free slot for a kind leaves them to others. Reports are scheduled in turns,
 * as transcriptions are since 020: a narrow row per workspace records when it was last served and when its next report is due.
 */
export class Migration040 extends Migration {
  override up(): void {
    this.addSql(`
create function longhand_add_job(name text, payload json, seconds double precision, attempts integer, key text, priority integer)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (select id from graphile_worker.add_job(name, payload, run_at := now() + seconds * interval '1 second',
    max_attempts := attempts, job_key := key, priority := priority, flags := array[name]));
end $$;
revoke all on function longhand_add_job from public`);
    this.addSql(`
do $$
begin
  if exists (select from pg_roles where rolname = 'longhand_app') then
    begin
      grant execute on function longhand_add_job to longhand_app;
    exception when insufficient_privilege then null;
    end;
  end if;
end $$`);
    this.addSql(`
create table report_turns (                             -- workspaces with reports that wait, in the order in which they are served
  workspace_id uuid primary key references workspaces on delete cascade,
  served_at timestamptz not null default 'epoch',
  due_at timestamptz not null default now()             -- nothing of it may start before; infinity: nothing waits
) with (fillfactor = 50);
create index report_turns_ready on report_turns (served_at, workspace_id) where due_at < 'infinity';
alter table report_turns enable row level security;
alter table report_turns force row level security;
create policy workspace on report_turns using ((select current_setting('longhand.workspace', true)) = '*'
  or workspace_id = (select nullif(nullif(current_setting('longhand.workspace', true), '*'), '')::uuid));

create function note_report() returns trigger language plpgsql as $$
begin
  insert into report_turns as q (workspace_id, due_at) values (new.workspace_id, new.run_after)
  on conflict (workspace_id) do update set due_at = least(q.due_at, excluded.due_at);
  return null;
end $$;
create trigger reports_wait after insert on reports for each row
  when (new.lease_token is null and new.status in ('queued', 'processing')) execute function note_report();
create trigger reports_wait_again after update of status, lease_token, run_after on reports for each row
  when (new.lease_token is null and new.status in ('queued', 'processing')) execute function note_report();

create function note_reports() returns trigger language plpgsql as $$
begin
  if exists (select from reports r where r.transcription_id = new.id and r.status in ('queued', 'processing')) then
    insert into report_turns as q (workspace_id) values (new.workspace_id) on conflict (workspace_id) do update set due_at = least(q.due_at, excluded.due_at);
  end if;
  return null;
end $$;
create trigger transcriptions_written after update of status on transcriptions for each row
  when (new.status = 'completed' and old.status <> 'completed') execute function note_reports();

insert into report_turns (workspace_id) select distinct workspace_id from reports where status in ('queued', 'processing')`);
  }
}
