import { setTimeout as sleep } from 'node:timers/promises';
import {
  answerLayer,
  claimLayer,
  type LayerRequest,
  type LayerSource,
  layerWanted,
  requeueLayer,
  type WrittenLayer,
} from '../../db/reports/layers.ts';
import { ReportError } from '../reports/writer.ts';
import { insist } from '../tasks/insist.ts';
import type { Job } from '../tasks/slots.ts';
import type { Courier } from './courier.ts';

const LIMIT_MS = 120_000; // as long as the engine waits
const LOOK_MS = 1000; // between checks whether the engine still waits

/** Claims the next request for title, summary, topics and names. When `stopping` aborts, it is left to another courier. */
export async function nextLayer(courier: Courier, stopping: AbortSignal): Promise<Job | null> {
  const claim = await claimLayer(courier.db, courier.vault);
  return claim && (() => work(courier, claim, stopping));
}

/** Writes one layer. An engine is waiting, so failures are reported at once instead of being retried. */
async function work(courier: Courier, claim: LayerRequest & { source: LayerSource }, stopping: AbortSignal): Promise<void> {
  const { db, vault, log } = courier;
  const layer = await write(courier, claim, stopping).catch((error: unknown) => {
    if (stopping.aborted) return 'unwritten';
    const code = error instanceof ReportError ? error.code : (error as Error).name; // the message may quote the transcript
    log.warn({ code, transcription: claim.id }, 'title, summary and topics could not be written');
    return null;
  });
  await insist(async () => {
    if (layer === 'unwritten') await requeueLayer(db, claim);
    else await answerLayer(db, vault, claim, layer);
  });
}

/** Stops when the engine no longer waits, and when the courier stops: aborts the call of the language model. */
async function write(
  { db, writer }: Courier,
  { source, ...request }: LayerRequest & { source: LayerSource },
  stopping: AbortSignal,
): Promise<WrittenLayer> {
  const unwanted = new AbortController();
  const done = new AbortController();
  const watch = async () => {
    for (;;) {
      await sleep(LOOK_MS, undefined, { signal: done.signal });
      if (!(await layerWanted(db, request).catch(() => true))) return unwanted.abort(new Error('the engine no longer waits for it'));
    }
  };
  watch().catch(() => {}); // already settled
  try {
    const layer = await writer.describe(source, AbortSignal.any([unwanted.signal, stopping, AbortSignal.timeout(LIMIT_MS)]));
    return { ...layer, writer: writer.kind };
  } finally {
    done.abort();
  }
}
