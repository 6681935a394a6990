import { decibels } from '../../loudness.ts';
import { type Recording, SAMPLE_RATE, type Word } from '../../types.ts';
import { centred, type Leak, leaked, leakOf, MIN_SPEECH_SECONDS } from './leak.ts';

const MAX_START_DIFFERENCE_SECONDS = 0.3; // between the starts of the same word in two channels
const LEAK_BELOW_USUAL = 15; // dB below the channel's usual level, relative to the other channel: the other party is leaking in
const USUAL_LEVEL_QUANTILE = 0.8; // quantile of a channel's word levels; high, because most of its words may be leaks, which are quieter
const OWN_ABOVE_USUAL = 3; // dB above it: this party is speaking
const SAME_BELOW_USUAL = 6; // dB, as above, for a word that both say where no leak is found: half the amplitude, by reasoning, not measured
const LEAKED_POWER_SHARE = 0.5; // share of a word's power that leaked from the other channel: above it the word belongs to the other party

/**
 * Removes words that leaked from another party's channel. A word whose sound is a copy of another channel's belongs there. A word
 * recognised in two channels within 0.3 s belongs to the louder one, unless neither party is heard in the other's channel and both speak up, as when
 * they say goodbye together. Words that overlap somebody else's speech and are far quieter than their own channel usually is belong there, too.
 * @param words of all channels, `channel` set
 * @returns the words kept, ordered by start
 */
export async function withoutCrosstalk(words: readonly Word[], recording: Recording, signal?: AbortSignal): Promise<Word[]> {
  const ordered = words.toSorted((a, b) => a.start - b.start);
  const channels = [...new Set(ordered.map(channelOf))].sort((a, b) => a - b);
  const { levels, usual } = await levelsOf(ordered, channels, recording, signal);
  const paths = await pathsBetween(ordered, channels, { levels, usual }, recording, signal);
  const kept: Word[] = [];
  for (const [i, word] of ordered.entries()) {
    signal?.throwIfAborted();
    const channel = channelOf(word);
    const level = levels[i]!;
    const own = level.get(channel)!;
    const under = (rival: Word, by: number) => own < level.get(channelOf(rival))! - by;
    const rivals = neighbours(ordered, i).filter((other) => channelOf(other) !== channel);
    const again = rivals.filter(
      (rival) => Math.abs(rival.start - word.start) <= MAX_START_DIFFERENCE_SECONDS && plain(rival.text) === plain(word.text),
    );
    const same = (rival: Word) => under(rival, isSeparate(paths, channelOf(rival), channel) ? SAME_BELOW_USUAL : 0);
    if (rivals.some((rival) => shared(rival, word) >= 0.5 && under(rival, LEAK_BELOW_USUAL)) || again.some(same)) continue;
    const from = await cameFrom(word, level, paths, recording);
    if (from === null) kept.push(word);
    else if (!again.length && !rivals.some((rival) => shared(rival, word) > 0)) kept.push({ ...word, channel: from }); // present in this channel only
  }
  return kept;
}

/** The channel from which a word's sound leaked, if any. */
async function cameFrom(word: Word, level: Levels, paths: readonly Path[], recording: Recording): Promise<number | null> {
  const own = level.get(channelOf(word))!;
  for (const { leak } of paths) {
    if (!leak || leak.to !== channelOf(word) || own > level.get(leak.from)! + OWN_ABOVE_USUAL) continue;
    if ((await leaked(recording, leak, word)) >= LEAKED_POWER_SHARE) return leak.from;
  }
  return null;
}

/** From one channel into another. */
interface Path {
  from: number;
  to: number;
  /** Null: none. Undefined: unknown. */
  leak: Leak | null | undefined;
}

/** From every channel into every other one. */
async function pathsBetween(
  words: readonly Word[],
  channels: readonly number[],
  { levels, usual }: Loudness,
  recording: Recording,
  signal?: AbortSignal,
): Promise<Path[]> {
  const paths: Path[] = [];
  for (const from of channels) {
    for (const to of channels) {
      if (from === to) continue;
      signal?.throwIfAborted();
      const louder = (by: number) =>
        words.filter((word, i) => channelOf(word) === from && levels[i]!.get(from)! + by > levels[i]!.get(to)! + OWN_ABOVE_USUAL);
      const alone = louder(0);
      const usualIsLeak = secondsOf(alone) < MIN_SPEECH_SECONDS; // a party that says little: most words of `to` leaked
      const spoken = usualIsLeak ? louder(usual.get(from)! - usual.get(to)!) : alone;
      paths.push({ from, to, leak: await leakOf(recording, from, to, spoken) });
    }
  }
  return paths;
}

/** Whether nothing of one channel leaks into the other. */
function isSeparate(paths: readonly Path[], from: number, to: number): boolean {
  return paths.some((path) => path.from === from && path.to === to && path.leak === null);
}

/** Level of each channel during a word, dB relative to the usual level of words in that channel. */
type Levels = Map<number, number>;

interface Loudness {
  /** Of each word. */
  levels: readonly Levels[];
  /** Usual level of each channel, dB. */
  usual: ReadonlyMap<number, number>;
}

async function levelsOf(
  words: readonly Word[],
  channels: readonly number[],
  recording: Recording,
  signal?: AbortSignal,
): Promise<Loudness> {
  const level = async ({ start, end }: Word, channel: number) => {
    const samples = centred(
      await recording.read(channel, Math.round(start * SAMPLE_RATE), Math.round(Math.max(end, start + 0.05) * SAMPLE_RATE)),
    );
    return decibels(samples.reduce((sum, x) => sum + x * x, 0) / Math.max(1, samples.length));
  };
  const found: Levels[] = [];
  for (const word of words) {
    signal?.throwIfAborted();
    found.push(new Map(await Promise.all(channels.map(async (channel) => [channel, await level(word, channel)] as const))));
  }
  const usual = new Map<number, number>();
  for (const channel of channels) {
    const said = found.flatMap((levels, i) => (channelOf(words[i]!) === channel ? levels.get(channel)! : [])).sort((a, b) => a - b);
    const own = said[Math.floor(said.length * USUAL_LEVEL_QUANTILE)] ?? 0;
    for (const levels of found) levels.set(channel, levels.get(channel)! - own);
    usual.set(channel, own);
  }
  return { levels: found, usual };
}

function secondsOf(words: readonly Word[]): number {
  return words.reduce((sum, { start, end }) => sum + end - start, 0);
}

function channelOf({ channel = 0 }: Word): number {
  return channel;
}

/** Words that may overlap word i or start near it. */
function neighbours(ordered: readonly Word[], i: number): Word[] {
  const word = ordered[i]!;
  let from = i;
  while (from > 0 && ordered[from - 1]!.start > word.start - 5) from--;
  let to = i + 1;
  while (to < ordered.length && ordered[to]!.start < word.end + MAX_START_DIFFERENCE_SECONDS) to++;
  return ordered.slice(from, to);
}

/** Share of a word that another one overlaps. */
function shared(other: Word, word: Word): number {
  return (Math.min(other.end, word.end) - Math.max(other.start, word.start)) / Math.max(word.end - word.start, 1e-3);
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
