/* Invariants of the simulation of uploads, leases and charges. */
import { LEASE, type Limits } from '../../../api/contract/limits.ts';
import type { Db } from '../../../db/postgres/orm.ts';

/** Invariants of the state, checked while no commit is in progress. `files` are the ids of files in the spool. */
const ALWAYS = `
  select 'more in progress than the concurrency limit' as broken from workspaces w
    where (select count(*) from transcriptions t where t.workspace_id = w.id and t.status = 'processing') > w.concurrency
  union all select 'reservations exceed the balance' from workspaces w
    where coalesce((select sum(minutes) from reservations r where r.workspace_id = w.id), 0) > w.balance_minutes
  union all select 'a negative balance' from workspaces where balance_minutes < 0
  union all select 'a balance other than grants minus charges' from workspaces w
    where balance_minutes <> (select sum(minutes) from ledger l where l.workspace_id = w.id)
  union all select 'charged twice' from (select from ledger where transcription_id is not null group by transcription_id having count(*) > 1) l
  union all select 'completed without a charge' from transcriptions t
    where status = 'completed' and not exists (select from ledger l where l.transcription_id = t.id and l.minutes < 0)
  union all select 'charged but not completed' from transcriptions t
    where status <> 'completed' and exists (select from ledger l where l.transcription_id = t.id)
  union all select 'a reservation without work in progress' from reservations r
    left join transcriptions t on t.id = r.transcription_id where t.status is distinct from 'processing'
  union all select 'in progress without a reservation' from transcriptions t
    where status = 'processing' and not exists (select from reservations r where r.transcription_id = t.id)
  union all select 'a lease on finished work' from transcriptions where lease_token is not null and status not in ('queued', 'processing')
  union all select 'a charge that differs from the duration' from transcriptions t join ledger l on l.transcription_id = t.id
    where abs(l.minutes * 60 + t.duration_seconds::numeric) > 0.001
  union all select 'completed without segments' from transcriptions t
    where status = 'completed' and not exists (select from segments s where s.transcription_id = t.id)
  union all select 'more uploads in flight than the limit' from (select from upload_leases
    group by workspace_id having count(*) > flying) u
  union all select 'two files under one key' from (select from transcriptions
    where status <> 'insufficient_balance' and error_code is distinct from 'UPLOAD_INCOMPLETE' and external_id is not null group by workspace_id, external_id having count(*) > 1) t
  union all select 'a stored response for a missing transcription' from idempotency_keys i where answer is not null
    and not exists (select from transcriptions t where t.id = i.transcription_id and t.status <> 'insufficient_balance')
  union all select 'still running after the third engine death' from transcriptions
    where deaths >= ${LEASE.engineDeaths} and status in ('queued', 'processing')
  union all select 'a report still running after the third engine death' from reports
    where deaths >= ${LEASE.engineDeaths} and status in ('queued', 'processing')
  union all select 'a report waiting for a failed transcription' from reports r join transcriptions t on t.id = r.transcription_id
    where r.status in ('queued', 'processing') and t.status in ('failed', 'insufficient_balance')
  union all select 'a report of an unfinished transcription' from reports r join transcriptions t on t.id = r.transcription_id
    where r.status in ('processing', 'completed') and t.status <> 'completed'
  union all select 'a report completed without text' from reports where status = 'completed' and text_sealed is null
  union all select 'more reports per day than the limit' from counters where name = 'reports' and count > made
  union all select 'more files per day than the limit' from counters where name = 'uploads' and count > sent
  union all select 'a terminal status not announced exactly once' from transcriptions t where (select count(*) from deliveries d
    where d.body ->> 'transcription_id' = t.id::text and d.event in ('transcription.completed', 'transcription.failed', 'transcription.insufficient_balance'))
    <> (t.status not in ('queued', 'processing'))::int
  union all select 'a terminal status announced incorrectly' from deliveries d join transcriptions t on t.id::text = d.body ->> 'transcription_id'
    where d.event like 'transcription.%' and d.event <> 'transcription.' || t.status
  union all select 'the end of a report not announced exactly once' from reports r where (select count(*) from deliveries d
    where d.body ->> 'report_id' = r.id::text and d.event = 'report.' || r.status) <> (r.status in ('completed', 'failed'))::int
  union all select 'a needed recording is missing' from transcriptions t
    where t.status in ('queued', 'processing') and (t.media_key_sealed is null or t.id <> all (files))
  union all select what from witness`;

/**
 * Invariants of each change, checked by triggers that identify the actor by its number: those of engines, clerks and clients are below
 * `sweepers`. `done` contains the token (or null) that a fenced row had when an actor ended or changed it.
 */
const WITNESS = (sweepers: number) => `
  create table witness (what text);
  create table done (who text, token text);
  create function who() returns int language sql stable as
    $$ select substring(current_setting('application_name') from '^stage-[0-9]+-([0-9]+)$')::int $$;
  create function do_with(token text) returns void language sql as
    $$ insert into public.done values (current_setting('application_name'), token) $$;
  create function witness() returns trigger language plpgsql security definer as $$
  declare
    freed boolean := old.lease_token is not null and new.lease_token is null;
    probed boolean := to_jsonb(new) -> 'probed_at' is distinct from to_jsonb(old) -> 'probed_at';
  begin
    if who() is null then return null; end if;
    if new.status = 'completed' and old.status not in ('processing', 'completed') then
      insert into witness values ('completed without a slot'); end if;
    if new.lease_token is distinct from old.lease_token and new.lease_token is not null then
      if new.attempt <> old.attempt + 1 then insert into witness values ('claimed without counting the attempt'); end if;
      if old.lease_token is not null then insert into witness values ('claimed while leased'); end if;
      if old.run_after > clock_timestamp() then insert into witness values ('claimed before it was due'); end if;
    end if;
    if who() >= ${sweepers} and freed then
      if new.deaths <> old.deaths + 1 then insert into witness values ('a death not counted'); end if;
    end if;
    if who() >= ${sweepers} and new.status = 'failed' and old.status <> 'failed' and new.deaths < ${LEASE.engineDeaths}
      and new.error_code <> 'TRANSCRIPTION_FAILED' then
      insert into witness values ('failed before the last permitted death'); end if;
    if who() < ${sweepers} then
      if new.deaths <> old.deaths then insert into witness values ('a death counted without a crash'); end if;
      if freed and new.status = old.status and new.run_after > clock_timestamp() + interval '2 seconds' then
        if new.attempt <> old.attempt then insert into witness values ('a failed attempt not counted'); end if;
        if tg_table_name = 'transcriptions' and old.attempt >= ${LEASE.attempts} then insert into witness values ('retried after the last attempt'); end if;
      end if;
      if freed and new.status = old.status and new.run_after <= clock_timestamp() and new.attempt <> greatest(0, old.attempt - 1) and not probed then
        insert into witness values ('a shutdown counted as a failure'); end if;
      if new.error_code = 'ENGINE_ERROR' and old.status <> 'failed' and old.attempt < ${LEASE.attempts} then
        insert into witness values ('failed before the last attempt'); end if;
    end if;
    if freed or probed or old.status <> new.status and (new.status = 'completed' or old.status = 'processing' and new.status <> 'queued'
        or tg_table_name = 'transcriptions' and new.status = 'failed')
      or new.lease_token is null and (old.attempt, old.run_after) is distinct from (new.attempt, new.run_after)
    then perform do_with(old.lease_token::text); end if;
    return null;
  end $$;
  create trigger witness after update on transcriptions for each row execute function witness();
  create trigger witness after update on reports for each row execute function witness();
  create function is_there(subject uuid) returns boolean language sql as -- false if retention has deleted it
    $$ select exists (select from public.transcriptions t where t.id = subject) or exists (select from public.reports r where r.id = subject)
         or exists (select from public.previews p where p.id = subject) $$;
  create function witness_signs() returns trigger language plpgsql security definer as $$
  begin
    if who() >= ${sweepers} and tg_op = 'DELETE' and old.until >= clock_timestamp() and is_there(old.subject) then insert into witness values ('an unexpired lease was swept'); end if;
    if who() < ${sweepers} and tg_op = 'UPDATE' and new.until <= old.until then
      insert into witness values ('a heartbeat that did not extend the lease'); end if;
    return null;
  end $$;
  create trigger witness after update or delete on leases for each row execute function witness_signs();
  create function witness_accepting() returns trigger language plpgsql security definer as $$
  begin
    if who() < ${sweepers} and new.status = 'queued'
      and not exists (select from done where who = new.id::text and token = pg_current_xact_id()::text) then
      insert into witness values ('accepted without a slot'); end if;
    return null;
  end $$;
  create constraint trigger witness_accepting after insert on transcriptions initially deferred for each row execute function witness_accepting();
  create function witness_saving() returns trigger language plpgsql security definer as $$
  begin
    perform do_with((select t.lease_token::text from transcriptions t where t.id = new.transcription_id));
    return new;
  end $$;
  create trigger witness before insert on checkpoints for each row execute function witness_saving();
  create function witness_sending() returns trigger language plpgsql security definer as $$
  begin
    if who() is null or who() >= ${sweepers} then return null; end if;
    if new.attempt = old.attempt then perform do_with(old.id || ' ' || old.attempt);
    elsif old.next_at > clock_timestamp() or old.status <> 'pending' then insert into witness values ('sent before it was due, or twice'); end if;
    return null;
  end $$;
  create trigger witness after update on deliveries for each row execute function witness_sending();
  create function witness_sweeping() returns trigger language plpgsql security definer as $$
  begin
    if who() >= ${sweepers} and old.lease_until > clock_timestamp() then insert into witness values ('an upload in progress was swept'); end if;
    insert into done values (old.id::text, pg_current_xact_id()::text); -- accepting a file releases its slot in the same transaction
    return null;
  end $$;
  create trigger witness after delete on upload_leases for each row execute function witness_sweeping();
  create function witness_forgetting() returns trigger language plpgsql security definer as $$
  begin
    if who() < ${sweepers} and old.answer is null then perform do_with(old.token::text); end if;
    if who() >= ${sweepers} and (old.answer is null and old.lease_until > clock_timestamp() or old.answer is not null and old.expires_at > clock_timestamp()
      and exists (select from transcriptions t where t.id = old.transcription_id)) then insert into witness values ('a key was deleted too early'); end if;
    return null;
  end $$;
  create trigger witness after delete on idempotency_keys for each row execute function witness_forgetting();
  grant select, delete on witness, done to public`;

/** Creates the triggers; `sweepers` is the number of the first sweeper among the actors. */
export function watch(db: Db, sweepers: number): Promise<unknown> {
  return db.acrossTenants(async (tx) => {
    await tx.rows('set local role none');
    await tx.rows(
      `create function broken(files uuid[], flying int, sent int, made int) returns setof text language plpgsql as $$ begin return query ${ALWAYS}; end $$`,
    ); // PL/pgSQL caches the plan
    for (const statement of WITNESS(sweepers).split(/;\n {2}(?=create|grant)/)) await tx.rows(statement);
  });
}

/** Invariants violated now, with these files in the spool. */
export async function broken(db: Db, files: Iterable<string>, limits: Limits): Promise<string[]> {
  const caps = [limits.UPLOADS_PER_WORKSPACE, limits.UPLOADS_PER_DAY, limits.REPORTS_PER_DAY];
  const rows = await db.query<{ broken: string }>('*', 'select broken from broken(?::uuid[], ?::int, ?::int, ?::int)', [
    [...files],
    ...caps,
  ]);
  return rows.map((row) => row.broken);
}

/** Whether a row not held under this token was ended or changed since the last call. */
export async function trespassed(db: Db, who: string, token: string): Promise<string | undefined> {
  const done = await db.query<{ token: string | null }>('*', 'delete from done where who = ? returning token', [who]);
  return done.some((one) => one.token !== token) ? 'done without holding the lease' : undefined;
}
