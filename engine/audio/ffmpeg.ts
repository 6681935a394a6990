import { resolve } from 'node:path';
import { MediaError, type Recording } from '../types.ts';
import { type Confined, confined } from './confine.ts';
import { firstLine, HARDENED } from './probe.ts';
import { openScratch, Scratch } from './scratch.ts';
import { findTools } from './tools.ts';

export { type Probe, probe } from './probe.ts';
export { findTools, type Tools } from './tools.ts';

export const SAMPLE_RATE = 16_000;
const SHORTEST = 1; // seconds
const MARGIN = 60; // seconds decoded beyond the limit, to know that it was passed
const SILENCE = 30; // seconds without output before ffmpeg counts as stuck
const GAP = 0.1; // seconds from the end of one piece of sound to the next from which on something is missing between them …
const BROKEN = 600; // … up to here: more is a broken clock, and more silence than ffmpeg should hold in memory
const BLOCK = 60 * SAMPLE_RATE; // samples of silence written at once

export interface DecodeOptions {
  /** 2 keeps left and right of a stereo file apart; any other layout is mixed to what is asked. */
  channels: 1 | 2;
  /** As a probe named it. */
  codec?: string;
  /** As a probe measured it: so much silence comes first. */
  lateSeconds?: number;
  signal?: AbortSignal;
  /** Called with the seconds decoded so far. */
  onProgress?: (seconds: number) => void;
  /** Longest recording taken, seconds; counted on samples. */
  maxSeconds?: number;
  /** Folder of the unnamed scratch file; 2 bytes a sample and channel (115 MB an hour and channel). */
  scratch?: string;
}

/**
 * Decodes any media file to 16 kHz samples. Resolves when decoding has begun: `read` waits for samples still to come, `decoded` for all of them.
 * What can be decoded of a damaged file is kept, from one second on.
 * `read` and `decoded` throw MediaError FILE_CORRUPTED, FILE_NO_AUDIO, UNSUPPORTED_CODEC, RECORDING_TOO_SHORT, RECORDING_TOO_LONG,
 * PROCESSING_TIMEOUT, the reason of an abort, or an Error that is no MediaError where the file is not at fault. The caller closes the recording in every case.
 */
export async function decode(path: string, options: DecodeOptions): Promise<Recording> {
  const { channels, codec, lateSeconds = 0, signal, maxSeconds = 36_000 } = options;
  const { ffmpeg, libspeex } = await findTools();
  const input = resolve(path);
  const decoder = codec === 'speex' && libspeex ? ['-c:a', 'libspeex'] : [];
  const args = [
    '-hide_banner',
    '-v',
    'error',
    '-nostdin',
    ...HARDENED,
    '-threads',
    '1',
    ...decoder,
    '-i',
    `file:${input}`,
    '-vn',
    '-sn',
    '-dn',
  ];
  args.push(
    '-map',
    '0:a:0',
    '-t',
    String(maxSeconds + MARGIN),
    '-af',
    inTime(channels),
    '-ac',
    String(channels),
    '-ar',
    String(SAMPLE_RATE),
    '-f',
    's16le',
    'pipe:1',
  );
  const scratch = new Scratch(await openScratch(options.scratch), channels);
  try {
    const limits = { seconds: Math.max(120, 0.2 * maxSeconds), silence: SILENCE, signal };
    const run = await confined(ffmpeg, args, input, limits);
    const filling = fill(scratch, run, Math.round(lateSeconds * SAMPLE_RATE), maxSeconds, options.onProgress);
    filling.then(
      () => scratch.finish(),
      (error: Error) => scratch.finish(error),
    );
    return scratch;
  } catch (error) {
    await scratch.close();
    throw error;
  }
}

/**
 * Filters that put silence where sound is missing by the times of the file. Times that run back, drift or jitter change nothing: no sound is dropped.
 * In the expression: 0 is the length of the piece before, 1 where it ends in the output, 2 how far this one leaps ahead of that one.
 */
function inTime(channels: 1 | 2): string {
  const leap = `if(between(ld(2),${GAP}/TB,${BROKEN}/TB),clip(PTS-ld(1),0,ld(2)))`;
  const time = `st(1,PREV_OUTPTS+ld(0));st(2,PTS-PREV_INPTS-ld(0));st(0,NB_SAMPLES/(SR*TB));if(isnan(ld(1)),PTS,ld(1)+${leap})`;
  const layout = channels === 1 ? 'mono' : 'stereo';
  return `asetpts='${time}',aformat=sample_fmts=s16:sample_rates=${SAMPLE_RATE}:channel_layouts=${layout},aresample=async=1`;
}

/** Moves samples from the decoder to the scratch file, after `late` of silence, until either has had enough, then judges the outcome. */
async function fill(
  scratch: Scratch,
  run: Confined,
  late: number,
  maxSeconds: number,
  onProgress?: (seconds: number) => void,
): Promise<void> {
  try {
    while (scratch.length < late) await scratch.appendSilence(Math.min(BLOCK, late - scratch.length));
    for await (const bytes of run.child.stdout) {
      run.alive();
      await scratch.append(bytes as Buffer);
      const seconds = scratch.length / SAMPLE_RATE;
      if (seconds > maxSeconds) throw tooLong(maxSeconds);
      onProgress?.(seconds);
    }
  } catch (error) {
    run.stop(error as Error);
    await run.ended; // rejects: a time limit or an abort explains a broken pipe better than the pipe does
    throw error;
  }
  const { code } = await run.ended;
  const seconds = (scratch.length - late) / SAMPLE_RATE;
  if (seconds < SHORTEST) throw unusable(seconds, code, run.complaints());
}

function tooLong(maxSeconds: number): MediaError {
  return new MediaError('RECORDING_TOO_LONG', `Cannot transcribe the recording: it is longer than ${maxSeconds / 3600} hours. Split it`);
}

/** Why less than a second came out of a file. */
function unusable(seconds: number, code: number | null, complaints: string): MediaError {
  const why = firstLine(complaints);
  if (/matches no streams|does not contain any stream/i.test(complaints)) {
    return new MediaError('FILE_NO_AUDIO', 'Cannot transcribe the file: it has no audio stream');
  }
  if (/decoder .*not found|unknown decoder|decoder \(codec|not implemented|patchwelcome/i.test(complaints)) {
    return new MediaError('UNSUPPORTED_CODEC', `Cannot decode the audio stream: ${why}. Convert the file, for example to FLAC`);
  }
  if (code === 0 && !why && seconds > 0) {
    return new MediaError(
      'RECORDING_TOO_SHORT',
      `Cannot transcribe the recording: it lasts ${Math.floor(seconds * 100) / 100} s, at least ${SHORTEST} s is wanted`,
    );
  }
  return new MediaError('FILE_CORRUPTED', `Cannot decode the file: ${why || 'no sound came out of it'}`);
}
