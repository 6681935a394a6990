import type { Shares } from './attention-store.ts';
import type { Batch, Prediction } from './batch.ts';
import { allowed } from './constraints.ts';
import type { Row, Task } from './decode-job.ts';
import type { Facts } from './model.ts';
import { corrected, logitsOf, most, weigh } from './sampling.ts';

interface Step {
  facts: Facts;
  prediction: Prediction;
  /** Number of each row in `prediction`. */
  numbers: ReadonlyMap<Row, number>;
  /** The rows of the batch, by their number there now. */
  rows: Row[];
  batch: Batch;
  shares: Shares;
}

interface Candidate {
  parent: Row;
  token: number;
  logProb: number;
  score: number;
  overruled: boolean;
}

/**
 * Goes one token on with the rows of one task: the best continuations of all of them become its rows, up to the width of the beam.
 * True when the search is over.
 */
export function advance(task: Task, group: readonly Row[], step: Step): boolean {
  const { endOfText } = step.facts;
  const kept: Candidate[] = [];
  for (const candidate of candidates(task, group, step)) {
    if (candidate.token === endOfText) task.finished.push(child(candidate, step));
    else kept.push(candidate);
    if (kept.length === task.manner.beams) break;
  }
  const first = kept[0];
  if (!first || task.finished.length >= task.manner.beams || first.parent.tokens.length + 1 >= task.limit) return true;
  replace(group, kept, step);
  return false;
}

/** The hypothesis of a task with the highest mean log-probability: of those that ended, if any did. */
export function best(task: Task, rows: readonly Row[]): Row {
  const pool = task.finished.length ? task.finished : rows.filter((row) => row.task === task);
  return pool.reduce((a, b) => (mean(b) > mean(a) ? b : a));
}

function mean(row: Row): number {
  return row.score / (row.tokens.length + 1);
}

function candidates(task: Task, group: readonly Row[], { facts, prediction, numbers }: Step): Candidate[] {
  const found: Candidate[] = [];
  for (const parent of group) {
    const i = numbers.get(parent)!;
    const may = allowed(parent.tokens, facts, task.manner.timestamps, parent.resumed);
    const scores = weigh(prediction, i, may, facts);
    for (const { token, logProb } of most(logitsOf(prediction, i, may, facts), scores, facts, task.manner.beams + 1)) {
      const better = corrected(token, parent, facts);
      found.push({ parent, token: better ?? token, logProb, score: parent.score + logProb, overruled: better !== null });
    }
  }
  return found.sort((a, b) => b.score - a.score);
}

/** The row that a candidate becomes. */
function child({ parent, token, logProb, score, overruled }: Candidate, { facts, prediction, numbers, shares }: Step): Row {
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

/** Puts the candidates in the places of their parents; places without a child are given to siblings, new ones are made, spare ones left. */
function replace(group: readonly Row[], kept: readonly Candidate[], step: Step): void {
  const { rows, batch } = step;
  const children = new Map<Row, Row[]>();
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
