import { similarity } from './rank.ts';
import type { Sentence } from './sentences.ts';
import type { Talk } from './talk.ts';

const ALIKE = 0.5; // cosine above which two sentences count as duplicates
const BLOCKS = 5; // parts of the recording that share the available lines
const POOL = 12; // candidates examined per line

/**
 * The best `count` sentences in chronological order. Maximal marginal relevance (Carbonell and Goldstein 1998): a sentence is penalised for
 * repetition, and if its speaker or part of the recording already has its share.
 */
export function pick(talk: Talk, candidates: readonly Sentence[], count: number): Sentence[] {
  if (candidates.length <= count && count < 3) return [...candidates];
  const pool = [...candidates].sort((a, b) => score(talk, b) - score(talk, a) || a.index - b.index).slice(0, count * POOL + 30);
  const chosen: Sentence[] = [];
  const taken = new Map<string, number>();
  const places = placesOf(talk, count);
  const repeats = pool.map(() => 0);
  while (chosen.length < count && pool.length > 0) {
    let best = -1;
    let most = 0;
    for (let at = 0; at < pool.length; at++) {
      if (repeats[at]! > ALIKE) continue;
      let worth = score(talk, pool[at]!) * (1 - repeats[at]!);
      for (const group of groupsOf(talk, pool[at]!)) if ((taken.get(group) ?? 0) >= (places.get(group) ?? 1)) worth *= 0.75;
      if (worth > most) [best, most] = [at, worth];
    }
    if (best < 0) break;
    const sentence = pool.splice(best, 1)[0]!;
    repeats.splice(best, 1);
    chosen.push(sentence);
    for (const group of groupsOf(talk, sentence)) taken.set(group, (taken.get(group) ?? 0) + 1);
    for (let at = 0; at < pool.length; at++) repeats[at] = Math.max(repeats[at]!, similarity(talk.matrix, sentence.index, pool[at]!.index));
  }
  return chosen.sort((a, b) => a.index - b.index);
}

function score(talk: Talk, sentence: Sentence): number {
  return talk.scores[sentence.index]!;
}

function groupsOf(talk: Talk, sentence: Sentence): [string, string] {
  return [`speaker ${sentence.speaker}`, `part ${Math.floor((sentence.index * BLOCKS) / talk.sentences.length)}`];
}

function placesOf(talk: Talk, count: number): Map<string, number> {
  const places = new Map(talk.speakers.map((speaker) => [`speaker ${speaker.label}`, Math.max(1, Math.ceil(speaker.share * count))]));
  for (let block = 0; block < BLOCKS; block++) places.set(`part ${block}`, Math.max(1, Math.ceil(count / BLOCKS)));
  return places;
}

/** Sentences that match any of these cues, best `limit` in chronological order. Short ones, such as greetings, count too. */
export function strongest(talk: Talk, candidates: readonly Sentence[], limit: number): Sentence[] {
  if (candidates.length <= limit) return [...candidates];
  return [...candidates]
    .sort((a, b) => score(talk, b) - score(talk, a) || a.index - b.index)
    .slice(0, limit)
    .sort((a, b) => a.index - b.index);
}
