import { LEASE } from '../../api/contract/limits.ts';
import { jitteredBackOff, requeue } from '../../db/jobs/leases.ts';
import { claimReport, completeReport, failReport, loadSource, type ReportClaim } from '../../db/reports/work.ts';
import { NO_KEY } from '../../db/secrets/vault.ts';
import { ReportError, type ReportResult } from '../reports/writer.ts';
import { type Holding, Lost, Stopping } from '../tasks/holdings.ts';
import { insist } from '../tasks/insist.ts';
import type { Job } from '../tasks/slots.ts';
import type { Courier } from './courier.ts';

const KEY_PAUSE = 15; // seconds until a retry by a courier that lacks a master key

/** Claims the next report. */
export async function nextReport(courier: Courier): Promise<Job | null> {
  const claim = await claimReport(courier.db, courier.id);
  return claim && (() => work(courier, claim));
}

/** Writes one claimed report and settles it in every case. */
async function work(courier: Courier, claim: ReportClaim): Promise<void> {
  const holding = courier.holdings.take(claim.lease);
  try {
    const { text, dropped, tokens } = await compose(courier, claim, holding);
    holding.signal.throwIfAborted();
    if (!(await insist(() => completeReport(courier.db, courier.vault, claim, text, courier.writer.kind)))) throw new Lost();
    courier.log.info({ report: claim.lease.id, slug: claim.slug, dropped, tokens }, 'report done'); // numbers only
  } catch (error) {
    await settle(courier, claim, holding, error);
  } finally {
    holding.letGo();
  }
}

async function compose(courier: Courier, claim: ReportClaim, { signal }: Holding): Promise<ReportResult> {
  const { slug, name, prompt } = claim;
  if (claim.templateMissing) throw new ReportError('TEMPLATE_UNAVAILABLE', 'Cannot write the report: its template was deleted');
  const source = await loadSource(courier.db, courier.vault, claim);
  if (!source) throw new Lost();
  if (!source.turns.length) throw new ReportError('TRANSCRIPT_EMPTY', 'Cannot write the report: the transcript is empty');
  const { language, durationSeconds, turns } = source;
  return courier.writer.write({ slug, name, prompt }, { language, durationSeconds, segments: turns }, signal);
}

/** Settles a report that threw: temporary faults are retried later, others are final. */
async function settle(courier: Courier, claim: ReportClaim, { signal }: Holding, thrown: unknown): Promise<void> {
  const { db, log } = courier;
  const { lease, attempt } = claim;
  const error = signal.aborted ? signal.reason : thrown;
  const fields = { report: lease.id, slug: claim.slug, attempt };
  const back = (how: { seconds?: number; blameless?: boolean }) =>
    insist(() => db.workspace(lease.workspaceId, (tx) => requeue(tx, lease, how)));
  if (error instanceof Lost) return log.info(fields, 'report stopped: deleted or taken over');
  if (error instanceof Stopping) return void (await back({ blameless: true }));
  if (error?.code === NO_KEY) {
    log.error({ ...fields, error }, 'this courier cannot write the report; it will be retried');
    return void (await back({ seconds: KEY_PAUSE, blameless: true }));
  }
  const lasting = error instanceof ReportError && !error.retryable;
  if (!lasting && attempt < LEASE.attempts) {
    log.warn({ ...fields, ...about(error) }, 'report failed; it will be retried');
    return void (await back({ seconds: jitteredBackOff(attempt) }));
  }
  const code = error instanceof ReportError ? error.code : 'INTERNAL_ERROR';
  log.warn({ ...fields, ...about(error) }, 'report failed');
  await insist(() => failReport(db, claim, code));
}

/** For the log. A writer's message may quote the model, and the model the transcript, so only the code is logged. */
function about(error: unknown): object {
  return error instanceof ReportError ? { code: error.code } : { error };
}
