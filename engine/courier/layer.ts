import { setTimeout as sleep } from 'node:timers/promises';
import { answerLayer, claimLayer, type LayerRequest, type LayerSource, layerWanted, type WrittenLayer } from '../../db/reports/layers.ts';
import { ReportError } from '../reports/writer.ts';
import { insist } from '../tasks/insist.ts';
import type { Job } from '../tasks/slots.ts';
import type { Courier } from './courier.ts';

const LIMIT_MS = 120_000; // as long as the engine waits
const LOOK_MS = 1000; // between checks whether the engine still waits

/** Claims the next request for title, summary, topics and names. */
export async function nextLayer(courier: Courier): Promise<Job | null> {
  const claim = await claimLayer(courier.db, courier.vault);
  return claim && (() => work(courier, claim));
}

/** Writes one layer. An engine is waiting, so failures are reported at once instead of being retried. */
async function work(courier: Courier, claim: LayerRequest & { source: LayerSource }): Promise<void> {
  const { db, vault, log } = courier;
  const layer = await write(courier, claim).catch((error: unknown) => {
    const code = error instanceof ReportError ? error.code : (error as Error).name; // the message may quote the transcript
    log.warn({ code, transcription: claim.id }, 'title, summary and topics could not be written');
    return null;
  });
  await insist(() => answerLayer(db, vault, claim, layer));
}

/** Stops when the engine no longer waits: aborts the call of the language model. */
async function write({ db, writer }: Courier, { source, ...request }: LayerRequest & { source: LayerSource }): Promise<WrittenLayer> {
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
    const layer = await writer.describe(source, AbortSignal.any([unwanted.signal, AbortSignal.timeout(LIMIT_MS)]));
    return { ...layer, writer: writer.kind };
  } finally {
    done.abort();
  }
}
