import { SAMPLE_RATE } from '../../types.ts';

const REACH = 64; // samples of the filter on either side
const CUTOFF = 3800; // Hz: what lies above 4,200 Hz is at least 60 dB down

/** Resamples to half the rate, for models of telephone speech. The filter delays nothing. Memory is reused: the result is valid until the next call. */
export function halfRate(): (samples: Float32Array) => Float32Array {
  const filter = lowPass();
  let room = new Float32Array(0);
  return (samples) => {
    const count = Math.ceil(samples.length / 2);
    if (room.length < count) room = new Float32Array(count);
    for (let i = 0; i < count; i++) {
      const from = 2 * i - REACH;
      let sum = 0;
      for (let k = Math.max(0, -from); k <= Math.min(2 * REACH, samples.length - 1 - from); k++) sum += filter[k]! * samples[from + k]!;
      room[i] = sum;
    }
    return room.subarray(0, count);
  };
}

/** A windowed sinc (Blackman), normalised to a gain of 1. */
function lowPass(): Float64Array {
  const filter = new Float64Array(2 * REACH + 1);
  const turn = (2 * Math.PI * CUTOFF) / SAMPLE_RATE;
  for (let k = 0; k < filter.length; k++) {
    const at = k - REACH;
    const phase = (Math.PI * k) / REACH;
    filter[k] = (at === 0 ? turn : Math.sin(turn * at) / at) * (0.42 - 0.5 * Math.cos(phase) + 0.08 * Math.cos(2 * phase));
  }
  const gain = filter.reduce((sum, value) => sum + value);
  return filter.map((value) => value / gain);
}
