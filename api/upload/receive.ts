import type { SpoolWriter } from '../../db/spool/spool.ts';
import { accept, leavePlace, recordIncomplete, type Wish } from '../../db/uploads/accept.ts';
import { type Claim, keepAnswer, releaseKey } from '../../db/uploads/idempotency.ts';
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
export async function receive(context: Context, wish: Wish, claim: Claim | null): Promise<Uploaded> {
  const progress: Progress = { bytes: 0, committing: false };
  let writer: SpoolWriter | null = null;
  try {
    writer = await context.spool.create(wish.id, wish.extension);
    await readBody(context, wish, writer, progress);
    checkSize(progress.bytes, context.limits);
    const file = await writer.finish();
    progress.committing = true;
    return await commit(context, wish, claim, file);
  } catch (error) {
    const undone = error instanceof ApiError || !progress.committing; // else the commit may have come through: the sweeper decides
    if (undone) await writer?.abort();
    throw error;
  }
}

async function readBody(context: Context, wish: Wish, writer: SpoolWriter, progress: Progress): Promise<void> {
  const { db, vault, limits, request } = context;
  const ending = await request.body!.consume(
    async (chunk) => {
      progress.bytes += chunk.length;
      await writer.write(chunk);
    },
    { stallMs: limits.UPLOAD_STALL_S * 1000, totalMs: limits.UPLOAD_TOTAL_S * 1000 },
  );
  if (ending === 'complete') return;
  await db.workspace(wish.workspaceId, (tx) => recordIncomplete(tx, vault, wish, progress.bytes));
  throw new ApiError('upload_timeout');
}

/** One transaction: the row, its reports, its job, the answer of the idempotency key. */
async function commit(context: Context, wish: Wish, claim: Claim | null, file: { bytes: number; key: Buffer }): Promise<Uploaded> {
  const { db, vault } = context;
  const size = { key: file.key, bytes: file.bytes };
  return db.workspace(wish.workspaceId, async (tx) => {
    const reports = await accept(tx, vault, wish, size);
    const answer: Uploaded = { uuid: wish.id, status: 'queued', reports: reports.map(({ id, slug, status }) => ({ id, slug, status })) };
    if (claim && !(await keepAnswer(tx, claim, answer))) throw new ApiError('idempotency_conflict', { retryAfterSeconds: 5 });
    return answer;
  });
}

/** Gives place and key back after a failure. A key whose answer was committed stays. */
export async function giveBack({ db }: Context, wish: Wish, claim: Claim | null): Promise<void> {
  await db.workspace(wish.workspaceId, async (tx) => {
    await leavePlace(tx, wish);
    if (claim) await releaseKey(tx, claim);
  });
}
