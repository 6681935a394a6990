import type { Segment } from '../types.ts';
import type { SaidWord } from './attribute.ts';

const PAUSE = 2; // seconds of silence after which a new segment starts
const LONGEST = 60; // seconds a segment may last

/**
 * Words to segments: a new one when the speaker changes, after a pause of more than 2 s, and at 60 s on a word boundary.
 * Ids run from 1; starts never go back; times lie within 0 and the duration, to the millisecond; speakers are numbered by first appearance.
 * @param words in order of their starts
 */
export function toSegments(words: readonly SaidWord[], durationSeconds: number): Segment[] {
  const duration = Math.floor(durationSeconds * 1000) / 1000;
  const groups: SaidWord[][] = [];
  for (const word of inOrder(words, duration)) {
    const group = groups.at(-1);
    if (group && follows(group, word)) group.push(word);
    else groups.push([word]);
  }
  const names = new Map<number, number>();
  const spoken = groups
    .map((group) => ({
      group,
      text: group
        .map((word) => word.text)
        .join('')
        .trim(),
    }))
    .filter(({ text }) => text);
  return spoken.map(({ group, text }, i) => {
    const { speaker } = group[0]!;
    if (speaker !== null && !names.has(speaker)) names.set(speaker, names.size);
    const end = Math.max(...group.map((word) => word.end));
    const words = group.map(({ speaker: _, ...word }) => word);
    return { id: i + 1, start: group[0]!.start, end, speaker: speaker === null ? null : names.get(speaker)!, text, words };
  });
}

/** Words of several channels or windows in one order, with times that never run backwards or past the end. */
function inOrder(words: readonly SaidWord[], duration: number): SaidWord[] {
  const millis = (seconds: number) => Math.min(duration, Math.max(0, Math.round(seconds * 1000) / 1000));
  let latest = 0;
  return words
    .toSorted((a, b) => a.start - b.start)
    .map((word) => {
      latest = Math.max(latest, millis(word.start));
      return { ...word, start: latest, end: Math.max(latest, millis(word.end)) };
    });
}

function follows(group: SaidWord[], word: SaidWord): boolean {
  const [first, last] = [group[0]!, group.at(-1)!];
  return word.speaker === last.speaker && word.start - last.end <= PAUSE && word.end - first.start <= LONGEST;
}
