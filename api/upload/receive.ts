import type { SpoolWriter } from '../../db/spool/spool.ts';
import { accept, giveUpSlot, recordIncomplete, type UploadRequest } from '../../db/uploads/accept.ts';
import { type IdempotencyClaim, keepAnswer, releaseKey } from '../../db/uploads/idempotency.ts';
import { ApiError } from '../contract/errors.ts';
import type { Uploaded } from '../contract/transcription.ts';
import type { Context } from '../http/route.ts';
import { checkSize } from './checks.ts';

/** Progress of an upload, for cleaning up. */
interface Progress {
  bytes: number;
  /** Once true, only the database knows whether the file was accepted. */
  committing: boolean;
}

/**
 * Receives the body of an upload whose checks have passed and whose slot and idempotency key are held: streams it encrypted to the spool,
 * and responds once the file is durable and its row and job are committed. A body that ends early leaves a failed record; any other failure
 * leaves nothing. Slot and key are released in every case.
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
    const undone = error instanceof ApiError || !progress.committing; // otherwise the commit may have succeeded: the sweeper decides
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

/** One transaction: the row, its reports, its job, the idempotency key's response. */
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

/** Releases slot and key after a failure. A key with a committed response is kept. */
export async function releaseUpload({ db }: Context, upload: UploadRequest, claim: IdempotencyClaim | null): Promise<void> {
  await db.workspace(upload.actor.workspaceId, async (tx) => {
    await giveUpSlot(tx, upload);
    if (claim) await releaseKey(tx, claim);
  });
}
