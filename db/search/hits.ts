import type { SaidTurn } from './said.ts';
import { asked, formsOf, skim } from './words.ts';

/** A position in a recording that matches a search. */
export interface Hit {
  /** Id of the segment. */
  segment: number;
  /** Seconds. */
  start: number;
  speaker_id: string | null;
  text: string;
}

/** The `most` turns with the most search words, in chronological order. */
export function hitsOf(turns: readonly SaidTurn[], text: string, most: number): Hit[] {
  const words = asked(text);
  const found: { turn: SaidTurn; score: number }[] = [];
  const skimmed = words.map(({ whole, parts }) => [[skim(whole)], parts.map(skim)]);
  for (const turn of turns) {
    const folded = skim(turn.text);
    if (!skimmed.some((ways) => ways.some((way) => way.every((form) => folded.includes(form))))) continue;
    const forms = formsOf(turn.text);
    const score = words.filter(({ whole, parts }) => forms.has(whole) || parts.every((part) => forms.has(part))).length;
    if (score) found.push({ turn, score });
    if (score === words.length && found.filter((each) => each.score === score).length === most) break;
  }
  const best = found.sort((a, b) => b.score - a.score || a.turn.id - b.turn.id).slice(0, most);
  return best
    .map(({ turn }) => turn)
    .sort((a, b) => a.id - b.id)
    .map(({ id, start, speaker, text }) => ({ segment: id, start, speaker_id: speaker, text }));
}
