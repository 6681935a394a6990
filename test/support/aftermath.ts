import type { Test } from 'tap';
import type { EngineBench } from './engine.ts';
import { eventually } from './service.ts';

/** What must not be there when everything has ended. */
const LEFT = `
  select 'a completed transcription without exactly one charge of its length' as left from transcriptions t where status = 'completed'
    and not coalesce((select count(*) = 1 and abs(sum(minutes) * 60 + t.duration_seconds::numeric) < 0.01 from ledger l where l.transcription_id = t.id), false)
  union all select 'a charge for what is not completed' from ledger l join transcriptions t on t.id = l.transcription_id where t.status <> 'completed'
  union all select 'a balance that is not grants minus charges' from workspaces w
    where balance_minutes <> (select sum(minutes) from ledger l where l.workspace_id = w.id)
  union all select 'a reservation' from reservations
  union all select 'a checkpoint' from checkpoints
  union all select 'a lease of a transcription' from transcriptions where lease_token is not null
  union all select 'a completed transcription without its segments' from transcriptions t where status = 'completed'
    and not exists (select from segments s where s.transcription_id = t.id)
  union all select 'a report that waits' from reports where status in ('queued', 'processing')`;

/** What the dead may keep for a minute at most. */
const HELD = `
  select 'a transcription that waits' as held from transcriptions where status in ('queued', 'processing')
  union all select 'media' from transcriptions where media_key_sealed is not null
  union all select 'a place of an upload' from upload_leases where lease_until > clock_timestamp()
  union all select 'an idempotency key' from idempotency_keys where answer is null and lease_until > clock_timestamp()`;

/**
 * The dust settles while an engine runs: every transcription has ended and was charged once or not at all, no file is left in the spool or in
 * scratch, and keys, places, minutes and leases are free. Rejects when it is not so after `seconds`.
 */
export async function aftermath(t: Test, bench: EngineBench, seconds = 120): Promise<void> {
  const held = async () => (await bench.db.query<{ held: string }>('*', HELD)).map((row) => row.held);
  await eventually(async () => !(await held()).length, 'nothing held', seconds).catch(async ({ message }: Error) => {
    throw new Error(`${message}: ${await held()}`);
  });
  await eventually(async () => !(await bench.files()).length, 'no file in the spool or in scratch', seconds);
  t.strictSame(await bench.db.query('*', LEFT), [], 'nothing is left over');
}
