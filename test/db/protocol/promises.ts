/* What must hold in the simulation of uploads, leases and charges. */
import { LEASE } from '../../../api/contract/limits.ts';
import type { Lease } from '../../../db/leases.ts';
import type { Db } from '../../../db/orm.ts';

export const UPLOADS = 2; // in flight per workspace

/** Whenever nobody is in the midst of a commit, to whoever looks. */
const ALWAYS = `
  select 'more at work than the workspace may' as broken from workspaces w
    where (select count(*) from transcriptions t where t.workspace_id = w.id and t.status = 'processing') > w.concurrency
  union all select 'more reserved than there is' from workspaces w
    where coalesce((select sum(minutes) from reservations r where r.workspace_id = w.id), 0) > w.balance_minutes
  union all select 'a balance below zero' from workspaces where balance_minutes < 0
  union all select 'a balance that is not grants minus charges' from workspaces w
    where balance_minutes <> (select sum(minutes) from ledger l where l.workspace_id = w.id)
  union all select 'charged twice' from (select from ledger where transcription_id is not null group by transcription_id having count(*) > 1) l
  union all select 'completed without its charge' from transcriptions t
    where status = 'completed' and not exists (select from ledger l where l.transcription_id = t.id and l.minutes < 0)
  union all select 'charged without being completed' from transcriptions t
    where status <> 'completed' and exists (select from ledger l where l.transcription_id = t.id)
  union all select 'a reservation of what is not at work' from reservations r
    left join transcriptions t on t.id = r.transcription_id where t.status is distinct from 'processing'
  union all select 'at work without a reservation' from transcriptions t
    where status = 'processing' and not exists (select from reservations r where r.transcription_id = t.id)
  union all select 'a lease on what is over' from transcriptions where lease_token is not null and status not in ('queued', 'processing')
  union all select 'a charge that is not that of its length' from transcriptions t join ledger l on l.transcription_id = t.id
    where abs(l.minutes * 60 + t.duration_seconds::numeric) > 0.001
  union all select 'completed without its segments' from transcriptions t
    where status = 'completed' and not exists (select from segments s where s.transcription_id = t.id)
  union all select 'more uploads in flight than the workspace may' from (select from upload_leases where lease_until > clock_timestamp()
    group by workspace_id having count(*) > ${UPLOADS}) u
  union all select 'two files under one key' from (select from transcriptions where status <> 'insufficient_balance'
    group by workspace_id, external_id having count(*) > 1) t
  union all select 'an answer for a file that is not there' from idempotency_keys i where answer is not null
    and not exists (select from transcriptions t where t.id = i.transcription_id and t.status <> 'insufficient_balance')
  union all select 'three engines died of it, and it goes on' from transcriptions
    where deaths >= ${LEASE.engineDeaths} and status in ('queued', 'processing')
  union all select 'a report that waits for what has failed' from reports r join transcriptions t on t.id = r.transcription_id
    where r.status in ('queued', 'processing') and t.status in ('failed', 'insufficient_balance')
  union all select 'a report of what is not transcribed' from reports r join transcriptions t on t.id = r.transcription_id
    where r.status in ('processing', 'completed') and t.status <> 'completed'
  union all select 'a report completed without a text' from reports where status = 'completed' and text_sealed is null
  union all select what from witness`;

/**
 * What must hold of each change, noted by a trigger that sees who makes it. A stage numbers its actors: engines below `writer`, then the writer of
 * reports, clients, and the sweeper at the end.
 */
const WITNESS = (sweeper: number) => `
  create table witness (what text);
  create table ended (who text, token uuid);
  create function witness() returns trigger language plpgsql security definer as $$
  declare
    who int := substring(current_setting('application_name') from '^stage-[0-9]+-([0-9]+)$');
    freed boolean := old.lease_token is not null and new.lease_token is null;
  begin
    if who is null then return null; end if;
    if new.status = 'completed' and old.status not in ('processing', 'completed') then
      insert into witness values ('completed without having had a slot'); end if;
    if new.lease_token is distinct from old.lease_token and new.lease_token is not null then
      if new.attempt <> old.attempt + 1 then insert into witness values ('taken without counting the try'); end if;
      if old.lease_token is not null then insert into witness values ('taken from one who holds it'); end if;
    end if;
    if who = ${sweeper} and freed then
      if old.lease_until >= clock_timestamp() then insert into witness values ('the living were taken for dead'); end if;
      if new.deaths <> old.deaths + 1 then insert into witness values ('a death that is not counted'); end if;
    end if;
    if who < ${sweeper} then
      if old.lease_token = new.lease_token and new.lease_until <= old.lease_until and new.status = old.status then
        insert into witness values ('a sign of life that does not prolong the lease'); end if;
      if new.deaths <> old.deaths then insert into witness values ('a death that nobody died'); end if;
      if freed and new.status = old.status and new.run_after > clock_timestamp() + interval '2 seconds' then
        if new.attempt <> old.attempt then insert into witness values ('a failed try that does not count'); end if;
        if old.attempt >= ${LEASE.attempts} then insert into witness values ('tried again after the last try'); end if;
      end if;
      if freed and new.status = old.status and new.run_after <= clock_timestamp() and new.attempt <> greatest(0, old.attempt - 1)
        and to_jsonb(new) -> 'probed_at' is not distinct from to_jsonb(old) -> 'probed_at' then
        insert into witness values ('a stop that counts as a failure'); end if;
      if new.error_code = 'ENGINE_ERROR' and old.status <> 'failed' and old.attempt < ${LEASE.attempts} then
        insert into witness values ('given up before the last try'); end if;
    end if;
    if freed or old.status <> new.status and (new.status = 'completed' or tg_table_name = 'transcriptions' and new.status = 'failed') then
      insert into ended values (current_setting('application_name'), old.lease_token); end if;
    return null;
  end $$;
  create trigger witness after update on transcriptions for each row execute function witness();
  create trigger witness after update on reports for each row execute function witness();
  grant select, delete on witness, ended to public`;

/** Sets the witness up; `sweeper` is its number among the actors. */
export function watch(db: Db, sweeper: number): Promise<unknown> {
  return db.system(async (tx) => {
    await tx.rows('set local role none');
    await tx.rows(`create function broken() returns setof text language plpgsql as $$ begin return query ${ALWAYS}; end $$`); // keeps its plan
    for (const statement of WITNESS(sweeper).split(/;\n {2}(?=create|grant)/)) await tx.rows(statement);
  });
}

/** What does not hold now. */
export async function broken(db: Db): Promise<string[]> {
  return (await db.read<{ broken: string }>('*', 'select broken from broken()')).map((row) => row.broken);
}

/** Whether this actor, since it was asked last, has ended or given up what it did not hold under its lease. */
export async function trespassed(db: Db, { token }: Lease): Promise<string | undefined> {
  const ended = await db.read<{ token: string | null }>(
    '*',
    `delete from ended where who = current_setting('application_name') returning token`,
  );
  return ended.some((one) => one.token !== token) ? 'ended by one who does not hold it' : undefined;
}
