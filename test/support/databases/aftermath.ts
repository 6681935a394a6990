import type { Test } from 'tap';
import type { EngineBench } from '../engine/engine.ts';
import { eventually } from '../processes/service.ts';

/** Leftovers that must not exist after all work has ended. */
const LEFT = `
  select 'a completed transcription without exactly one charge for its duration' as left from transcriptions t where status = 'completed'
    and not coalesce((select count(*) = 1 and abs(sum(minutes) * 60 + t.duration_seconds::numeric) < 0.01 from ledger l where l.transcription_id = t.id), false)
  union all select 'a charge for an uncompleted transcription' from ledger l join transcriptions t on t.id = l.transcription_id where t.status <> 'completed'
  union all select 'a balance other than grants minus charges' from workspaces w
    where balance_minutes <> (select sum(minutes) from ledger l where l.workspace_id = w.id)
  union all select 'a reservation' from reservations
  union all select 'a checkpoint' from checkpoints
  union all select 'a lease of a transcription' from transcriptions where lease_token is not null
  union all select 'a completed transcription without segments' from transcriptions t where status = 'completed'
    and not exists (select from segments s where s.transcription_id = t.id)
  union all select 'an unfinished report' from reports where status in ('queued', 'processing')`;

/** Resources that killed processes may hold for up to 60 s. */
const HELD = `
  select 'an unfinished transcription' as held from transcriptions where status in ('queued', 'processing')
  union all select 'media' from transcriptions where media_key_sealed is not null
  union all select 'an upload slot' from upload_leases where lease_until > clock_timestamp()
  union all select 'an idempotency key' from idempotency_keys where answer is null and lease_until > clock_timestamp()`;

/**
 * Waits, while an engine runs, until every transcription has ended, and checks that each was charged at most once, that no file is left in the
 * spool or scratch folders, and that keys, slots, minutes and leases are released. Rejects after `seconds`.
 */
export async function aftermath(t: Test, bench: EngineBench, seconds = 120): Promise<void> {
  await released(bench, seconds);
  t.strictSame(await leftovers(bench), [], 'no leftovers');
}

/** Descriptions of leftovers that must not exist after all work has ended. */
export async function leftovers({ db }: Pick<EngineBench, 'db'>): Promise<string[]> {
  return (await db.query<{ left: string }>('*', LEFT)).map(({ left }) => left);
}

/** Waits until every transcription has ended and resources and files are released. Rejects after `seconds`, and says what is held. */
export async function released(bench: EngineBench, seconds: number): Promise<void> {
  const held = async () => (await bench.db.query<{ held: string }>('*', HELD)).map((row) => row.held);
  await eventually(async () => !(await held()).length, 'the release of all resources', seconds).catch(async ({ message }: Error) => {
    throw new Error(`${message}: ${await held()}`);
  });
  await eventually(async () => !(await bench.files()).length, 'the removal of all files in the spool and scratch folders', seconds);
}
