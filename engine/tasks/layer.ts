import type { ClaimedTranscription } from '../../db/jobs/claim.ts';
import { ReportError } from '../reports/writer.ts';
import type { Transcript } from '../types.ts';
import type { Engine } from './engine.ts';
import type { Holding } from './holdings.ts';
import type { Layer } from './sealed.ts';

const LIMIT_MS = 120_000;

/** Title, summary, topics and names of speakers where they were asked for. Null when not, when nothing was said, and when it fails: it never fails the transcription. */
export async function describe(
  engine: Engine,
  claim: ClaimedTranscription,
  transcript: Transcript,
  holding: Holding,
): Promise<Layer | null> {
  if (!claim.aiMetadata || !transcript.segments.length) return null;
  const label = (speaker: number | null) => `Speaker ${(speaker ?? 0) + 1}`;
  const segments = transcript.segments.map(({ id, start, end, speaker, text }) => ({ id, start, end, speaker: label(speaker), text }));
  try {
    const signal = AbortSignal.any([holding.signal, AbortSignal.timeout(LIMIT_MS)]);
    const { language, durationSeconds } = transcript;
    const layer = await engine.writer.describe({ language, durationSeconds, segments }, signal);
    const named = layer.speakerNames.map(({ speaker, name }) => [Number(speaker.replace(/\D/g, '')) - 1, name] as const);
    return { title: layer.title, summary: layer.summary, topics: layer.topics, names: new Map(named) };
  } catch (error) {
    holding.signal.throwIfAborted();
    const code = error instanceof ReportError ? error.code : (error as Error).name; // the message may quote the transcript
    engine.log.warn({ code, transcription: claim.lease.id }, 'title, summary and topics could not be written');
    return null;
  }
}
