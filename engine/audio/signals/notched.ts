import { type Recording, SAMPLE_RATE } from '../../types.ts';
import { isSuspect, steadyLines, WINDOW_SAMPLES } from './hum.ts';

const BLOCK_SAMPLES = 30 * SAMPLE_RATE; // in which lines are found
const NOTCH_HERTZ = 8; // width of a notch: voices lose little, and a line may drift by a hertz
const WARM_UP_SAMPLES = 0.5 * SAMPLE_RATE; // in which the filters settle

/** A recording without steady hum, whistles or buzz, as far as they are loud: they hide voices from speech detection and recognition. */
export function withoutHum(recording: Recording): Recording {
  const found = new Map<string, Promise<number[]>>();
  const linesIn = (channel: number | 'mix', block: number) => {
    const key = `${channel} ${block}`;
    const lines = found.get(key) ?? linesWithin(recording, channel, block * BLOCK_SAMPLES, (block + 1) * BLOCK_SAMPLES);
    found.set(key, lines);
    return lines;
  };
  return {
    ...{ channels: recording.channels, origins: recording.origins, surround: recording.surround, mixes: recording.mixes },
    get length() {
      return recording.length;
    },
    decoded: recording.decoded,
    close: () => recording.close(),
    read: async (channel, start, end, room) => {
      const samples = await recording.read(channel, start, end, room);
      for (let from = start; from < start + samples.length; ) {
        const block = Math.floor(from / BLOCK_SAMPLES);
        const to = Math.min(start + samples.length, (block + 1) * BLOCK_SAMPLES);
        const lines = await linesIn(channel, block);
        if (lines.length) {
          const before = Math.min(from, WARM_UP_SAMPLES);
          const part = await recording.read(channel, from - before, Math.max(to, 2 * WARM_UP_SAMPLES));
          const settled = before < WARM_UP_SAMPLES ? part.slice(0, 2 * WARM_UP_SAMPLES).reverse() : null; // comes from later on
          notch(part, lines);
          if (settled) {
            notch(settled, lines);
            part.set(settled.reverse().subarray(0, WARM_UP_SAMPLES));
          }
          samples.set(part.subarray(before, before + to - from), from - start);
        }
        from = to;
      }
      return samples;
    },
  };
}

/** Lines of a block, of which little is read if it has none. */
async function linesWithin(recording: Recording, channel: number | 'mix', start: number, end: number): Promise<number[]> {
  const last = end - WINDOW_SAMPLES;
  const places = [start, Math.round((start + last) / 2), last];
  const windows = await Promise.all(places.map((at) => recording.read(channel, at, at + WINDOW_SAMPLES)));
  const whole = windows.every(({ length }) => length === WINDOW_SAMPLES); // else the recording ends here
  return whole && !isSuspect(windows) ? [] : steadyLines(await recording.read(channel, start, end));
}

/** Second-order notch filters with a gain of 1 far from their frequencies, in place. */
function notch(samples: Float32Array, lines: readonly number[]): void {
  const r = 1 - (Math.PI * NOTCH_HERTZ) / SAMPLE_RATE; // radius of the poles
  for (const frequency of lines) {
    const c = 2 * Math.cos((2 * Math.PI * frequency) / SAMPLE_RATE);
    const gain = (1 + r * r) / 2;
    let [x1, x2, y1, y2] = [0, 0, 0, 0];
    for (let i = 0; i < samples.length; i++) {
      const x = samples[i]!;
      const y = gain * (x - c * x1 + x2) + r * c * y1 - r * r * y2;
      [x2, x1, y2, y1] = [x1, x, y1, y];
      samples[i] = y;
    }
  }
}
