import { amplified } from '../loudness.ts';
import { SAMPLE_RATE, type Span } from '../types.ts';

/*
 * Models hear a window relative to its loudest sounds: Whisper's features end 80 dB below their highest value. The limits are by reasoning,
 * not tuned; figures are in docs/decisions/diarization.md.
 */
const FRAME_SAMPLES = 0.02 * SAMPLE_RATE;
const LEVEL_SHARE = 0.8; // quantile of the energies of a span's frames that is its level
const FAR_BELOW = 1e-3; // level of a span relative to the loudest of the window, below which it is amplified …
const RAISED = 1e-2; // … to this one
const MAX_ABOVE = 100; // energy of a frame relative to its span, above which it is a slam or a click, and is turned down

/**
 * Amplifies speech of a window that is far below other speech in it, and turns down what is far above the speech around it, in place. Other
 * samples stay as they are.
 * @param speech seconds of the window
 */
export function evened(samples: Float32Array, speech: readonly Span[]): Float32Array {
  const frames = Math.floor(samples.length / FRAME_SAMPLES);
  if (!frames || !speech.length) return samples;
  const energies = Float64Array.from({ length: frames }, (_, frame) => energyOf(samples, frame * FRAME_SAMPLES));
  const spans = speech.map((span) => levelOf(span, energies));
  const loudest = Math.max(...spans.map(({ level }) => level));
  let span = 0;
  const gains = energies.map((energy, frame) => {
    while (span + 1 < spans.length && frame - spans[span]!.end > spans[span + 1]!.first - frame) span++; // the nearest
    const { level } = spans[span]!;
    if (!level) return 1;
    const raised = level < FAR_BELOW * loudest ? Math.sqrt((RAISED * loudest) / level) : 1;
    return raised * Math.min(1, Math.sqrt((MAX_ABOVE * level) / energy));
  });
  return gains.some((gain) => gain !== 1) ? amplified(samples, gains, FRAME_SAMPLES) : samples;
}

/** A span in frames, with the energy of its louder ones. */
function levelOf({ start, end }: Span, energies: Float64Array): { first: number; end: number; level: number } {
  const first = Math.min(energies.length - 1, Math.floor((start * SAMPLE_RATE) / FRAME_SAMPLES));
  const last = Math.max(first + 1, Math.min(energies.length, Math.ceil((end * SAMPLE_RATE) / FRAME_SAMPLES)));
  const sorted = energies.slice(first, last).sort();
  return { first, end: last, level: sorted[Math.floor(LEVEL_SHARE * (sorted.length - 1))]! };
}

function energyOf(samples: Float32Array, from: number): number {
  let sum = 0;
  for (let i = from; i < from + FRAME_SAMPLES; i++) sum += samples[i]! ** 2;
  return sum;
}
