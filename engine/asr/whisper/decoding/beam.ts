import { repeats } from '../guards/loops.ts';
import { allowed } from './constraints.ts';
import type { DecodeJob, Hypothesis, Step } from './decode-job.ts';
import { type Choice, corrected, isTimed, logitsOf, most, type Scores, weigh } from './sampling.ts';

interface Candidate {
  parent: Hypothesis;
  token: number;
  logProb: number;
  score: number;
  /** The score by which candidates compete: with the bonus for terms of the vocabulary. */
  rank: number;
  overruled: boolean;
}

/** Advances all rows of a job by one token: the best continuations become its rows, up to the beam size. True if the search is over. */
export function advance(job: DecodeJob, group: readonly Hypothesis[], step: Step): boolean {
  const { endOfText } = step.facts;
  const kept: Candidate[] = [];
  for (const candidate of candidates(job, group, step)) {
    if (candidate.token === endOfText) job.finished.push(child(candidate, step));
    else if (!repeats([...candidate.parent.tokens, candidate.token])) kept.push(candidate);
    if (kept.length === job.options.beamSize) break;
  }
  const first = kept[0];
  if (!first || job.finished.length >= job.options.beamSize || first.parent.tokens.length + 1 >= job.limit) return true;
  replace(group, kept, step);
  return false;
}

/** The hypothesis of a job with the highest mean log-probability, with any bonus, among finished ones if there are any. */
export function best(job: DecodeJob, rows: readonly Hypothesis[]): Hypothesis {
  const pool = job.finished.length ? job.finished : rows.filter((row) => row.job === job);
  return pool.reduce((a, b) => (mean(b) > mean(a) ? b : a));
}

function mean(row: Hypothesis): number {
  return (row.score + (row.job.vocabulary?.bonus(row) ?? 0)) / (row.tokens.length + 1);
}

function candidates(job: DecodeJob, group: readonly Hypothesis[], { facts, prediction, numbers }: Step): Candidate[] {
  const found: Candidate[] = [];
  for (const parent of group) {
    const i = numbers.get(parent)!;
    const may = allowed(parent.tokens, facts, job.options.timestamps, parent.resumed);
    const scores = weigh(prediction, i, may, facts);
    const logits = logitsOf(prediction, i, may, facts);
    const choices = most(logits, scores, facts, job.options.beamSize + 1);
    for (const { token, logProb } of [...choices, ...preferred(parent, logits, scores)]) {
      const better = corrected(token, parent, facts);
      const score = parent.score + logProb;
      const after = { tokens: [...parent.tokens, token], logProbs: [...parent.logProbs, logProb] };
      const rank = score + (job.vocabulary?.bonus(after) ?? 0);
      found.push({ parent, token: better ?? token, logProb, score, rank, overruled: better !== null });
    }
  }
  return distinct(found.sort((a, b) => b.rank - a.rank));
}

/** Likely tokens of terms of the vocabulary, where text comes next. */
function preferred(row: Hypothesis, logits: Float32Array, scores: Scores): Choice[] {
  const { vocabulary } = row.job;
  if (!vocabulary || isTimed(scores)) return [];
  return vocabulary.likely(row, logits, scores.lse).map(({ token }) => ({ token, logProb: logits[token]! - scores.lse }));
}

/**
 * Keeps the first of candidates that continue a hypothesis with the same token: end-of-text and jumps over speech are corrected to the same
 * timestamp, and a beam of copies searches nothing.
 */
function distinct(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Map<Hypothesis, Set<number>>();
  return candidates.filter(({ parent, token }) => {
    const tokens = seen.get(parent) ?? new Set();
    seen.set(parent, tokens);
    return !tokens.has(token) && tokens.add(token);
  });
}

/** The row that a candidate becomes. */
function child({ parent, token, logProb, score, overruled }: Candidate, { facts, prediction, numbers, shares }: Step): Hypothesis {
  const width = prediction.align.length / prediction.textMax.length;
  const at = numbers.get(parent)! * width;
  const ended = token === facts.endOfText;
  return {
    ...parent,
    feed: token,
    tokens: ended ? parent.tokens : [...parent.tokens, token],
    logProbs: ended ? parent.logProbs : [...parent.logProbs, logProb],
    attention: [...parent.attention, shares.keep(prediction.align, at, width)],
    score,
    resumed: overruled ? [...parent.resumed, parent.tokens.length] : parent.resumed,
  };
}

/** Puts candidates in the rows of their parents; rows without a child are given to siblings, missing rows are added, spare ones removed. */
function replace(group: readonly Hypothesis[], kept: readonly Candidate[], step: Step): void {
  const { rows, batch } = step;
  const children = new Map<Hypothesis, Hypothesis[]>();
  for (const candidate of kept) children.set(candidate.parent, [...(children.get(candidate.parent) ?? []), child(candidate, step)]);
  const spare = group.filter((row) => !children.has(row));
  for (const [parent, [heir, ...others]] of children) {
    const place = rows.indexOf(parent);
    rows[place] = heir!;
    for (const other of others) {
      const free = spare.pop();
      if (free) {
        const at = rows.indexOf(free);
        batch.follow(at, place);
        rows[at] = other;
      } else rows[batch.fork(place)] = other;
    }
  }
  for (const row of spare) {
    const at = rows.indexOf(row);
    batch.remove(at);
    const last = rows.pop()!;
    if (at < rows.length) rows[at] = last;
  }
}
