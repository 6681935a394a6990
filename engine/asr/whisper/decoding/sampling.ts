import { speechBetween } from '../../speech.ts';
import { type Facts, FORBIDDEN } from '../model.ts';
import { MAX_OVERRIDES, MAX_SKIPPED_SECONDS } from '../thresholds.ts';
import type { Prediction } from './batch.ts';
import { type Allowed, speechLeft } from './constraints.ts';
import type { Hypothesis } from './decode-job.ts';

export interface Choice {
  token: number;
  logProb: number;
}

/** Scores of a row's next token under the rules. A log-probability is a logit minus `lse`. */
export interface Scores {
  /** The most probable token that is not a timestamp, and its logit. */
  textId: number;
  textMax: number;
  timeId: number;
  timeMax: number;
  /** Log-sum-exp of timestamps and of all allowed tokens. */
  timeLse: number;
  lse: number;
}

/** Scores the next token of row `i`; requires text logits if some text is forbidden. */
export function weigh(prediction: Prediction, i: number, may: Allowed, { endOfText, vocabulary }: Facts): Scores {
  const special = prediction.special.subarray(i * (vocabulary - endOfText), (i + 1) * (vocabulary - endOfText));
  const text = may.text ? textOf(prediction, i, may, endOfText) : NO_TOKEN;
  const time = summary(special, may.from - endOfText, may.to - endOfText);
  const end = may.endOfText ? special[0]! : FORBIDDEN;
  const ends = end > text.max;
  return {
    textId: ends ? endOfText : text.id,
    textMax: ends ? end : text.max,
    timeId: time.id + endOfText,
    timeMax: time.max,
    timeLse: time.lse,
    lse: lseOf([text.lse, time.lse, end]),
  };
}

interface Summary {
  id: number;
  max: number;
  lse: number;
}

const NO_TOKEN: Summary = { id: 0, max: FORBIDDEN, lse: FORBIDDEN };

function textOf({ textId, textMax, textLse, text }: Prediction, i: number, { except }: Allowed, endOfText: number): Summary {
  if (except.length === 0) return { id: Number(textId[i]), max: textMax[i]!, lse: textLse[i]! };
  const logits = text!.slice(i * endOfText, (i + 1) * endOfText);
  for (const id of except) logits[id] = FORBIDDEN;
  return summary(logits, 0, endOfText);
}

const NEGLIGIBLE_LOGIT = -30; // below the highest logit: negligible in a sum

/** Maximum and log-sum-exp of the logits [from, to). */
function summary(logits: Float32Array, from: number, to: number): Summary {
  let id = from;
  for (let k = from + 1; k < to; k++) if (logits[k]! > logits[id]!) id = k;
  if (id >= to) return NO_TOKEN;
  const max = logits[id]!;
  let sum = 0;
  for (let k = from; k < to; k++) if (logits[k]! > max + NEGLIGIBLE_LOGIT) sum += Math.exp(logits[k]! - max);
  return { id, max, lse: max + Math.log(sum) };
}

/** Log-sum-exp. */
export function lseOf(logits: readonly number[]): number {
  const max = Math.max(...logits);
  return max + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - max), 0));
}

/** Whether the next token is a timestamp: all timestamps together are more probable than any single text token. */
export function isTimed({ timeLse, textMax }: Scores): boolean {
  return timeLse > textMax;
}

/** The most probable token under the rules. */
export function greedy(scores: Scores): Choice {
  const { textId, textMax, timeId, timeMax, lse } = scores;
  return isTimed(scores) ? { token: timeId, logProb: timeMax - lse } : { token: textId, logProb: textMax - lse };
}

/** Samples a token at a temperature; its log-probability is that at temperature 1. `logits`: those of `logitsOf`. */
export function sample(logits: Float32Array, scores: Scores, facts: Facts, temperature: number, random: () => number): Choice {
  const [from, to] = drawn(scores, facts);
  let highest = FORBIDDEN;
  for (let id = from; id < to; id++) if (logits[id]! > highest) highest = logits[id]!;
  let sum = 0;
  for (let id = from; id < to; id++) sum += Math.exp((logits[id]! - highest) / temperature);
  let left = random() * sum;
  let token = from;
  for (; token < to - 1; token++) {
    left -= Math.exp((logits[token]! - highest) / temperature);
    if (left <= 0) break;
  }
  return { token, logProb: logits[token]! - scores.lse };
}

/** The `count` most probable tokens, best first. `logits`: those of `logitsOf`. */
export function most(logits: Float32Array, scores: Scores, facts: Facts, count: number): Choice[] {
  const [from, to] = drawn(scores, facts);
  const best: Choice[] = [];
  let lowest = FORBIDDEN / 2;
  for (let id = from; id < to; id++) {
    if (logits[id]! <= lowest) continue;
    let at = best.length;
    while (at > 0 && best[at - 1]!.logProb < logits[id]!) at--;
    best.splice(at, 0, { token: id, logProb: logits[id]! });
    if (best.length > count) best.pop();
    if (best.length === count) lowest = best.at(-1)!.logProb;
  }
  return best.map(({ token, logProb }) => ({ token, logProb: logProb - scores.lse }));
}

/** The ids [from, to) to sample from. */
function drawn(scores: Scores, facts: Facts): [number, number] {
  return isTimed(scores) ? [facts.firstTimestamp, facts.vocabulary] : [0, facts.vocabulary];
}

/** Logits [vocabulary] of row `i`, FORBIDDEN for forbidden tokens; requires text logits. */
export function logitsOf(prediction: Prediction, i: number, may: Allowed, facts: Facts): Float32Array {
  const { endOfText, vocabulary, suppressed } = facts;
  const logits = new Float32Array(vocabulary).fill(FORBIDDEN);
  const special = i * (vocabulary - endOfText) - endOfText; // where id 0 would be
  if (may.text) {
    logits.set(prediction.text!.subarray(i * endOfText, (i + 1) * endOfText));
    for (const id of [...suppressed, ...may.except]) logits[id] = FORBIDDEN;
  }
  if (may.endOfText) logits[endOfText] = prediction.special[special + endOfText]!;
  if (may.from < may.to) logits.set(prediction.special.subarray(special + may.from, special + may.to), may.from);
  return logits;
}

/**
 * Corrects the decoder by speech detection: end-of-text before the end of speech, and a new segment that jumps over speech, become the
 * timestamp where speech continues. Null: the choice stands.
 */
export function corrected(token: number, row: Hypothesis, facts: Facts): number | null {
  const { job, tokens } = row;
  if (!job.options.speechAware || row.resumed.length >= MAX_OVERRIDES + row.cuts.length) return null;
  if (token === facts.endOfText) return speechLeft(tokens, job.speech, facts);
  const last = tokens.at(-1);
  if (token < facts.firstTimestamp || last === undefined || last < facts.firstTimestamp || token <= last) return null;
  const seconds = (t: number) => (t - facts.firstTimestamp) * facts.tick;
  if (speechBetween(job.speech, seconds(last), seconds(token)) < MAX_SKIPPED_SECONDS) return null;
  const next = speechLeft(tokens, job.speech, facts);
  return next !== null && next < token ? next : null;
}

/** Reproducible random numbers in [0, 1): mulberry32. */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
