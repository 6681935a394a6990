import { type Random, seeded } from '../random.ts';
import { type Clip, englishClips, MissingClips, type Split, someOf, type TrueTurn, voices } from './clips.ts';
import { level, mixInto, paced, SAMPLE_RATE, samplesOf, scaled, telephone, withoutInfrasound } from './sound.ts';
import { speechSpans } from './truth.ts';

export interface TrueWordRun extends TrueTurn {
  transcript: string;
}

/** A simulated recording with exact ground truth. */
export interface Conversation {
  name: string;
  samples: Float32Array;
  /** Reference turns, from `truth.ts` on the clean clips: pauses over 0.3 s inside a clip are not speech. */
  turns: TrueTurn[];
  /** Reference transcript, clip by clip, in order. */
  said: TrueWordRun[];
  speakers: number;
  /** Each voice alone, before noise and telephone filter; only if requested. */
  tracks?: Float32Array[];
}

export interface ConversationOptions {
  speakers: number;
  seconds: number;
  /** Share of the turns that start before the previous one ends. */
  overlaps?: number;
  telephone?: boolean;
  /** Also return each voice alone. */
  apart?: boolean;
  /** Signal-to-noise ratio, dB; null: no noise. */
  noise?: number | null;
  /** Varies pitch and pace of each clip by up to 2 %. */
  varied?: boolean;
  /** Use exactly these voices, by name; `speakers` of them. */
  cast?: readonly string[];
  /** Voices of these languages; default: English. */
  languages?: (language: string) => boolean;
  /** Folder of clips. */
  data?: string;
  /** Voices of one split; default: all. */
  split?: Split;
}

const cache = new Map<string, Promise<Float32Array>>();

/**
 * All samples of a clip without what is below hearing, cached: in one clip a slow drift is 17 dB above the speech, so it would decide the
 * level of that voice and of the noise in a mix.
 */
export function cleanSamples(clip: Clip): Promise<Float32Array> {
  const found = cache.get(clip.path) ?? samplesOf(clip.path).then(withoutInfrasound);
  cache.set(clip.path, found);
  return found;
}

/** Simulates a conversation of several voices from single-speaker clips. The same seed gives the same conversation. */
export async function conversation(seed: number, options: ConversationOptions): Promise<Conversation> {
  const random = seeded(seed);
  const spoken = options.languages ?? ((language) => language === 'en');
  const all = [...voices(options.data, options.split)].filter(
    ([name, list]) => (options.cast?.includes(name) ?? true) && list.every((clip) => spoken(clip.language)),
  );
  const cast = random
    .shuffle(all)
    .sort((a, b) => Number(b[1].length >= 2) - Number(a[1].length >= 2))
    .slice(0, options.speakers);
  if (cast.length < Math.min(2, options.speakers))
    throw new MissingClips(
      `Cannot simulate a conversation of ${options.speakers}: it needs ${Math.min(2, options.speakers)} voices with clips of 2 to 30 s, and there are ${cast.length}`,
    );
  const decks = new Map(cast.map(([speaker]) => [speaker, [] as Clip[]]));
  const gains = new Map(cast.map(([speaker]) => [speaker, random.between(0.6, 1.4)]));
  const samples = new Float32Array(Math.ceil((options.seconds + 30) * SAMPLE_RATE));
  const tracks = options.apart ? cast.map(() => new Float32Array(samples.length)) : undefined;
  const turns: TrueTurn[] = [];
  const said: TrueWordRun[] = [];
  let [end, last, turn] = [0.5, '', 0];
  while (end < options.seconds) {
    const speaker = turn < cast.length ? cast[turn]![0] : random.pick(cast.filter(([name]) => cast.length === 1 || name !== last))[0];
    turn++;
    const deck = decks.get(speaker)!;
    if (!deck.length) deck.push(...random.shuffle(cast.find(([name]) => name === speaker)![1]));
    const clip = deck.pop()!;
    const own = await cleanSamples(clip);
    const clean = options.varied ? paced(own, random.between(0.98, 1.02)) : own;
    const voice = scaled(clean, (0.06 * gains.get(speaker)!) / (level(clean) || 1));
    const spans = speechSpans(voice);
    const overlapping = turns.length > 0 && speaker !== last && random.next() < (options.overlaps ?? 0);
    const from = Math.max(0.1, overlapping ? end - random.between(0.4, 1.2) : end + random.between(0.15, 1.2));
    const start = Math.max(0, from - spans[0]!.start); // a clip may begin with more silence than there is before it
    const at = Math.round(start * SAMPLE_RATE);
    mixInto(samples, voice, at);
    if (tracks) mixInto(tracks[cast.findIndex(([name]) => name === speaker)]!, voice, at);
    for (const span of spans) turns.push({ speaker, start: start + span.start, end: start + span.end });
    said.push({ speaker, start: start + spans[0]!.start, end: start + spans.at(-1)!.end, transcript: clip.transcript });
    end = Math.max(end, start + spans.at(-1)!.end);
    last = speaker;
  }
  const length = Math.ceil((end + 0.5) * SAMPLE_RATE);
  const made = finish(`conversation ${seed}`, samples.subarray(0, length), turns, said, cast.length, options, random);
  return tracks ? { ...made, tracks: tracks.map((track) => track.subarray(0, length)) } : made;
}

function finish(
  name: string,
  mixed: Float32Array,
  turns: TrueTurn[],
  said: TrueWordRun[],
  speakers: number,
  options: ConversationOptions,
  random: Random,
): Conversation {
  const narrow = options.telephone ? telephone(mixed) : mixed;
  const noise = options.noise == null ? 0 : level(narrow) * 10 ** (-options.noise / 20);
  const samples = noise ? narrow.map((x) => x + noise * random.normal()) : narrow;
  return { name, samples, turns, said, speakers };
}

export interface JoinedOptions {
  seed?: number;
  data?: string;
  split?: Split;
}

/**
 * English clips, normalised to the same loudness, joined in random order with short pauses up to `seconds`: for the WER of long recordings.
 */
export async function joined(seconds: number, { seed = 1, data, split }: JoinedOptions = {}): Promise<Conversation> {
  const random = seeded(seed);
  const samples = new Float32Array(Math.ceil((seconds + 40) * SAMPLE_RATE));
  const said: TrueWordRun[] = [];
  let at = 0.5;
  const english = englishClips(data, split).filter((clip) => clip.category === '1');
  const distinct = someOf(english, 'English clips of 1 to 30 s of category 1', data, split);
  while (at < seconds) {
    for (const clip of random.shuffle(distinct)) {
      if (at >= seconds) break;
      const clean = await cleanSamples(clip);
      const spans = speechSpans(clean);
      mixInto(samples, scaled(clean, 0.06 / (level(clean) || 1)), Math.round(at * SAMPLE_RATE));
      said.push({
        speaker: clip.speaker || clip.file,
        start: at + spans[0]!.start,
        end: at + spans.at(-1)!.end,
        transcript: clip.transcript,
      });
      at += clean.length / SAMPLE_RATE + random.between(0.3, 1.2);
    }
  }
  return {
    name: 'joined clips',
    samples: samples.subarray(0, Math.ceil(at * SAMPLE_RATE)),
    turns: said,
    said,
    speakers: new Set(said.map((s) => s.speaker)).size,
  };
}
