import { randomUUID } from 'node:crypto';
import { beat, takeSlot, type UploadRequest } from '../../db/uploads/accept.ts';
import { claimKey, type IdempotencyClaim } from '../../db/uploads/idempotency.ts';
import { ApiError } from '../contract/errors.ts';
import { LEASE } from '../contract/limits.ts';
import type { Uploaded } from '../contract/transcription.ts';
import { type Context, json, type Reply, type Services } from '../http/route.ts';
import { checkHead, readIdempotencyKey } from './checks.ts';
import { receive, releaseUpload } from './receive.ts';

const CONFLICT_SECONDS = 5;

/** POST /transcriptions: every check in the published order, then the body. */
export async function upload(context: Context): Promise<Reply> {
  const upload = await checkHead(context);
  const claim = await claimed(context, upload);
  if (claim && 'answer' in claim) return replay(claim.answer);
  return withSlot(context, upload, claim, async () => json(201, await receive(context, upload, claim)));
}

/** Runs `work` with an upload slot, whose lease is renewed meanwhile. Releases slot and key if it fails. */
export async function withSlot<T>(
  context: Context,
  upload: UploadRequest,
  claim: IdempotencyClaim | null,
  work: () => Promise<T>,
): Promise<T> {
  context.uploadsInFlight.add(upload.id);
  context.metrics.uploads.inc();
  try {
    await context.db.workspace(upload.actor.workspaceId, (tx) =>
      takeSlot(tx, upload, context.nodeId, context.limits, context.clock.latest()),
    );
    return await work();
  } catch (error) {
    await releaseUpload(context, upload, claim).catch((failure: unknown) =>
      context.log.warn({ request: context.request.id, error: failure }, 'cannot release an upload lease; it expires within a minute'),
    );
    throw error;
  } finally {
    context.uploadsInFlight.delete(upload.id);
    context.metrics.uploads.dec();
  }
}

/** Claims the Idempotency-Key, if there is one. Throws 409 while another attempt holds it. */
async function claimed(
  { db, clock, request, caller, nodeId }: Context,
  upload: UploadRequest,
): Promise<IdempotencyClaim | { answer: Uploaded } | null> {
  const key = readIdempotencyKey(request);
  if (key === null) return null;
  const claim: IdempotencyClaim = { workspaceId: caller.workspaceId, key, token: randomUUID() };
  const result = await db.workspace(caller.workspaceId, (tx) => claimKey(tx, claim, upload.id, nodeId, clock.latest()));
  if (result.state === 'done') return { answer: result.answer };
  if (result.state === 'busy') throw new ApiError('idempotency_conflict', { retryAfterSeconds: CONFLICT_SECONDS });
  return claim;
}

/** The body of the original 201 in its field order, which jsonb does not preserve. */
function replay({ uuid, status, reports }: Uploaded): Reply {
  const body: Uploaded = { uuid, status, reports: reports.map((report) => ({ id: report.id, slug: report.slug, status: report.status })) };
  return json(200, body, { 'idempotency-replayed': 'true' });
}

/** Renews the leases of uploads in progress in this process. Call the result to stop. */
export function keepAlive({ db, nodeId, uploadsInFlight, log }: Services): () => void {
  const timer = setInterval(() => {
    if (!uploadsInFlight.size) return;
    beat(db, nodeId, [...uploadsInFlight]).catch((error: unknown) => log.warn({ error }, 'cannot renew upload leases'));
  }, LEASE.heartbeatSeconds * 1000);
  return () => clearInterval(timer);
}
