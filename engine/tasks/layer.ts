import { setTimeout as sleep } from 'node:timers/promises';
import type { ClaimedTranscription } from '../../db/jobs/claim.ts';
import { courierLives } from '../../db/jobs/engines.ts';
import { type LayerRequest, type LayerSource, readLayer, requestLayer, type WrittenLayer, withdrawLayer } from '../../db/reports/layers.ts';
import type { Transcript } from '../types.ts';
import type { Engine } from './engine.ts';
import type { Holding } from './holdings.ts';
import type { Layer } from './sealed.ts';

const LIMIT_MS = 120_000;
const ALONE_MS = 20_000; // without any courier; a restart takes less
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

/**
 * Title, summary, topics and speaker names, if requested. A courier writes them, because a language model may be needed and the engine has
 * no outgoing network access. Null if not requested, if there is no text, or on failure, which never fails the transcription.
 */
export async function describe(
  engine: Engine,
  claim: ClaimedTranscription,
  transcript: Transcript,
  holding: Holding,
): Promise<Layer | null> {
  if (!claim.aiMetadata || !transcript.segments.length) return null;
  const { db, vault, log } = engine;
  let request: LayerRequest | null = null;
  try {
    request = await requestLayer(db, vault, claim.lease, sourceOf(transcript));
    const written = await answered(engine, request, holding.signal);
    if (typeof written === 'object') return layerOf(written);
    log.warn({ reason: written, transcription: claim.lease.id }, 'title, summary and topics could not be written');
  } catch (error) {
    holding.signal.throwIfAborted();
    log.warn({ error, transcription: claim.lease.id }, 'title, summary and topics could not be requested');
  } finally {
    if (request) await withdrawLayer(db, request).catch(() => {}); // the sweep removes it later
  }
  return null;
}

/** The answer, or the reason why there is none. Throws the signal's reason. */
async function answered({ db, vault }: Engine, request: LayerRequest, signal: AbortSignal): Promise<WrittenLayer | string> {
  const began = performance.now();
  let attended = began; // when a courier was last seen
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
    await sleep(pause, undefined, { signal });
    const found = await readLayer(db, vault, request);
    if (found === null) return 'the request is gone';
    if (found === 'failed') return 'the courier could not write it; see its log';
    if (typeof found === 'object') return found;
    const now = performance.now();
    if (now - began > LIMIT_MS) return `no answer within ${LIMIT_MS / 1000} s`;
    if (found === 'queued' && now - attended < ALONE_MS) continue;
    if (found === 'queued' && !(await courierLives(db))) return 'no courier is running: start longhand courier';
    attended = now;
  }
}

function sourceOf({ language, durationSeconds, segments }: Transcript): LayerSource {
  const label = (speaker: number | null) => `Speaker ${(speaker ?? 0) + 1}`;
  return {
    ...{ language, durationSeconds },
    segments: segments.map(({ id, start, end, speaker, text }) => ({ id, start, end, speaker: label(speaker), text })),
  };
}

function layerOf({ title, summary, writer, topics, speakerNames }: WrittenLayer): Layer {
  const named = speakerNames.map(({ speaker, name }) => [Number(speaker.replace(/\D/g, '')) - 1, name] as const);
  return { title, summary, writer, topics, names: new Map(named) };
}
