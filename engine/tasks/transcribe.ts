import { storedLanguage } from '../../api/contract/languages.ts';
import { checkpointsOf } from '../../db/jobs/checkpoints.ts';
import { type ClaimedTranscription, claimNext, SHORT_SECONDS } from '../../db/jobs/claim.ts';
import { complete, raise } from '../../db/jobs/complete.ts';
import { transcribe } from '../transcribe.ts';
import type { Checkpoints, HeardStretch, Options, Transcript } from '../types.ts';
import type { Engine } from './engine.ts';
import { note, noteForeign } from './heard.ts';
import { type Holding, Lost } from './holdings.ts';
import { insist } from './insist.ts';
import { describe } from './layer.ts';
import { openMedia, removeMedia } from './media.ts';
import { settle } from './probe.ts';
import { sealed } from './sealed.ts';
import type { Job } from './slots.ts';

const STUCK_MS = 20 * 60_000; // without a finished unit of work
const WORTH_TELLING = 1; // seconds of speech without words above which a line is logged
const TOLERANCE = 0.5; // seconds of audio beyond the reservation that are settled at the end

/** Number of recordings that one engine processes concurrently, and of long ones among them. */
export interface Lanes {
  capacity: number;
  long: number;
}

/** Claims the next recording. One slot is reserved for short ones. */
export async function nextTranscription(engine: Engine, lanes: Lanes): Promise<Job | null> {
  if (!(await engine.trouble.over())) return null;
  for (;;) {
    const shortOnly = lanes.long >= Math.max(1, lanes.capacity - 1);
    const taken = await claimNext(engine.db, { engineId: engine.id, shortOnly });
    if (!taken) return null;
    if (!('refused' in taken)) return () => inLane(engine, taken, lanes);
    engine.log.info({ transcription: taken.refused.id }, 'ended: insufficient balance');
    await removeMedia(engine, taken.refused);
  }
}

async function inLane(engine: Engine, claim: ClaimedTranscription, lanes: Lanes): Promise<void> {
  const long = (claim.durationSeconds ?? 0) > SHORT_SECONDS ? 1 : 0;
  lanes.long += long;
  try {
    await work(engine, claim);
  } finally {
    lanes.long -= long;
  }
}

/** Transcribes one claimed recording, and settles it in every case. */
async function work(engine: Engine, claim: ClaimedTranscription): Promise<void> {
  const { lease } = claim;
  const holding = engine.holdings.take(lease);
  const watch = watchdog(holding);
  const started = performance.now();
  try {
    const transcript = await listen(engine, claim, holding);
    const result = await sealed(engine.vault, claim, transcript, await describe(engine, claim, transcript, holding));
    holding.signal.throwIfAborted();
    const outcome = await insist(() => complete(engine.db, lease, result, engine.options.keepDays));
    if (outcome === 'lost') throw new Lost();
    const seconds = (performance.now() - started) / 1000;
    engine.log.info({ transcription: lease.id, outcome, audioSeconds: transcript.durationSeconds, seconds }, 'done');
    engine.counts.finished++;
    if (outcome !== 'kept') await removeMedia(engine, { ...lease, extension: claim.extension });
  } catch (error) {
    await settle(engine, claim, holding, error);
  } finally {
    clearInterval(watch);
    holding.letGo();
  }
}

/** Runs the pipeline on a decrypted copy of the recording, which is removed afterwards. */
async function listen(engine: Engine, claim: ClaimedTranscription, holding: Holding): Promise<Transcript> {
  const media = await openMedia(engine, claim, holding.signal);
  try {
    const run = {
      signal: holding.signal,
      progress: holding.progress,
      checkpoints: forgiving(engine, checkpointsOf(engine.db, engine.vault, claim.lease)),
      heard: (stretches: readonly HeardStretch[]) => note(engine, claim.lease.id, stretches),
      decoded: (seconds: number) => void cover(engine, claim, holding, seconds).catch(holding.abort),
    };
    const limits = { maxSeconds: engine.limits.MAX_DURATION_S, scratch: engine.scratch.folder, probed: media.probed };
    const transcript = await transcribe(media.path, await options(engine, claim), run, engine.pool, limits);
    if (transcript.diarizationError) {
      engine.counts.failedDiarizations++;
      engine.log.warn({ transcription: claim.lease.id, reason: transcript.diarizationError }, 'diarization failed; the text is kept');
    }
    noteForeign(engine, claim.lease.id, claim.language);
    const { uncoveredSeconds } = transcript;
    if (uncoveredSeconds >= WORTH_TELLING)
      engine.log.warn({ transcription: claim.lease.id, uncoveredSeconds }, 'speech without recognized words');
    engine.counts.uncoveredSeconds += uncoveredSeconds;
    return { ...transcript, language: transcript.language && storedLanguage(transcript.language) };
  } finally {
    await media.close();
  }
}

async function options(engine: Engine, claim: ClaimedTranscription): Promise<Options> {
  const { language, diarize, speakers } = claim;
  const vocabulary = await vocabularyOf(engine, claim);
  return { language, diarize, speakers: diarize ? speakers : null, vocabulary, accurate: engine.options.accurate };
}

/** Names and terms, those of the recording first, because the ASR model accepts a limited number. */
async function vocabularyOf({ vault }: Engine, { lease, ownVocabularySealed, vocabularySealed }: ClaimedTranscription): Promise<string> {
  const { workspaceId, id } = lease;
  const own = await vault.text(workspaceId, `transcriptions|${id}|vocabulary`, ownVocabularySealed);
  const shared = await vault.text(workspaceId, `workspaces|${workspaceId}|vocabulary`, vocabularySealed);
  return [own, shared].filter(Boolean).join(', ');
}

/** Reserves minutes for audio beyond the probed length; if they do not suffice the work ends here. */
async function cover(engine: Engine, claim: ClaimedTranscription, holding: Holding, seconds: number): Promise<void> {
  if (seconds <= (claim.durationSeconds ?? 0) + TOLERANCE) return;
  const outcome = await insist(() => raise(engine.db, claim.lease, seconds));
  if (outcome === 'reserved') return;
  holding.abort(new Lost());
  if (outcome === 'insufficient_balance') await removeMedia(engine, { ...claim.lease, extension: claim.extension });
}

/** Makes checkpoint failures harmless: they cost time later but never fail the work. */
function forgiving(engine: Engine, store: Checkpoints): Checkpoints {
  const note = (error: unknown) => engine.log.warn({ error }, 'a checkpoint could not be stored or read');
  return {
    load: () =>
      store.load().catch((error) => {
        note(error);
        return new Map<string, Uint8Array>();
      }),
    save: (key, bytes) => store.save(key, bytes).catch(note),
  };
}

function watchdog(holding: Holding): NodeJS.Timeout {
  return setInterval(() => abortIfStuck(holding), 60_000).unref();
}

/** Aborts work that has finished nothing for 20 minutes: a decoder or model that hangs must not occupy its slot for ever. */
export function abortIfStuck(holding: Pick<Holding, 'idleMs' | 'abort'>): void {
  if (holding.idleMs > STUCK_MS) holding.abort(new Error(`no progress for ${STUCK_MS / 60_000} minutes`));
}
