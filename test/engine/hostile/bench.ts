import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode } from '../../../engine/audio/decode.ts';
import { MediaError, type Recording } from '../../../engine/types.ts';
import { mediaPrograms } from '../../support/processes/hunt.ts';
import { finish } from '../../support/processes/processes.ts';
import { eventually } from '../../support/processes/service.ts';

/** Result of one file: an error code, or its decoded audio. */
export interface Verdict {
  code: string | null;
  message: string;
  seconds: number;
  /** Peak, 0 to 1. */
  loudest: number;
  /** Wall clock, for the log only. */
  tookMs: number;
}

/**
 * A folder for one test file; TMPDIR points to a folder inside it.
 * `left()` returns the files that Longhand left there and the media programs that are still running.
 */
export function hostileFolder(t: { teardown(after: () => unknown): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-hostile-'));
  const temporary = mkdtempSync(join(folder, 'tmp-'));
  process.env.TMPDIR = temporary;
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const left = async () => {
    const running = () => mediaPrograms(process.pid);
    await eventually(() => !running().length, 'the end of all media programs').catch(() => {}); // until they are reaped
    return [...readdirSync(temporary).filter((name) => name.startsWith('longhand')), ...running()];
  };
  return { folder, left };
}

/** Runs ffmpeg, to create a file. */
export async function ffmpeg(...args: string[]): Promise<void> {
  const { code, stderr } = await finish('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args]);
  if (code !== 0) throw new Error(`ffmpeg ${args.join(' ')}\n${stderr}`);
}

/** Probes and decodes one file as an engine does. Rethrows any error that is not a MediaError: those are bugs. */
export async function judge(path: string, maxSeconds = 3600): Promise<Verdict> {
  const began = performance.now();
  const verdict = { code: null as string | null, message: '', seconds: 0, loudest: 0 };
  let recording: Recording | null = null;
  try {
    recording = await decode(path, { maxSeconds });
    const samples = await recording.decoded;
    verdict.seconds = samples / 16_000;
    for (let at = 0; at < samples; at += 160_000) {
      for (const sample of await recording.read(0, at, Math.min(samples, at + 160_000)))
        verdict.loudest = Math.max(verdict.loudest, Math.abs(sample));
    }
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    Object.assign(verdict, { code: error.code, message: error.message });
  } finally {
    await recording?.close();
  }
  return { ...verdict, tookMs: Math.round(performance.now() - began) };
}

/** mulberry32, a seeded random number generator. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs `work` on every item, three concurrently. */
export async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    [1, 2, 3].map(async () => {
      for (const item of waiting) await work(item);
    }),
  );
}
