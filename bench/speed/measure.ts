import { readFileSync } from 'node:fs';
import { decode } from '../../engine/audio/decode.ts';
import { diarize } from '../../engine/diarization/diarize.ts';
import { observe } from '../../engine/diarization/segmentation.ts';
import type { Pool } from '../../engine/runtime/pool.ts';
import { transcribe } from '../../engine/transcribe.ts';
import type { Options, Run, Transcript, Turn } from '../../engine/types.ts';

export interface Timed<T> {
  result: T;
  seconds: number;
}

/** Wall-clock time of one piece of work, seconds. */
export async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const started = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - started) / 1000 };
}

export const EVERYTHING: Options = { language: 'auto', diarize: true, speakers: null, vocabulary: '', accurate: false };

/** Runs one recording through the whole pipeline. */
export function transcript(
  path: string,
  pool: Pool,
  options: Partial<Options> = {},
  signal = new AbortController().signal,
): Promise<Transcript> {
  const run: Run = { signal, progress: () => {} };
  return transcribe(path, { ...EVERYTHING, ...options }, run, pool);
}

/** Segmentation, speaker embeddings and clustering only, on a decoded recording: the cost of diarization. */
export async function diarization(path: string, pool: Pool, speakers: number | null = null): Promise<Timed<Turn[]>> {
  const signal = new AbortController().signal;
  const recording = await decode(path, { signal });
  try {
    await recording.decoded;
    const job = pool.job(signal);
    return await timed(async () => {
      const activity = await observe(recording, 'mix', job.segment, { signal, concurrency: pool.threads * 2 });
      return diarize(activity, recording, 'mix', job.embed, { speakers, signal, linker: job.link, concurrency: pool.threads * 2 });
    });
  } finally {
    await recording.close();
  }
}

/** Minutes of processing per hour of audio. */
export function minutesPerHour(seconds: number, audioSeconds: number): number {
  return seconds / 60 / (audioSeconds / 3600);
}

/** The text as one string. */
export function textOf(transcript: Transcript): string {
  return transcript.segments.map((segment) => segment.text).join(' ');
}

/** Peak resident memory of this process, MB. */
export function peakMemory(): number {
  const found = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
  return found ? Number(found[1]) / 1024 : process.memoryUsage().rss / 1_048_576;
}
