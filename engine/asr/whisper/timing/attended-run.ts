import { WEIGHTS } from './attention-store.ts';

/** Indices of the frames with speech, [first, end). */
export interface Range {
  first: number;
  end: number;
}

/**
 * Attention per frame that shows where a word is, relative to that in its longest run. Of 12 sounds before three clips and of a test's, it is 2.3
 * to 70 times as much at the first word. Of the first words of 101 real recordings it is at most as much, except at edges shorter than SHORTEST_SECONDS.
 */
const CLEARLY_MORE = 2;
const SHORTEST_SECONDS = 0.1; // of a run that may be the word: attention at its edge belongs to the next one

/**
 * Which run between pauses a word keeps: the longest, unless it clearly attends to another one. Every frame belongs to a word, so sound
 * before, between or after words that detection takes for a voice, as of a siren or a flute, falls to one beside it.
 * @param runs of the word, in order
 * @param rows attention of its tokens as stored by `AttentionStore`
 * @param frames those with speech
 * @param tick seconds per frame
 * @param plausible seconds up to which the longest run is kept in any case
 */
export function attendedRun(
  runs: readonly Range[],
  rows: readonly Uint8Array[],
  heads: number,
  frames: Int32Array,
  tick: number,
  plausible = 0,
): Range {
  const longest = runs.reduce((a, b) => (b.end - b.first > a.end - a.first ? b : a));
  const seconds = ({ first, end }: Range) => (end - first) * tick;
  if (seconds(longest) <= plausible) return longest;
  const attention = (run: Range) => attentionPerFrame(rows, heads, frames, run);
  const others = runs.filter((run) => run !== longest && seconds(run) >= SHORTEST_SECONDS);
  const [most] = others.map((run) => ({ run, value: attention(run) })).sort((a, b) => b.value - a.value);
  return most && most.value >= CLEARLY_MORE * attention(longest) ? most.run : longest;
}

/** Mean share, over tokens and heads, of the attention to all frames that one frame of a run has. */
function attentionPerFrame(rows: readonly Uint8Array[], heads: number, frames: Int32Array, { first, end }: Range): number {
  let shares = 0;
  for (const row of rows) {
    const steps = row.length / heads;
    for (let head = 0; head < heads; head++) {
      let [inside, all] = [0, 1e-9];
      for (const [i, frame] of frames.entries()) {
        const weight = WEIGHTS[row[head * steps + frame]!]!;
        all += weight;
        if (i >= first && i < end) inside += weight;
      }
      shares += inside / all;
    }
  }
  return shares / (rows.length * heads * (end - first));
}
