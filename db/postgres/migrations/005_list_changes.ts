import { Migration } from '@mikro-orm/migrations';

/**
 * Changes that may affect list totals, recorded per workspace and day of creation of the changed row: the sum over days is a version of the
 * list of those days. Rows are only added, so that transactions never wait for one another, and aggregated later
 * (db/transcripts/totals.ts). Changes of project membership count for all days. Older programs neither read nor write the table; triggers
 * write for them.
 */
export class Migration005 extends Migration {
  override up(): void {
    this.addSql(`
create table list_changes (
  id bigint generated always as identity primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  day date not null,                                    -- UTC; -infinity: of all days
  changes bigint not null
);
create index list_changes_find on list_changes (workspace_id, day) include (changes);
alter table list_changes enable row level security;
alter table list_changes force row level security;
create policy workspace on list_changes using ((select current_setting('longhand.workspace', true)) = '*'
  or workspace_id = (select nullif(nullif(current_setting('longhand.workspace', true), '*'), '')::uuid));

create function note_list_changes() returns trigger language plpgsql as $$
begin
  insert into list_changes (workspace_id, day, changes)
  select c.workspace_id, (c.created_at at time zone 'utc')::date, count(*)
  from changed c where exists (select from workspaces w where w.id = c.workspace_id) -- not while the workspace itself is deleted
  group by 1, 2;
  return null;
end $$;
create trigger transcriptions_added after insert on transcriptions
  referencing new table as changed for each statement execute function note_list_changes();
create trigger transcriptions_removed after delete on transcriptions
  referencing old table as changed for each statement execute function note_list_changes();

create function note_list_change() returns trigger language plpgsql as $$
begin
  insert into list_changes (workspace_id, day, changes)
  select new.workspace_id, d, 1
  from (select (old.created_at at time zone 'utc')::date union select (new.created_at at time zone 'utc')::date) days(d);
  return null;
end $$;
create trigger transcriptions_changed after update on transcriptions for each row
  when ((old.status, old.language, old.requested_language, old.project_id, old.author_id, old.creator_id, old.external_id, old.metadata_text, old.created_at)
    is distinct from (new.status, new.language, new.requested_language, new.project_id, new.author_id, new.creator_id, new.external_id, new.metadata_text, new.created_at))
  execute function note_list_change();

create function note_belonging() returns trigger language plpgsql as $$
begin
  insert into list_changes (workspace_id, day, changes)
  select w.id, '-infinity', 1 from workspaces w where w.id = coalesce(new.workspace_id, old.workspace_id);
  return null;
end $$;
create trigger project_members_changed after insert or update or delete on project_members for each row execute function note_belonging();

-- Clients see milliseconds, and ties of what they see break by id.
alter table transcriptions alter column created_at set default date_trunc('milliseconds', now());
alter table projects alter column created_at set default date_trunc('milliseconds', now());
`);
  }
}
