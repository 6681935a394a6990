import type { SaidTurn } from './said.ts';
import { type Asked, asked, formsOf, skim } from './words.ts';

/** A position in a recording that matches a search. */
export interface Hit {
  /** Id of the segment. */
  segment: number;
  /** Seconds. */
  start: number;
  speaker_id: string | null;
  text: string;
}

interface Scored {
  turn: SaidTurn;
  /** Number of search words in the turn. */
  score: number;
}

/** The `most` turns with the most search words, in chronological order. */
export function hitsOf(turns: readonly SaidTurn[], text: string, most: number): Hit[] {
  const words = asked(text);
  let best: Scored[] = [];
  for (const { turn, score: possible } of likely(turns, words)) {
    const last = best[most - 1];
    if (last && better(last, { turn, score: possible }) < 0) break;
    const forms = formsOf(turn.text);
    const score = words.filter(({ whole, parts }) => forms.has(whole) || parts.every((part) => forms.has(part))).length;
    if (score) best = [...best, { turn, score }].sort(better).slice(0, most);
  }
  return best
    .map(({ turn }) => turn)
    .sort((a, b) => a.id - b.id)
    .map(({ id, start, speaker, text }) => ({ segment: id, start, speaker_id: speaker, text }));
}

/** The turns that may contain search words, with the highest possible score, best first. */
function likely(turns: readonly SaidTurn[], words: readonly Asked[]): Scored[] {
  const skimmed = words.map(({ whole, parts }) => [[skim(whole)], parts.map(skim)]);
  return turns
    .map((turn) => {
      const said = skim(turn.text);
      return { turn, score: skimmed.filter((ways) => ways.some((way) => way.every((form) => said.includes(form)))).length };
    })
    .filter(({ score }) => score)
    .sort(better);
}

const better = (a: Scored, b: Scored) => b.score - a.score || a.turn.id - b.turn.id;
