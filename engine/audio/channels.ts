import type { Recording, Word } from '../types.ts';
import { centred, leaked, leakOf } from './leak.ts';

/** How a two-channel recording is to be heard: as a call with one party per channel, mixed down, or by one channel alone. */
export type Layout = 'call' | 'mix' | 0 | 1;

const RATE = 16_000;
const FRAME = 480; // samples over which loudness is measured: 30 ms
const BLOCK = 10 * RATE; // samples read at once
const BLOCKS = 60; // spread over the recording: ten minutes are enough to judge
const FAINT = 1e-3; // root mean square below which a frame says nothing (-60 dBFS)
const SAME = 0.95; // correlation of the samples from which on two channels are one
const TOGETHER = 0.6; // correlation of the loudness (dB) from which on both microphones hear the same people
const EMPTY = 0.01; // share of the other channel's energy below which a channel holds nothing

/**
 * Decides how a decoded recording is heard. Two channels are a call when their samples differ (correlation below 0.95) and they are not loud and
 * quiet together, as two microphones in one room are. Whether somebody speaks on both is for speech detection to say.
 */
export async function layoutOf(recording: Recording, signal?: AbortSignal): Promise<Layout> {
  if (recording.channels === 1) return 'mix'; // at once: speech is looked for while the rest is being decoded
  const samples = await recording.decoded;
  const sums: Sums = { ll: 0, rr: 0, lr: 0 };
  const blocks = Math.ceil(samples / BLOCK);
  const stride = Math.max(1, blocks / BLOCKS);
  const sampled = new Set<number>();
  for (let block = 0; block < blocks; block += stride) sampled.add(Math.floor(block));
  const measured = async (block: number) => {
    signal?.throwIfAborted();
    const heard = (channel: number) => recording.read(channel, block * BLOCK, (block + 1) * BLOCK).then(centred);
    const [left, right] = await Promise.all([heard(0), heard(1)]);
    return measure(left, right, sums);
  };
  const loudness: Loudness[] = [];
  for (const block of sampled) loudness.push(...(await measured(block)));
  // Who says little says it elsewhere, perhaps: that a channel holds nothing is judged by all of it.
  if (empty(sums) !== null) for (let block = 0; block < blocks; block++) if (!sampled.has(block)) await measured(block);
  return judge(sums, loudness);
}

interface Sums {
  ll: number;
  rr: number;
  lr: number;
}

/** Of a frame in which there is sound, dB. */
type Loudness = [left: number, right: number];

/** Adds a block to the sums; tells the loudness of its frames. */
function measure(left: Float32Array, right: Float32Array, sums: Sums): Loudness[] {
  const loudness: Loudness[] = [];
  for (let at = 0; at + FRAME <= left.length; at += FRAME) {
    let [ll, rr, lr] = [0, 0, 0];
    for (let i = at; i < at + FRAME; i++) {
      ll += left[i]! * left[i]!;
      rr += right[i]! * right[i]!;
      lr += left[i]! * right[i]!;
    }
    if (Math.sqrt(Math.max(ll, rr) / FRAME) < FAINT) continue;
    sums.ll += ll;
    sums.rr += rr;
    sums.lr += lr;
    loudness.push([decibels(ll / FRAME), decibels(rr / FRAME)]);
  }
  return loudness;
}

function judge(sums: Sums, loudness: Loudness[]): Layout {
  const { ll, rr, lr } = sums;
  const nothing = empty(sums);
  if (nothing !== null) return ll + rr > 0 ? (nothing === 1 ? 0 : 1) : 'mix';
  const same = lr / Math.sqrt(ll * rr);
  if (same <= -0.5) return ll >= rr ? 0 : 1; // opposite phase: mixing would cancel the voices
  if (same >= SAME || correlation(loudness) >= TOGETHER) return 'mix';
  return 'call';
}

/** The channel that holds nothing, if one does. */
function empty({ ll, rr }: Sums): 0 | 1 | null {
  if (rr <= EMPTY * EMPTY * ll) return 1;
  return ll <= EMPTY * EMPTY * rr ? 0 : null;
}

function correlation(pairs: Loudness[]): number {
  const n = pairs.length || 1;
  const meanA = pairs.reduce((sum, [a]) => sum + a, 0) / n;
  const meanB = pairs.reduce((sum, [, b]) => sum + b, 0) / n;
  let [aa, bb, ab] = [0, 0, 0];
  for (const [a, b] of pairs) {
    aa += (a - meanA) ** 2;
    bb += (b - meanB) ** 2;
    ab += (a - meanA) * (b - meanB);
  }
  return ab / Math.sqrt(aa * bb || 1);
}

const TWICE = 0.3; // seconds between the starts of one word heard in both channels
const BENEATH = 15; // dB below its channel's usual level, compared with the other channel: the other party leaking in
const USUAL = 0.8; // of a channel's words so ranked by level: what leaked in may be most of them, and is softer
const OVER = 3; // dB over it: then this party is heard
const CAME = 0.5; // share of a word's power that came over from the other channel: then it is the other party's word

/**
 * Words of a call without those that leaked from the other party's channel. What is, by its sound, the other channel's sound once more, belongs there.
 * A word heard in both within 0.3 s belongs to the louder, and so do other words under somebody else's speech that are far quieter than their own
 * channel usually is.
 * @param words of both channels, `channel` set
 * @returns the words kept, in order of their starts
 */
export async function withoutCrosstalk(words: readonly Word[], recording: Recording): Promise<Word[]> {
  const ordered = words.toSorted((a, b) => a.start - b.start);
  const levels = await levelsOf(ordered, recording);
  const heard = [0, 1].map((from) => ordered.filter((word, i) => word.channel === from && levels[i]!.own > levels[i]!.theirs + OVER));
  const leaks = await Promise.all(heard.map((spoken, from) => leakOf(recording, from, 1 - from, spoken)));
  const kept: Word[] = [];
  for (const [i, word] of ordered.entries()) {
    const rivals = neighbours(ordered, i).filter((other) => other.channel !== word.channel);
    const { own, theirs } = levels[i]!;
    const other = 1 - (word.channel ?? 0);
    const leak = leaks[other];
    const covered = rivals.some((rival) => shared(rival, word) >= 0.5);
    const again = rivals.some((rival) => Math.abs(rival.start - word.start) <= TWICE && plain(rival.text) === plain(word.text));
    if ((covered && own < theirs - BENEATH) || (again && own < theirs)) continue;
    if (!leak || own > theirs + OVER || (await leaked(recording, leak, word)) < CAME) kept.push(word);
    else if (!again && !rivals.some((rival) => shared(rival, word) > 0)) kept.push({ ...word, channel: other }); // heard here only
  }
  return kept;
}

interface Levels {
  own: number;
  theirs: number;
}

/** How loud both channels are during each word, dB over what is usual in words of that channel. */
async function levelsOf(words: readonly Word[], recording: Recording): Promise<Levels[]> {
  const level = async ({ start, end }: Word, channel: number) => {
    const samples = centred(await recording.read(channel, Math.round(start * RATE), Math.round(Math.max(end, start + 0.05) * RATE)));
    return decibels(samples.reduce((sum, x) => sum + x * x, 0) / Math.max(1, samples.length));
  };
  const found: Levels[] = [];
  for (const word of words) found.push({ own: await level(word, word.channel ?? 0), theirs: await level(word, 1 - (word.channel ?? 0)) });
  const usual = [0, 1].map((channel) => {
    const said = found.flatMap(({ own }, i) => (words[i]!.channel === channel ? own : [])).sort((a, b) => a - b);
    return said[Math.floor(said.length * USUAL)] ?? 0;
  });
  return found.map(({ own, theirs }, i) => {
    const channel = words[i]!.channel ?? 0;
    return { own: own - usual[channel]!, theirs: theirs - usual[1 - channel]! };
  });
}

/** Words that may overlap word i or start near it. */
function neighbours(ordered: Word[], i: number): Word[] {
  const word = ordered[i]!;
  let from = i;
  while (from > 0 && ordered[from - 1]!.start > word.start - 5) from--;
  let to = i + 1;
  while (to < ordered.length && ordered[to]!.start < word.end + TWICE) to++;
  return ordered.slice(from, to);
}

/** Share of a word under another one. */
function shared(other: Word, word: Word): number {
  return (Math.min(other.end, word.end) - Math.max(other.start, word.start)) / Math.max(word.end - word.start, 1e-3);
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

function decibels(power: number): number {
  return 10 * Math.log10(power + 1e-10);
}
