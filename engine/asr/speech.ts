import type { Span, Speech } from '../types.ts';

const ONSET_PROBABILITY = 0.5; // a span begins above this probability
const OFFSET_PROBABILITY = 0.35; // and lasts until below this one
const MIN_SPEECH_SECONDS = 0.15; // seconds above ONSET_PROBABILITY: shorter bursts are noise
const MIN_GAP_SECONDS = 0.1; // seconds: spans closer than this are merged

/**
 * Speech spans.
 * @param probability one value per frame, the first centred on `frameStart` seconds
 */
export function findSpeech(probability: Float32Array, frameStep: number, frameStart: number): Speech {
  const time = (frame: number) => Math.max(0, frameStart + (frame - 0.5) * frameStep);
  const spans: Span[] = [];
  for (const { first, end } of runs(probability, MIN_SPEECH_SECONDS / frameStep)) {
    const before = spans.at(-1);
    if (before && time(first) - before.end < MIN_GAP_SECONDS) before.end = time(end);
    else spans.push({ start: time(first), end: time(end) });
  }
  return { frameStep, frameStart, probability, spans };
}

/** Runs of frames above ONSET_PROBABILITY for long enough, extended to where they fall below OFFSET_PROBABILITY. */
function* runs(probability: Float32Array, shortest: number): Generator<{ first: number; end: number }> {
  for (let frame = 0; frame < probability.length; frame++) {
    if (probability[frame]! < OFFSET_PROBABILITY) continue;
    const first = frame;
    let longest = 0;
    for (let above = 0; frame < probability.length && probability[frame]! >= OFFSET_PROBABILITY; frame++) {
      above = probability[frame]! > ONSET_PROBABILITY ? above + 1 : 0;
      longest = Math.max(longest, above);
    }
    if (longest >= shortest) yield { first, end: frame };
  }
}

/** Maximum speech probability between two times, seconds. */
export function peak({ probability, frameStep, frameStart }: Speech, { start, end }: Span): number {
  const first = Math.max(0, Math.floor((start - frameStart) / frameStep));
  const last = Math.min(probability.length, Math.ceil((end - frameStart) / frameStep) + 1);
  let highest = 0;
  for (let frame = first; frame < last; frame++) highest = Math.max(highest, probability[frame]!);
  return highest;
}

/** Seconds of speech between two times. */
export function speechBetween(speech: readonly Span[], start: number, end: number): number {
  return speech.reduce((sum, span) => sum + Math.max(0, Math.min(span.end, end) - Math.max(span.start, start)), 0);
}
