import { likeliestOf, logProbOf } from '../frames/probability.ts';
import type { Emission } from '../frames/words.ts';

/** The predictor and the joint network. `State` is the predictor's. */
export interface Joint<State> {
  readonly start: State;
  /**
   * Feeds one token to the predictor and joins its output with several frames of the encoder.
   * @returns logits [frames x (tokens + durations)], row-major, and the predictor's next state
   */
  run(frames: Float32Array, count: number, token: number, state: State): Promise<{ logits: Float32Array; state: State }>;
}

export interface Transducer {
  /** Number of tokens, the blank included. */
  tokens: number;
  blank: number;
  /** TDT: number of durations, 0, 1, 2 … frames. 0: RNN-T. */
  durations: number;
  /** Most tokens of one frame. */
  tokensPerFrame: number;
  /** Frames joined at once. The predictor does not change while blanks are written, so their rows are right; those after a token are lost. */
  ahead: number;
}

/**
 * Greedy decoding of a transducer: at each frame the likeliest token, until that is the blank; then the next frame, or with durations the one
 * that they say.
 * @param encoded [width x frames], row-major
 */
export async function greedy<State>(
  encoded: Float32Array,
  frames: number,
  joint: Joint<State>,
  { tokens, blank, durations, tokensPerFrame, ahead }: Transducer,
  check: () => void,
): Promise<Emission[]> {
  const emissions: Emission[] = [];
  let { start: state } = joint;
  let token = blank; // which also stands for the start
  let inFrame = 0; // tokens written in the present frame
  for (let frame = 0; frame < frames; ) {
    check();
    const count = Math.min(ahead, frames - frame);
    const { logits, state: next } = await joint.run(columns(encoded, frames, frame, count), count, token, state);
    const width = tokens + durations;
    for (let i = 0; i < count; ) {
      const from = i * width;
      const chosen = likeliestOf(logits, from, from + tokens);
      const duration = durations ? likeliestOf(logits, from + tokens, from + width) : 0;
      if (chosen === blank) {
        i += Math.max(1, duration);
        frame += Math.max(1, duration);
        inFrame = 0;
        continue;
      }
      const end = Math.min(frames, frame + Math.max(1, duration));
      emissions.push({ token: chosen, first: frame, end, logProb: logProbOf(logits, from, from + tokens, chosen) });
      [token, state] = [chosen, next];
      inFrame = duration ? 0 : inFrame + 1;
      const stuck = inFrame === tokensPerFrame;
      if (stuck) inFrame = 0;
      frame += stuck ? 1 : duration;
      break;
    }
  }
  return emissions;
}

/** Frames [from, from + count) of the encoder's output: [width x count]. */
function columns(encoded: Float32Array, frames: number, from: number, count: number): Float32Array {
  const width = encoded.length / frames;
  const part = new Float32Array(width * count);
  for (let row = 0; row < width; row++) part.set(encoded.subarray(row * frames + from, row * frames + from + count), row * count);
  return part;
}
