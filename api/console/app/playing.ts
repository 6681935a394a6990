import type { Segment } from './types.ts';

/** The last of `items` that has begun at `seconds`, in order of their starts; -1: none has. */
export function begun(items: readonly { start: number | null }[], seconds: number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle]!.start ?? 0) <= seconds) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

let said: { at: string; word: Element } | null = null; // the word that is marked

/**
 * Marks the word that is being said, directly in the DOM: pages of thousands of words are not re-rendered for each. Called for every picture
 * that the browser draws; the page is searched only when another word begins.
 */
export function markWord(segments: readonly Segment[], seconds: number): void {
  const segment = segments[begun(segments, seconds)];
  const index = segment?.words ? begun(segment.words, seconds) : -1;
  const at = `${segment?.id} ${index}`;
  if (said?.at === at && said.word.isConnected) return;
  said?.word.classList.remove('said');
  const word = index < 0 ? undefined : document.getElementById(`turn-${segment!.id}`)?.getElementsByClassName('word')[index];
  word?.classList.add('said');
  said = word ? { at, word } : null; // null: nothing is said, or its turn is not mounted yet
}

/** Why a file is hardly the recording: its length differs by more than containers and encoders make it differ. Null: it may be. */
export function lengthProblem(found: number, wanted: number | null): { found: number; wanted: number } | null {
  if (wanted === null || !Number.isFinite(found)) return null;
  return Math.abs(found - wanted) <= Math.max(2, wanted / 100) ? null : { found, wanted };
}
