import { logProbOf } from '../frames/probability.ts';
import type { Emission } from '../frames/words.ts';
import { align } from './alignment.ts';
import type { Progress, Vocabulary } from './vocabulary.ts';

export interface BeamOptions {
  /** Texts kept after each frame. */
  size: number;
  /** Tokens less probable than this in a frame are ignored there; natural logarithm. */
  least: number;
}

export const BEAM: BeamOptions = { size: 12, least: -9 };

/** A text: its tokens as a list from the last one. Probabilities are natural logarithms of the sums over all its paths. */
interface Text {
  token: number;
  before: Text | null;
  /** Texts that continue it, by token: so that the same tokens are one object. */
  after: Map<number, Text>;
  progress: Progress;
  /** Of paths that end with a blank, and with its last token. */
  blank: number;
  last: number;
}

/**
 * The most probable text of CTC, with a bonus for terms of a vocabulary: prefix beam search. Unlike greedy decoding it adds up all the paths
 * of frames that stand for the same text.
 * @param logits [frames x tokens], row-major; they may be unnormalised
 */
export function beamSearch(
  logits: Float32Array,
  frames: number,
  tokens: number,
  blank: number,
  vocabulary: Vocabulary,
  options: BeamOptions = BEAM,
): Emission[] {
  const start: Text = { token: blank, before: null, after: new Map(), progress: vocabulary.start, blank: 0, last: NEVER };
  const logProbs = normalised(logits, frames, tokens);
  let beam = [start];
  for (let frame = 0; frame < frames; frame++) {
    const row = logProbs.subarray(frame * tokens, (frame + 1) * tokens);
    beam = advance(beam, row, blank, vocabulary, options);
  }
  const score = (text: Text) => sum(text.blank, text.last) + vocabulary.total(text.progress);
  const best = beam.reduce((a, b) => (score(b) > score(a) ? b : a));
  return align(logProbs, frames, tokens, blank, tokensOf(best));
}

const NEVER = Number.NEGATIVE_INFINITY;

/** The texts after one more frame, most probable first. */
function advance(beam: readonly Text[], row: Float32Array, blank: number, vocabulary: Vocabulary, { size, least }: BeamOptions): Text[] {
  const next = new Map<Text, { blank: number; last: number }>();
  const at = (text: Text) => {
    const known = next.get(text);
    if (known) return known;
    const fresh = { blank: NEVER, last: NEVER };
    next.set(text, fresh);
    return fresh;
  };
  const usual = [...row.keys()].filter((token) => token !== blank && row[token]! >= least);
  for (const text of beam) {
    const own = at(text);
    own.blank = sum(own.blank, sum(text.blank, text.last) + row[blank]!);
    if (text.before) own.last = sum(own.last, text.last + row[text.token]!);
    for (const token of usual) {
      const before = token === text.token && text.before ? text.blank : sum(text.blank, text.last);
      if (before === NEVER) continue;
      const following = at(continued(text, token, vocabulary));
      following.last = sum(following.last, before + row[token]!);
    }
  }
  const scored = [...next].map(([text, found]) => ({ text, found, score: sum(found.blank, found.last) + text.progress.pending }));
  scored.sort((a, b) => b.score - a.score);
  return scored.slice(0, size).map(({ text, found }) => Object.assign(text, found));
}

function continued(text: Text, token: number, vocabulary: Vocabulary): Text {
  const known = text.after.get(token);
  if (known) return known;
  const progress = vocabulary.advance(text.progress, token);
  const fresh: Text = { token, before: text, after: new Map(), progress, blank: NEVER, last: NEVER };
  text.after.set(token, fresh);
  return fresh;
}

function tokensOf(text: Text): number[] {
  const tokens: number[] = [];
  for (let at: Text | null = text; at?.before; at = at.before) tokens.unshift(at.token);
  return tokens;
}

/** Logarithm of the sum of two probabilities given as logarithms. */
function sum(a: number, b: number): number {
  const [most, least] = a > b ? [a, b] : [b, a];
  return least === NEVER ? most : most + Math.log1p(Math.exp(least - most));
}

function normalised(logits: Float32Array, frames: number, tokens: number): Float32Array {
  const logProbs = logits.slice(0, frames * tokens);
  for (let frame = 0; frame < frames; frame++) {
    const [from, to] = [frame * tokens, (frame + 1) * tokens];
    const shift = logProbs[from]! - logProbOf(logits, from, to, 0);
    for (let i = from; i < to; i++) logProbs[i]! -= shift;
  }
  return logProbs;
}
