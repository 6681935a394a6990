import type { SpoolWriter } from '../../db/spool/spool.ts';
import { accept, leavePlace, recordIncomplete, type UploadRequest } from '../../db/uploads/accept.ts';
import { type IdempotencyClaim, keepAnswer, releaseKey } from '../../db/uploads/idempotency.ts';
import { ApiError } from '../contract/errors.ts';
import type { Uploaded } from '../contract/transcription.ts';
import type { Context } from '../http/route.ts';
import { checkSize } from './checks.ts';

/** How far an upload has come, for whoever cleans up. */
interface Progress {
  bytes: number;
  /** From here on only the database knows whether the file was accepted. */
  committing: boolean;
}

/**
 * Takes the body of an upload whose checks have passed and whose place and key are held: streams it sealed to the spool, and answers once the
 * file is durable and its row and job are committed. A body that ends too early leaves a failed record; every other failure leaves nothing.
 * Place and key are given back in any case.
 */
export async function receive(context: Context, upload: UploadRequest, claim: IdempotencyClaim | null): Promise<Uploaded> {
  const progress: Progress = { bytes: 0, committing: false };
  let writer: SpoolWriter | null = null;
  try {
    writer = await context.spool.create(upload.id, upload.extension);
    await readBody(context, upload, writer, progress);
    checkSize(progress.bytes, context.limits);
    const file = await writer.finish();
    progress.committing = true;
    return await commit(context, upload, claim, file);
  } catch (error) {
    const undone = error instanceof ApiError || !progress.committing; // else the commit may have come through: the sweeper decides
    if (undone) await writer?.abort();
    throw error;
  }
}

async function readBody(context: Context, upload: UploadRequest, writer: SpoolWriter, progress: Progress): Promise<void> {
  const { db, vault, limits, request } = context;
  const ending = await request.body!.consume(
    async (chunk) => {
      progress.bytes += chunk.length;
      await writer.write(chunk);
    },
    { stallMs: limits.UPLOAD_STALL_S * 1000, totalMs: limits.UPLOAD_TOTAL_S * 1000 },
  );
  if (ending === 'complete') return;
  await db.workspace(upload.actor.workspaceId, (tx) => recordIncomplete(tx, vault, upload, progress.bytes));
  throw new ApiError('upload_timeout');
}

/** One transaction: the row, its reports, its job, the answer of the idempotency key. */
export async function commit(
  context: Context,
  upload: UploadRequest,
  claim: IdempotencyClaim | null,
  file: { bytes: number; key: Buffer },
): Promise<Uploaded> {
  const { db, vault } = context;
  const size = { key: file.key, bytes: file.bytes };
  return db.workspace(upload.actor.workspaceId, async (tx) => {
    const reports = await accept(tx, vault, upload, size);
    const answer: Uploaded = { uuid: upload.id, status: 'queued', reports: reports.map(({ id, slug, status }) => ({ id, slug, status })) };
    if (claim && !(await keepAnswer(tx, claim, answer))) throw new ApiError('idempotency_conflict', { retryAfterSeconds: 5 });
    return answer;
  });
}

/** Gives place and key back after a failure. A key whose answer was committed stays. */
export async function giveBack({ db }: Context, upload: UploadRequest, claim: IdempotencyClaim | null): Promise<void> {
  await db.workspace(upload.actor.workspaceId, async (tx) => {
    await leavePlace(tx, upload);
    if (claim) await releaseKey(tx, claim);
  });
}
