import type { TranscriptionErrorCode } from '../../api/contract/errors.ts';
import { LEASE } from '../../api/contract/limits.ts';
import { type ClaimedTranscription, claimProbe, probed } from '../../db/jobs/claim.ts';
import { fail } from '../../db/jobs/complete.ts';
import { backOff, requeue } from '../../db/jobs/leases.ts';
import { decode, probe } from '../audio/decode.ts';
import { MediaError, SAMPLE_RATE } from '../types.ts';
import type { Engine } from './engine.ts';
import { hostFault } from './faults.ts';
import { type Holding, Lost, Stopping } from './holdings.ts';
import { insist } from './insist.ts';
import { keepMedia, openMedia, removeMedia } from './media.ts';
import type { Job } from './slots.ts';

const SHORTEST = 1; // seconds
const HOST_PAUSE = 15; // seconds until a retry after a host fault
const HOST_PATIENCE = 24 * 3600; // seconds after the first host fault during which these do not count as attempts: time to free disk space

/** Claims the next recording that has not been probed. Calls `onProbed` when one is ready for transcription. */
export async function nextProbe(engine: Engine, onProbed: () => void): Promise<Job | null> {
  if (!(await engine.trouble.over())) return null;
  const claim = await claimProbe(engine.db, engine.id);
  return claim && (() => look(engine, claim, onProbed));
}

/** Probes a recording, without using a slot: its duration and kind, or why it cannot be transcribed. */
async function look(engine: Engine, claim: ClaimedTranscription, onProbed: () => void): Promise<void> {
  const holding = engine.holdings.take(claim.lease);
  try {
    const media = await openMedia(engine, claim, holding.signal);
    try {
      const found = await measure(media.path, engine.limits.MAX_DURATION_S, engine.scratch.folder, holding.signal);
      if (!(await insist(() => probed(engine.db, claim.lease, found)))) throw new Lost();
      await keepMedia(engine, claim.lease.id, { ...media, probed: found });
    } catch (error) {
      await media.close();
      throw error;
    }
    onProbed();
  } catch (error) {
    await settle(engine, claim, holding, error);
  } finally {
    holding.letGo();
  }
}

/** The declared duration, or that found by decoding the whole file if it is missing or implausible: 3 to 5 s per hour of AAC or MP3. */
async function measure(path: string, maxSeconds: number, scratch: string, signal: AbortSignal) {
  const { durationSeconds: declared, ...found } = await probe(path, { signal });
  if (declared !== null && declared >= SHORTEST && declared <= maxSeconds) return { durationSeconds: declared, ...found };
  const recording = await decode(path, { tracks: found.tracks, signal, maxSeconds, scratch });
  try {
    return { durationSeconds: (await recording.decoded) / SAMPLE_RATE, ...found };
  } finally {
    await recording.close();
  }
}

/** Settles a recording whose probe or transcription threw. Does nothing if the lease was lost. */
export async function settle(
  engine: Engine,
  claim: ClaimedTranscription,
  { signal }: Pick<Holding, 'signal'>,
  thrown: unknown,
): Promise<void> {
  const { db, log } = engine;
  const { lease, attempt } = claim;
  const error = signal.aborted ? signal.reason : thrown;
  const fields = { transcription: lease.id, attempt };
  if (error instanceof Lost) return log.info(fields, 'stopped: deleted or taken over');
  if (error instanceof Stopping) {
    await insist(() => db.workspace(lease.workspaceId, (tx) => requeue(tx, lease, { blameless: true })));
    return log.info(fields, 'requeued');
  }
  if (hostFault(error) && claim.hinderedSeconds < HOST_PATIENCE) {
    log.error({ ...fields, error }, 'this host cannot do the work now; it will be retried');
    const later = { seconds: HOST_PAUSE, blameless: true, hostFault: true };
    await insist(() => db.workspace(lease.workspaceId, (tx) => requeue(tx, lease, later)));
    return;
  }
  if (!(error instanceof MediaError) && attempt < LEASE.attempts) {
    log.warn({ ...fields, error }, 'failed; it will be retried');
    await insist(() => db.workspace(lease.workspaceId, (tx) => requeue(tx, lease, { seconds: backOff(attempt) })));
    return;
  }
  const code = (error instanceof MediaError ? error.code : 'ENGINE_ERROR') as TranscriptionErrorCode;
  if (error instanceof MediaError) log.info({ ...fields, code }, 'failed');
  else log.error({ ...fields, code, error }, 'failed permanently');
  if (await insist(() => fail(db, lease, code))) await removeMedia(engine, { ...lease, extension: claim.extension });
  engine.counts.finished++;
}
