import { Migration } from '@mikro-orm/migrations';

const POLICY = (table: string) => `
alter table ${table} enable row level security;
alter table ${table} force row level security;
create policy workspace on ${table} using ((select current_setting('longhand.workspace', true)) = '*'
  or workspace_id = (select nullif(nullif(current_setting('longhand.workspace', true), '*'), '')::uuid));`;

/**
 * Turns and leases in narrow tables of their own: a claim reads the first row of an index, a heartbeat writes one short row. Triggers
 * maintain the turns, so that engines of the previous version, which do not know them, maintain them too. Those keep their leases in the
 * wide rows as before; the others write only the token there, without an expiry, which older sweepers ignore.
 */
export class Migration020 extends Migration {
  override up(): void {
    this.addSql(`
create table leases (                                   -- who works on what
  token uuid primary key,                               -- the same stands in the row that is worked on, where it fences every write
  kind text not null check (kind in ('transcriptions', 'reports', 'previews')),
  subject uuid not null,                                -- id of that row
  workspace_id uuid not null references workspaces on delete cascade,
  engine_id uuid not null,
  until timestamptz not null,                           -- the holder counts as dead from then on
  stage text,
  fraction real not null default 0
) with (fillfactor = 50);
create index leases_subject on leases (subject);
create index leases_workspace on leases (workspace_id);
${POLICY('leases')}

create table turns (                                    -- workspaces with recordings that wait, in the order in which they are served
  workspace_id uuid not null references workspaces on delete cascade,
  lane text not null check (lane in ('probe', 'short', 'long')),
  served_at timestamptz not null default 'epoch',
  due_at timestamptz not null default now(),            -- nothing of it may start before
  busy boolean not null default false,                  -- as many at work as the workspace may have at once
  primary key (workspace_id, lane)
);
create index turns_probe on turns (served_at, workspace_id) where lane = 'probe';
create index turns_ready on turns (served_at, workspace_id) where lane <> 'probe' and not busy;
${POLICY('turns')}

create function note_turn() returns trigger language plpgsql as $$
begin
  insert into turns as q (workspace_id, lane, served_at, due_at)
  select w.id, case when new.status = 'queued' and new.probed_at is null then 'probe'
      when new.duration_seconds <= 600 then 'short' else 'long' end, w.served_at, new.run_after
  from workspaces w where w.id = new.workspace_id
  on conflict (workspace_id, lane) do update set due_at = least(q.due_at, excluded.due_at), busy = q.busy and new.status = 'queued';
  return null;
end $$;
create trigger transcriptions_wait after insert on transcriptions for each row
  when (new.lease_token is null and new.status in ('queued', 'processing')) execute function note_turn();
create trigger transcriptions_wait_again after update of status, lease_token, probed_at, run_after on transcriptions for each row
  when (new.lease_token is null and new.status in ('queued', 'processing')) execute function note_turn();

create function free_turn() returns trigger language plpgsql as $$
begin
  update turns set busy = false where workspace_id = old.workspace_id and busy;
  return null;
end $$;
create trigger transcriptions_over after update of status on transcriptions for each row
  when (old.status = 'processing' and new.status <> 'processing') execute function free_turn();
create trigger transcriptions_gone after delete on transcriptions for each row
  when (old.status = 'processing') execute function free_turn();

create function widen_turn() returns trigger language plpgsql as $$
begin
  update turns set busy = false where workspace_id = new.id and busy;
  return null;
end $$;
create trigger workspaces_widened after update of concurrency on workspaces for each row execute function widen_turn();

insert into turns (workspace_id, lane)
select distinct workspace_id, case when status = 'queued' and probed_at is null then 'probe' when duration_seconds <= 600 then 'short' else 'long' end
from transcriptions where status in ('queued', 'processing') and lease_token is null;

alter table workspaces add column deleted_at timestamptz; -- its key is destroyed; what is left of it goes in batches`);
  }
}
