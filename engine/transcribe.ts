import { withoutCrosstalk } from './audio/channels/crosstalk.ts';
import { decode, type Probe, probe } from './audio/decode.ts';
import { diarize } from './diarization/diarize.ts';
import { type Progress, progressOf } from './progress.ts';
import { recogniseAll } from './recognition.ts';
import type { Job, Pool } from './runtime/pool.ts';
import { type Heard, hear } from './streams.ts';
import { attribute, type SaidWord } from './transcript/attribute.ts';
import { toSegments } from './transcript/segments.ts';
import type { Options, Run, Transcript, Turn, Word } from './types.ts';
import { SAMPLE_RATE } from './types.ts';

export interface Limits {
  /** Longest accepted recording, seconds. */
  maxSeconds?: number;
  /** Folder for decoded samples. */
  scratch?: string;
  /** Result of an earlier probe of this file. */
  probed?: Pick<Probe, 'mediaType' | 'tracks'>;
}

/**
 * Turns one recording into a transcript. Stops within two seconds when `run.signal` aborts, with its reason. Throws MediaError for a
 * recording that cannot be read; if diarization fails the text is kept and the transcript names the error.
 */
export async function transcribe(path: string, options: Options, run: Run, pool: Pool, limits: Limits = {}): Promise<Transcript> {
  const ended = new AbortController();
  const signal = AbortSignal.any([run.signal, ended.signal]);
  const progress = progressOf(run, options.diarize);
  progress.stage('probing');
  const { mediaType, tracks } = limits.probed ?? (await probe(path, { signal }));
  const { maxSeconds, scratch } = limits;
  const recording = await decode(path, { tracks, signal, maxSeconds, scratch, onProgress: progress.alive });
  recording.decoded.then(
    (samples) => run.decoded?.(samples / SAMPLE_RATE),
    () => {}, // handled by readers
  );
  try {
    const job = reporting(pool.job(signal), progress.alive);
    progress.stage('transcribing');
    const heard = await hear(recording, options, { job, pool, progress, signal });
    const { streams, byParty } = heard;
    const [{ words, language, uncoveredSeconds, stretches }, turns] = await Promise.all([
      recogniseAll(
        streams.flatMap(({ windows }) => windows),
        byParty,
        job,
        { ...options, signal, checkpoints: run.checkpoints, onProgress: progress.recognised, pool },
      ),
      findTurns(heard, options, job, pool, progress, signal),
    ]);
    if (pool.routes) run.heard?.(stretches);
    progress.stage('finishing');
    const durationSeconds = (await recording.decoded) / SAMPLE_RATE;
    const said = streams.length > 1 ? byChannel(await withoutCrosstalk(words, byParty, signal)) : bySpeaker(words, turns.found);
    const segments = toSegments(said, durationSeconds);
    return {
      language: segments.length || options.language !== 'auto' ? language : null,
      durationSeconds,
      mediaType,
      diarized: options.diarize && turns.error === null,
      diarizationError: turns.error,
      speakers: new Set(segments.flatMap(({ speaker }) => speaker ?? [])).size,
      segments,
      uncoveredSeconds,
    };
  } finally {
    ended.abort(); // if a part failed, the others are in progress
    await recording.close();
  }
}

/** A job that reports every finished unit of work. */
function reporting(job: Job, done: () => void): Job {
  const reported = async <Result>(unit: Promise<Result>) => {
    const result = await unit;
    done();
    return result;
  };
  return {
    signal: job.signal,
    recognise: (window) => reported(job.recognise(window)),
    segment: (windows) => reported(job.segment(windows)),
    embed: (pieces) => reported(job.embed(pieces)),
    link: (means, weights, options) => reported(job.link(means, weights, options)),
  };
}

interface Turns {
  /** Null: not diarized. */
  found: Turn[] | null;
  error: string | null;
}

/** Speaker turns, if requested and not already given by the channels. A failure is returned, not thrown. */
async function findTurns(
  { streams, byParty, speakers }: Heard,
  options: Options,
  job: Job,
  pool: Pool,
  progress: Progress,
  signal: AbortSignal,
): Promise<Turns> {
  const [stream] = streams;
  if (!options.diarize || !stream || streams.length > 1) {
    progress.diarized(1);
    return { found: null, error: null };
  }
  try {
    const concurrency = pool.threads * 2;
    const found = await diarize(stream.activity, byParty, stream.channel, job.embed, {
      speakers,
      signal,
      concurrency,
      linker: job.link,
      onProgress: progress.diarized,
    });
    progress.diarized(1);
    return { found, error: null };
  } catch (error) {
    signal.throwIfAborted();
    return { found: null, error: error instanceof Error ? error.message : String(error) };
  }
}

function byChannel(words: readonly Word[]): SaidWord[] {
  return words.map((word) => ({ ...word, speaker: word.channel ?? null }));
}

function bySpeaker(words: readonly Word[], turns: readonly Turn[] | null): SaidWord[] {
  return turns ? attribute(words, turns) : words.map((word) => ({ ...word, speaker: null }));
}
