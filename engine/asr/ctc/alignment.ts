import type { Emission } from '../frames/words.ts';

/**
 * The frames of a text: its most probable path, with blanks between tokens, which are required between equal ones. A token's probability is
 * that of its likeliest frame.
 * @param logProbs [frames x tokens], row-major
 */
export function align(logProbs: Float32Array, frames: number, tokens: number, blank: number, text: readonly number[]): Emission[] {
  const states = 2 * text.length + 1; // blank, token, blank, token, … blank
  const tokenOf = (state: number) => (state % 2 ? text[(state - 1) / 2]! : blank);
  const from = new Uint8Array(frames * states); // how many states back the best path comes from
  let scores = new Float64Array(states).fill(Number.NEGATIVE_INFINITY);
  for (let frame = 0; frame < frames; frame++) {
    const next = new Float64Array(states).fill(Number.NEGATIVE_INFINITY);
    for (let state = 0; state < states; state++) {
      const skips = state % 2 === 1 && state > 1 && tokenOf(state) !== tokenOf(state - 2);
      let back = 0;
      for (let step = 1; step <= (skips ? 2 : 1) && step <= state; step++) if (scores[state - step]! > scores[state - back]!) back = step;
      const before = frame === 0 ? (state < 2 ? 0 : Number.NEGATIVE_INFINITY) : scores[state - back]!;
      from[frame * states + state] = back;
      next[state] = before + logProbs[frame * tokens + tokenOf(state)]!;
    }
    scores = next;
  }
  const emissions = text.map((token): Emission => ({ token, first: frames, end: 0, logProb: Number.NEGATIVE_INFINITY }));
  let state = states > 1 && scores[states - 2]! > scores[states - 1]! ? states - 2 : states - 1;
  for (let frame = frames - 1; frame >= 0; frame--) {
    const emission = state % 2 ? emissions[(state - 1) / 2]! : null;
    if (emission) {
      emission.first = frame;
      emission.end = Math.max(emission.end, frame + 1);
      emission.logProb = Math.max(emission.logProb, logProbs[frame * tokens + emission.token]!);
    }
    state -= from[frame * states + state]!;
  }
  return emissions;
}
