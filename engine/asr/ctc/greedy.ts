import { likeliestOf, logProbOf } from '../frames/probability.ts';
import type { Emission } from '../frames/words.ts';

/**
 * Greedy CTC: the likeliest token of each frame, repetitions collapsed, blanks left out. A token's probability is that of its likeliest
 * frame.
 * @param logits [frames x tokens], row-major; they may be unnormalised
 */
export function greedy(logits: Float32Array, frames: number, tokens: number, blank: number): Emission[] {
  const emissions: Emission[] = [];
  let before = blank;
  for (let frame = 0; frame < frames; frame++) {
    const [from, to] = [frame * tokens, (frame + 1) * tokens];
    const token = likeliestOf(logits, from, to);
    if (token !== blank) {
      const logProb = logProbOf(logits, from, to, token);
      const last = emissions.at(-1);
      if (last && token === before) {
        last.end = frame + 1;
        last.logProb = Math.max(last.logProb, logProb);
      } else emissions.push({ token, first: frame, end: frame + 1, logProb });
    }
    before = token;
  }
  return emissions;
}
