import type { Prediction } from './batch.ts';
import { type Facts, NEVER } from './model.ts';
import type { Row } from './row.ts';
import { speechBetween, speechLeft } from './rules.ts';

const LEAP = 0.6; // seconds of speech that a new segment may not leap over
const REFUSALS = 4; // per attempt: then the model knows better

export interface Choice {
  token: number;
  logProb: number;
}

/** Whether the next token is a timestamp: all timestamps together beat every single text token. */
export function isTimed(prediction: Prediction, i: number): boolean {
  return Math.max(prediction.timeLse[i]!, prediction.timeMax[i]!) > prediction.textMax[i]!;
}

/** The most probable token of row `i` under the timestamp rules. */
export function greedy(prediction: Prediction, i: number, facts: Facts, timestamps: boolean): Choice {
  const timed = timestamps && isTimed(prediction, i);
  const token = timed ? facts.firstTimestamp + Number(prediction.timeId[i]) : Number(prediction.textId[i]);
  return { token, logProb: (timed ? prediction.timeMax : prediction.textMax)[i]! - prediction.lse[i]! };
}

/** A token drawn from the probabilities at a temperature; its log-probability is that at temperature 1. */
export function sample(
  prediction: Prediction,
  i: number,
  facts: Facts,
  timestamps: boolean,
  temperature: number,
  random: () => number,
): Choice {
  const [from, to] = allowed(prediction, i, facts, timestamps);
  const logits = prediction.logits!.subarray(i * facts.vocabulary, (i + 1) * facts.vocabulary);
  let highest = NEVER;
  for (let id = from; id < to; id++) if (logits[id]! > highest) highest = logits[id]!;
  let sum = 0;
  for (let id = from; id < to; id++) sum += Math.exp((logits[id]! - highest) / temperature);
  let left = random() * sum;
  let token = from;
  for (; token < to - 1; token++) {
    left -= Math.exp((logits[token]! - highest) / temperature);
    if (left <= 0) break;
  }
  return { token, logProb: logits[token]! - prediction.lse[i]! };
}

/** The `count` most probable tokens of row `i`, best first. */
export function most(prediction: Prediction, i: number, facts: Facts, timestamps: boolean, count: number): Choice[] {
  const [from, to] = allowed(prediction, i, facts, timestamps);
  const logits = prediction.logits!.subarray(i * facts.vocabulary, (i + 1) * facts.vocabulary);
  const best: Choice[] = [];
  let lowest = NEVER / 2;
  for (let id = from; id < to; id++) {
    if (logits[id]! <= lowest) continue;
    let at = best.length;
    while (at > 0 && best[at - 1]!.logProb < logits[id]!) at--;
    best.splice(at, 0, { token: id, logProb: logits[id]! });
    if (best.length > count) best.pop();
    if (best.length === count) lowest = best.at(-1)!.logProb;
  }
  return best.map(({ token, logProb }) => ({ token, logProb: logProb - prediction.lse[i]! }));
}

function allowed(prediction: Prediction, i: number, facts: Facts, timestamps: boolean): [number, number] {
  if (!timestamps) return [0, facts.firstTimestamp];
  return isTimed(prediction, i) ? [facts.firstTimestamp, facts.vocabulary] : [0, facts.vocabulary];
}

/**
 * What speech detection knows better than the decoder: end-of-text before the speech ends, and a new segment that leaps over speech, become
 * the timestamp where speech goes on. Null: the choice stands.
 */
export function corrected(token: number, row: Row, facts: Facts): number | null {
  const { task, tokens } = row;
  if (!task.manner.speechAware || row.resumed.length >= REFUSALS) return null;
  if (token === facts.endOfText) return speechLeft(tokens, task.speech, facts);
  const last = tokens.at(-1);
  if (token < facts.firstTimestamp || last === undefined || last < facts.firstTimestamp || token <= last) return null;
  const seconds = (t: number) => (t - facts.firstTimestamp) * facts.tick;
  if (speechBetween(task.speech, seconds(last), seconds(token)) < LEAP) return null;
  const next = speechLeft(tokens, task.speech, facts);
  return next !== null && next < token ? next : null;
}

/** Numbers in [0, 1), the same every time: mulberry32. */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
