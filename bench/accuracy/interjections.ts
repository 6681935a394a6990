import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from '../../engine/runtime/pool.ts';
import type { Segment, Span, Turn } from '../../engine/types.ts';
import { bestMapping } from '../errors/der.ts';
import { englishWords } from '../errors/normalise.ts';
import { seeded } from '../random.ts';
import { type Clip, DATA, type Split, type TrueTurn, voices } from '../recordings/clips.ts';
import { type Conversation, cleanSamples, type TrueWordRun } from '../recordings/conversations.ts';
import { level, mixInto, SAMPLE_RATE, scaled, writeWav } from '../recordings/sound.ts';
import { speechSpans } from '../recordings/truth.ts';
import { diarization, transcript } from '../speed/measure.ts';

/** One or two isolated words cut from a clip, to overlap another speaker's speech. */
interface ShortWords {
  clip: Clip;
  speaker: string;
  start: number;
  end: number;
  text: string;
}

export interface Interjection extends TrueWordRun {
  /** True if it overlaps another's speech; false if it is in a pause. */
  over: boolean;
}

/** A conversation with short interjections by others, which are not included in `said`. */
export interface Talk extends Conversation {
  interjections: Interjection[];
}

/** Result for interjections of one kind. */
export interface Kept {
  count: number;
  /** Their speaker has a turn over at least 50 % of them. */
  turns: number;
  /** All of their words are in the transcript; overlapping ones are mostly not recognised. */
  heard: number;
  /** of these, attributed to the right speaker. */
  right: number;
}

const NONE: Kept = { count: 0, turns: 0, heard: 0, right: 0 };
const TALKS = 4;
const SECONDS = 240; // per conversation
const MARGIN = 0.03; // seconds kept around interjections, with fades
const INSIDE = 0.8; // seconds from the ends of a clip without overlaps

/** Results for interjections in four conversations; undefined if the folder has no `short.tsv`. */
export async function interjectionsKept(
  pool: Pool,
  folder: string,
  { data = DATA, split, accurate = false, seed = 1 }: { data?: string; split?: Split; accurate?: boolean; seed?: number } = {},
): Promise<Record<'over' | 'pauses', Kept> | undefined> {
  if (shortWords(data, split).length === 0) return undefined;
  const path = join(folder, 'talk.wav');
  const all: Record<'over' | 'pauses', Kept> = { over: { ...NONE }, pauses: { ...NONE } };
  for (let i = 0; i < TALKS; i++) {
    const talk = await talkWithInterjections(seed + i, SECONDS, data, split);
    await writeWav(path, talk.samples);
    const { segments } = await transcript(path, pool, { language: 'en', accurate });
    const found = kept(talk, (await diarization(path, pool)).result, segments);
    for (const where of ['over', 'pauses'] as const)
      for (const key of ['count', 'turns', 'heard', 'right'] as const) all[where][key] += found[where][key];
  }
  return all;
}

/** The interjections in the folder's `short.tsv`, none without that file. */
function shortWords(folder: string, split?: Split): ShortWords[] {
  const path = join(folder, 'short.tsv');
  if (!existsSync(path)) return [];
  const owners = new Map(
    [...voices(folder, split)].flatMap(([speaker, clips]) => clips.map((clip) => [clip.file, { speaker, clip }] as const)),
  );
  const lines = readFileSync(path, 'utf8').trim().split('\n').slice(1);
  return lines.flatMap((line) => {
    const [file, start, end, text] = line.split('\t');
    const owner = owners.get(file!);
    return owner ? [{ ...owner, start: Number(start), end: Number(end), text: text! }] : [];
  });
}

/** Two to four people. One speaks at a time, and the others interject during speech and in the pauses between clips. */
export async function talkWithInterjections(seed: number, seconds: number, data = DATA, split?: Split): Promise<Talk> {
  const random = seeded(seed);
  const short = shortWords(data, split);
  const able = [...voices(data, split)].filter(([name, clips]) => clips.length > 1 && short.some(({ speaker }) => speaker === name));
  const cast = random.shuffle(able).slice(0, 2 + (seed % 3));
  const names = cast.map(([name]) => name);
  const gains = new Map(names.map((name) => [name, random.between(0.7, 1.3)]));
  const samples = new Float32Array(Math.ceil((seconds + 60) * SAMPLE_RATE));
  const talk: Talk = { name: `talk ${seed}`, samples, turns: [], said: [], speakers: cast.length, interjections: [] };
  const loudness = (speaker: string, clean: Float32Array) => (0.06 * gains.get(speaker)!) / (level(clean) || 1);
  let end = 0.5;
  let talking = '';

  const throwIn = async (words: ShortWords, over: boolean, from: number) => {
    const clean = await cleanSamples(words.clip);
    const cut = clean.slice(Math.round((words.start - MARGIN) * SAMPLE_RATE), Math.round((words.end + MARGIN) * SAMPLE_RATE));
    mixInto(
      samples,
      scaled(faded(cut), loudness(words.speaker, clean) * random.between(0.7, 2)),
      Math.round((from - MARGIN) * SAMPLE_RATE),
    );
    const own = { speaker: words.speaker, start: from, end: from + words.end - words.start };
    talk.turns.push(own);
    talk.interjections.push({ ...own, transcript: words.text, over });
    return own.end;
  };

  for (let n = 0; end < seconds; n++) {
    const others = cast.filter(([name]) => name !== talking);
    const [speaker, clips] = n < cast.length ? cast[n]! : random.pick(others);
    talking = speaker;
    for (const clip of random.shuffle(clips).slice(0, random.pick([1, 2, 3]))) {
      const clean = await cleanSamples(clip);
      const voice = scaled(clean, loudness(speaker, clean));
      const spans = speechSpans(voice);
      const start = Math.max(0, end + random.between(0.2, 0.9) - spans[0]!.start);
      mixInto(samples, voice, Math.round(start * SAMPLE_RATE));
      const own = spans.map((span) => ({ speaker, start: start + span.start, end: start + span.end }));
      talk.turns.push(...own);
      const [first, last] = [own[0]!.start, own.at(-1)!.end];
      talk.said.push({ speaker, start: first, end: last, transcript: clip.transcript });
      end = last;
      const spoken = new Set(englishWords(clip.transcript));
      const fit = short.filter(
        (s) => s.speaker !== speaker && names.includes(s.speaker) && !englishWords(s.text).some((w) => spoken.has(w)),
      );
      if (!fit.length) continue;
      const over = random.pick(fit);
      const at = random.between(first + INSIDE, last - INSIDE - (over.end - over.start));
      const full = own.some((span) => at >= span.start && at + over.end - over.start <= span.end);
      if (full) await throwIn(over, true, at);
      if (random.next() < 0.5) end = await throwIn(random.pick(fit), false, end + random.between(0.12, 0.4));
    }
  }
  return { ...talk, samples: samples.subarray(0, Math.ceil((end + 0.5) * SAMPLE_RATE)) };
}

function faded(samples: Float32Array): Float32Array {
  const ramp = MARGIN * SAMPLE_RATE;
  return samples.map((x, i) => x * Math.min(1, i / ramp, (samples.length - 1 - i) / ramp));
}

const NEAR = 0.5; // maximum distance of recognised words from the interjection, seconds

/** Results for overlapping interjections and for those in pauses. Turns and segments may number the speakers independently. */
export function kept(talk: Talk, turns: readonly Turn[], segments: readonly Segment[]): Record<'over' | 'pauses', Kept> {
  const spoken = turnsByName(talk.turns, turns);
  const words = turnsByName(
    talk.turns,
    segments.flatMap((segment) => segment.words.map((word) => ({ ...word, speaker: segment.speaker ?? -1 }))),
  );
  const count = (over: boolean): Kept => {
    const found: Kept = { ...NONE };
    for (const one of talk.interjections.filter((one) => one.over === over)) {
      found.count++;
      const covered = spoken.reduce((sum, turn) => sum + (turn.speaker === one.speaker ? shared(turn, one) : 0), 0);
      if (covered >= (one.end - one.start) / 2) found.turns++;
      const texts = englishWords(one.transcript);
      const near = words.filter(({ start, end }) => end > one.start - NEAR && start < one.end + NEAR);
      const heard = near.filter(({ text }) => englishWords(text).some((word) => texts.includes(word)));
      if (!texts.every((text) => heard.some((word) => englishWords(word.text).includes(text)))) continue;
      found.heard++;
      if (heard.every(({ speaker }) => speaker === one.speaker)) found.right++;
    }
    return found;
  };
  return { over: count(true), pauses: count(false) };
}

/** Renames found speakers by the one-to-one mapping to real ones with the most time in common. */
function turnsByName<T extends Turn>(truth: readonly TrueTurn[], found: readonly T[]): (Omit<T, 'speaker'> & { speaker: string })[] {
  const people = [...new Set(truth.map(({ speaker }) => speaker))];
  const numbers = [...new Set(found.map(({ speaker }) => speaker))];
  const together = numbers.map(() => people.map(() => 0));
  for (const turn of found)
    for (const real of truth) together[numbers.indexOf(turn.speaker)]![people.indexOf(real.speaker)]! += shared(turn, real);
  const mapping = bestMapping(together);
  return found.map((turn) => ({ ...turn, speaker: people[mapping[numbers.indexOf(turn.speaker)]!] ?? '' }));
}

/** Seconds that two spans have in common. */
function shared(a: Span, b: Span): number {
  return Math.max(0, Math.min(a.end, b.end) - Math.max(a.start, b.start));
}
