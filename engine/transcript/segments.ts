import { milli } from '../../api/contract/seconds.ts';
import type { Segment } from '../types.ts';
import type { SaidWord } from './attribute.ts';

const SEGMENT_PAUSE_SECONDS = 2; // seconds of silence that start a new segment
const MAX_SEGMENT_SECONDS = 60; // longest segment, seconds

const PHRASE_PAUSE_SECONDS = 0.5; // seconds of silence that end a phrase where two parties may overlap

/**
 * Groups words into segments: a new one when the speaker changes, after a pause of more than 2 s, and at 60 s on a word boundary. Ids start
 * at 1; starts never decrease; times are between 0 and the duration, in milliseconds; speakers are numbered by first appearance. In calls
 * with overlapping parties, phrases are kept whole.
 * @param words ordered by start, of one channel or of both
 */
export function toSegments(words: readonly SaidWord[], durationSeconds: number): Segment[] {
  const duration = Math.floor(durationSeconds * 1000) / 1000;
  const groups: SaidWord[][] = [];
  for (const phrase of phrases(words)) {
    for (const [i, word] of inOrder(phrase, duration).entries()) {
      const group = groups.at(-1);
      if (group && follows(group, word, i > 0)) group.push(word);
      else groups.push([word]);
    }
  }
  return numbered(groups);
}

/** Groups words that stay together: single words in one stream; in a call, whatever a party says without a pause. Ordered by start. */
function phrases(words: readonly SaidWord[]): SaidWord[][] {
  const spoken = words.toSorted((a, b) => a.start - b.start);
  if (spoken.every((word) => word.channel === undefined)) return [spoken];
  const found: SaidWord[][] = [];
  const latest = new Map<number | undefined, SaidWord[]>();
  for (const word of spoken) {
    const phrase = latest.get(word.channel);
    if (phrase && word.start - phrase.at(-1)!.end <= PHRASE_PAUSE_SECONDS) phrase.push(word);
    else latest.set(word.channel, found[found.push([word]) - 1]!);
  }
  return found;
}

/** Clamps times to milliseconds that never decrease or exceed the duration. */
function inOrder(words: readonly SaidWord[], duration: number): SaidWord[] {
  const placed = (seconds: number) => Math.min(duration, Math.max(0, milli(seconds)));
  let latest = 0;
  return words.map((word) => {
    latest = Math.max(latest, placed(word.start));
    return { ...word, start: latest, end: Math.max(latest, placed(word.end)) };
  });
}

/** Whether a word continues a segment. Within a phrase only the segment's length can end it. */
function follows(group: SaidWord[], word: SaidWord, samePhrase: boolean): boolean {
  const [first, last] = [group[0]!, group.at(-1)!];
  const together = word.speaker === last.speaker && (samePhrase || word.start >= last.start);
  return together && word.start - last.end <= SEGMENT_PAUSE_SECONDS && word.end - first.start <= MAX_SEGMENT_SECONDS;
}

function numbered(groups: SaidWord[][]): Segment[] {
  const names = new Map<number, number>();
  const segments: Segment[] = [];
  for (const group of groups.toSorted((a, b) => a[0]!.start - b[0]!.start)) {
    const text = group
      .map((word) => word.text)
      .join('')
      .trim();
    if (!text) continue;
    const { speaker, start } = group[0]!;
    if (speaker !== null && !names.has(speaker)) names.set(speaker, names.size);
    const words = group.map(({ speaker: _, ...word }) => word);
    const end = Math.max(...words.map((word) => word.end));
    segments.push({ id: segments.length + 1, start, end, speaker: speaker === null ? null : names.get(speaker)!, text, words });
  }
  return segments;
}
