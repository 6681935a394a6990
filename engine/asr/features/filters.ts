import { SAMPLE_RATE } from '../../types.ts';

/** Triangular mel filters from 0 to 8 kHz over the bins of a power spectrum. */

/** One filter: its first bin and the weights from there. */
export interface Filter {
  first: number;
  weights: Float64Array;
}

export type MelScale = 'slaney' | 'htk';

const TOP_HZ = 8000;
const LINEAR_HZ_PER_MEL = 200 / 3; // Slaney: linear up to 1 kHz = 15 mel, logarithmic above
const BREAK_MEL = 15;
const LOG_STEP = Math.log(6.4) / 27;

/**
 * The filters of a scale: Slaney's have unit area (librosa.filters.mel, as in NeMo), HTK's a peak of 1 (torchaudio, as in GigaAM).
 * @param rounded whether weights are rounded to bfloat16, as in checkpoints that store them so
 */
export function melFilters(scale: MelScale, bins: number, length: number, rounded = false): Filter[] {
  const { toMel, toHz } = SCALES[scale];
  const hz = Array.from({ length: bins + 2 }, (_, i) => toHz((toMel(TOP_HZ) * i) / (bins + 1)));
  return Array.from({ length: bins }, (_, m) => {
    const [low, centre, high] = [hz[m]!, hz[m + 1]!, hz[m + 2]!];
    const peak = scale === 'slaney' ? 2 / (high - low) : 1;
    const weights = Array.from({ length: length / 2 + 1 }, (_, k) => {
      const f = (k * SAMPLE_RATE) / length;
      const weight = Math.max(0, Math.min((f - low) / (centre - low), (high - f) / (high - centre))) * peak;
      return rounded ? toBfloat16(weight) : weight;
    });
    const first = Math.max(
      0,
      weights.findIndex((weight) => weight > 0),
    );
    const end = weights.findLastIndex((weight) => weight > 0) + 1;
    return { first, weights: Float64Array.from(weights.slice(first, Math.max(first, end))) };
  });
}

const SCALES: Record<MelScale, { toMel(hz: number): number; toHz(mel: number): number }> = {
  slaney: {
    toMel: (hz) => (hz < 1000 ? hz / LINEAR_HZ_PER_MEL : BREAK_MEL + Math.log(hz / 1000) / LOG_STEP),
    toHz: (mel) => (mel < BREAK_MEL ? LINEAR_HZ_PER_MEL * mel : 1000 * Math.exp(LOG_STEP * (mel - BREAK_MEL))),
  },
  htk: { toMel: (hz) => 2595 * Math.log10(1 + hz / 700), toHz: (mel) => 700 * (10 ** (mel / 2595) - 1) },
};

/** The nearest bfloat16, ties to even. */
export function toBfloat16(value: number): number {
  const bits = new Uint32Array(Float32Array.of(value).buffer);
  bits[0] = (bits[0]! + 0x7fff + ((bits[0]! >>> 16) & 1)) & 0xffff0000;
  return new Float32Array(bits.buffer)[0]!;
}
