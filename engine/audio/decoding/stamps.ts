import { SAMPLE_RATE } from '../../types.ts';
import type { Block } from '../containers/matroska.ts';
import type { Frame } from './clock.ts';

const RANGE_MS = 2 ** 28; // milliseconds of output timestamps per packet: 75 hours
const ZERO_MS = RANGE_MS / 2; // the middle of that range is the file's earliest timestamp
const SAMPLES_PER_MS = SAMPLE_RATE / 1000;

/**
 * Options for packets whose timestamps encode their number and the file's timestamp, because muxers require increasing timestamps and those
 * in files are arbitrary. A bitstream filter counts, since audio filters are re-created where the channels or the sample rate change. With the
 * time base of Matroska for the encoder, all versions of ffmpeg agree on its units.
 */
export function stamped(startSeconds: number): string[] {
  const time = `clip(PTS-${Math.round(startSeconds * 1000)},${-ZERO_MS},${ZERO_MS - 1})`;
  return ['-enc_time_base', '1:1000', '-bsf:a', `setts=ts='(N+0.5)*${RANGE_MS}+${time}'`];
}

/** Frames with the lag of the file's timestamps, from packets with those timestamps. */
export class Stamps {
  #time = -1; // timestamp of the previous block
  #lag = 0; // lag of the previous frame
  #count = 0; // samples so far

  frame({ time, data }: Block, channels: number): Frame {
    const samples = new Float32Array(data.length / Float32Array.BYTES_PER_ELEMENT); // a copy, aligned for floats
    new Uint8Array(samples.buffer).set(data);
    const count = samples.length / channels;
    if (time !== this.#time) this.#lag = this.#lagOf(time % RANGE_MS); // pieces of one block share its timestamp
    this.#time = time;
    this.#count += count;
    return { lag: this.#lag, count, samples };
  }

  /** Keeps the lag where there is no timestamp, or one that is days away. */
  #lagOf(stamp: number): number {
    return stamp === 0 || stamp === RANGE_MS - 1 ? this.#lag : (stamp - ZERO_MS) * SAMPLES_PER_MS - this.#count;
  }
}
