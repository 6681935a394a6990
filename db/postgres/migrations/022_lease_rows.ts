import { Migration } from '@mikro-orm/migrations';

/**
 * A lease row is created with the token in the row being worked on and deleted with it, whoever writes that: claims, completions,
 * deletions. An engine of the previous version writes an expiry (`lease_until`) beside the token and gets no lease row.
 */
export class Migration022 extends Migration {
  override up(): void {
    this.addSql(`
create function keep_lease() returns trigger language plpgsql as $$
begin
  delete from leases where token = old.lease_token;
  if tg_op = 'UPDATE' and new.lease_token is not null and new.lease_until is null and new.engine_id is not null then
    insert into leases (token, kind, subject, workspace_id, engine_id, until)
    values (new.lease_token, tg_table_name, new.id, new.workspace_id, new.engine_id, clock_timestamp() + interval '60 seconds');
  end if;
  return null;
end $$;`);
    for (const table of ['transcriptions', 'reports', 'previews'])
      this.addSql(`
create trigger ${table}_lease after update of lease_token on ${table} for each row
  when (old.lease_token is distinct from new.lease_token) execute function keep_lease();
create trigger ${table}_lease_gone after delete on ${table} for each row when (old.lease_token is not null) execute function keep_lease();`);
    // Recordings up to two minutes are short, as before: db/jobs/claim.ts.
    this.addSql(`
create or replace function note_turn() returns trigger language plpgsql as $$
begin
  insert into turns as q (workspace_id, lane, served_at, due_at)
  select w.id, case when new.status = 'queued' and new.probed_at is null then 'probe'
      when new.duration_seconds <= 120 then 'short' else 'long' end, w.served_at, new.run_after
  from workspaces w where w.id = new.workspace_id
  on conflict (workspace_id, lane) do update set due_at = least(q.due_at, excluded.due_at), busy = q.busy and new.status = 'queued';
  return null;
end $$;
-- It locks the turn also where it is not busy: else a claim that counts at the same moment makes it busy permanently.
create or replace function free_turn() returns trigger language plpgsql as $$
begin
  update turns set busy = false where workspace_id = old.workspace_id and lane <> 'probe';
  return null;
end $$;
create or replace function widen_turn() returns trigger language plpgsql as $$
begin
  update turns set busy = false where workspace_id = new.id and lane <> 'probe';
  return null;
end $$;
drop index transcriptions_ready_short;
create index transcriptions_ready_short on transcriptions (workspace_id, created_at, id)
  where status = 'queued' and probed_at is not null and lease_token is null and duration_seconds <= 120;`);
    this.addSql(`
create table spool_orphans (                            -- files of the spool that nothing needs; they go when they were seen so for a while
  name text primary key,
  seen_at timestamptz not null default now(),           -- first
  looked_at timestamptz not null default now()          -- last
)`);
    this.addSql(`create index deliveries_turn on deliveries (webhook_id, next_at) where status = 'pending';
drop index deliveries_waiting;`);
  }
}
