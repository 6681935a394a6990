import { findSpeech } from './asr/speech.ts';
import { packingFor, packWindows, quietestOf } from './asr/windows.ts';
import { layoutOf, withoutCrosstalk } from './audio/channels.ts';
import { decode, type Probe, probe, SAMPLE_RATE } from './audio/ffmpeg.ts';
import { diarize } from './diarization/diarize.ts';
import { type Activity, FRAME_START, FRAME_STEP, observe, speechProbability } from './diarization/segmentation.ts';
import { type Progress, progressOf } from './progress.ts';
import { recogniseAll } from './recognition.ts';
import type { Job, Pool } from './runtime/pool.ts';
import { attribute, type SaidWord } from './transcript/attribute.ts';
import { toSegments } from './transcript/segments.ts';
import type { Options, Recording, Run, Transcript, Turn, Window, Word } from './types.ts';

export interface Limits {
  /** Longest recording taken, seconds. */
  maxSeconds?: number;
  /** Folder for decoded samples. */
  scratch?: string;
  /** What a probe of this file has found already. */
  probed?: Pick<Probe, 'mediaType' | 'channels' | 'codec' | 'lateSeconds'>;
}

/** One stream of sound in which speech was looked for. */
interface Stream {
  channel: number | 'mix';
  activity: Activity;
  windows: Window[];
}

/**
 * Turns one recording into a transcript. Stops within two seconds when `run.signal` aborts, with its reason.
 * Throws MediaError for a recording that cannot be read; a failed diarization keeps the text and is named in the transcript.
 */
export async function transcribe(path: string, options: Options, run: Run, pool: Pool, limits: Limits = {}): Promise<Transcript> {
  const { signal } = run;
  const progress = progressOf(run, options.diarize);
  progress.stage('probing');
  const { mediaType, channels, codec, lateSeconds } = limits.probed ?? (await probe(path, { signal }));
  const { maxSeconds, scratch } = limits;
  const recording = await decode(path, { channels: channels === 2 ? 2 : 1, codec, lateSeconds, signal, maxSeconds, scratch });
  recording.decoded.then(
    (samples) => run.decoded?.(samples / SAMPLE_RATE),
    () => {}, // whoever reads hears of it
  );
  try {
    const job = pool.job(signal);
    progress.stage('transcribing');
    const streams = await hear(recording, options, job, pool, progress, signal);
    const [{ words, language }, turns] = await Promise.all([
      recogniseAll(
        streams.flatMap(({ windows }) => windows),
        recording,
        job,
        { ...options, signal, checkpoints: run.checkpoints, onProgress: progress.recognised, pool },
      ),
      findTurns(streams, recording, options, job, pool, progress, signal),
    ]);
    progress.stage('finishing');
    const durationSeconds = (await recording.decoded) / SAMPLE_RATE;
    const said = streams.length > 1 ? byChannel(await withoutCrosstalk(words, recording)) : bySpeaker(words, turns.found);
    const segments = toSegments(said, durationSeconds);
    return {
      language: segments.length || options.language !== 'auto' ? language : null,
      durationSeconds,
      mediaType,
      diarized: options.diarize && turns.error === null,
      diarizationError: turns.error,
      speakers: new Set(segments.flatMap(({ speaker }) => speaker ?? [])).size,
      segments,
    };
  } finally {
    await recording.close();
  }
}

/** Finds the speech of a recording: in one stream, or in one per party of a call. */
async function hear(
  recording: Recording,
  options: Options,
  job: Job,
  pool: Pool,
  progress: Progress,
  signal: AbortSignal,
): Promise<Stream[]> {
  const layout = await layoutOf(recording, signal);
  const parties = options.diarize && (options.speakers === null || options.speakers === 2);
  const channels = layout === 'call' ? (parties ? [0, 1] : ['mix' as const]) : [layout];
  const coarse = !options.diarize || channels.length > 1; // the channel tells who speaks
  let whole = false; // until then nobody knows what a second is a part of
  recording.decoded.then(
    () => (whole = true),
    () => {}, // whoever reads hears of it
  );
  const look = (channel: Stream['channel'], coarsely: boolean, i = 0) => {
    const onProgress = (seconds: number) => {
      if (whole) progress.heard((i + (seconds * SAMPLE_RATE) / recording.length) / channels.length);
    };
    return observe(recording, channel, job.segment, { signal, onProgress, concurrency: pool.threads * 2, coarse: coarsely });
  };
  const streams: Stream[] = [];
  for (const [i, channel] of channels.entries()) {
    const activity = await look(channel, coarse, i);
    const speech = findSpeech(speechProbability(activity), FRAME_STEP, FRAME_START);
    const packing = packingFor(pool.windowSeconds);
    const windows = await packWindows(speech, channel, recording.length / SAMPLE_RATE, quietestOf(recording, channel), packing);
    streams.push({ channel, activity, windows });
  }
  const [only, ...others] = streams.filter(({ windows }) => windows.length);
  if (!only) return streams.slice(0, 1);
  if (coarse && options.diarize && !others.length) only.activity = await look(only.channel, false); // several people on one side, perhaps
  return [only, ...others];
}

interface Turns {
  /** Null: not diarized. */
  found: Turn[] | null;
  error: string | null;
}

/** Who speaks when, where that is asked for and not told by the channels. A failure is named, not thrown. */
async function findTurns(
  streams: Stream[],
  recording: Recording,
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
    const { speakers } = options;
    const concurrency = pool.threads * 2;
    const found = await diarize(stream.activity, recording, stream.channel, job.embed, {
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
