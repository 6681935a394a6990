import { requeue } from '../../db/jobs/leases.ts';
import { claimPreview, endPreview, type PreviewClaim } from '../../db/reports/previews.ts';
import { loadSource } from '../../db/reports/work.ts';
import { SAMPLE } from '../reports/sample.ts';
import { ReportError, type ReportTranscript } from '../reports/writer.ts';
import { type Holding, Lost, Stopping } from '../tasks/holdings.ts';
import { insist } from '../tasks/insist.ts';
import type { Job } from '../tasks/slots.ts';
import type { Courier } from './courier.ts';

/** Claims the next preview of a template. */
export async function nextPreview(courier: Courier): Promise<Job | null> {
  const claim = await claimPreview(courier.db, courier.id);
  return claim && (() => work(courier, claim));
}

/** Writes one preview. A person is waiting, so failures are reported at once instead of being retried. */
async function work(courier: Courier, claim: PreviewClaim): Promise<void> {
  const { db, vault, writer, log } = courier;
  const holding = courier.holdings.take(claim.lease);
  try {
    const { text } = await writer.write(claim, await talkOf(courier, claim), holding.signal);
    await insist(() => endPreview(db, vault, claim, { text, writer: writer.name }));
  } catch (thrown) {
    await settle(courier, claim, holding, thrown);
  } finally {
    holding.letGo();
  }
  log.debug({ preview: claim.lease.id }, 'preview done');
}

async function talkOf({ db, vault }: Courier, { lease, transcriptionId }: PreviewClaim): Promise<ReportTranscript> {
  if (transcriptionId === null) return SAMPLE;
  const source = await loadSource(db, vault, { lease, transcriptionId });
  if (!source) throw new Lost();
  const { language, durationSeconds, turns } = source;
  return { language, durationSeconds, segments: turns };
}

async function settle({ db, vault, log }: Courier, claim: PreviewClaim, { signal }: Holding, thrown: unknown): Promise<void> {
  const { lease } = claim;
  const error = signal.aborted ? signal.reason : thrown;
  if (error instanceof Lost) return;
  if (error instanceof Stopping) {
    await insist(() => db.workspace(lease.workspaceId, (tx) => requeue(tx, lease, { blameless: true })));
    return;
  }
  const code = error instanceof ReportError ? error.code : 'INTERNAL_ERROR';
  log.warn({ preview: lease.id, code, ...(code === 'INTERNAL_ERROR' && { error }) }, 'preview failed');
  await insist(() => endPreview(db, vault, claim, { code }));
}
