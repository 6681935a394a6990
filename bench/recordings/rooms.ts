import { type Random, seeded } from '../random.ts';
import { absorption, convolved, distance, impulseResponse, type Point, type Shoebox } from './acoustics.ts';
import { MissingClips, type Split, type TrueTurn, voices } from './clips.ts';
import { level, mixInto, paced, SAMPLE_RATE, scaled } from './sound.ts';
import { type Speaker, speakerOf, type Utterance } from './utterances.ts';

export interface RoomOptions {
  speakers: number;
  seconds: number;
  /** Share of the speech during which a second person speaks. */
  overlap: number;
  split: Split;
  /** The first voice, and 40 % of the others, have the noise of a poor microphone, 6 to 16 dB below their speech. */
  noisyVoices?: boolean;
  /** Folder of clips. */
  data?: string;
}

/** A meeting in a room, recorded as the mix of its microphones. */
export interface Meeting {
  samples: Float32Array;
  turns: TrueTurn[];
  /** Turns of 0.25 to 0.9 s that overlap another's speech or are between two of its sentences. */
  interjections: TrueTurn[];
  speakers: number;
  room: Shoebox;
  microphones: number;
  /** Metres from each person to the nearest microphone. */
  distances: number[];
}

const SIZES = { length: [3.5, 9], width: [3, 6.5], height: [2.5, 3.4], reverberation: [0.2, 0.8] } as const;
const DISTANCES = [0.5, 4] as const; // metres from a person to the nearest microphone
const MICROPHONES = [1, 1, 2, 3] as const; // half of the rooms have one microphone
const NOISE = [15, 30] as const; // dB below the speech
const VOICE_NOISE = [6, 16] as const; // dB below the speech of a voice with a poor microphone
const NOISY_SHARE = 0.4; // of such voices, beside the first
const LEAST = 5; // minimum seconds of clips per voice
const INTERJECTION_RATE = 0.35; // interjections per sentence
const PEAK = 0.9; // of full scale, maximum
const TAIL = 40; // seconds after the requested end

/** Simulates a meeting of several people. The same seed and options give the same samples. */
export async function meeting(seed: number, options: RoomOptions): Promise<Meeting> {
  const random = seeded(seed);
  const cast = await castOf(random, options);
  if (options.noisyVoices) addVoiceNoise(seeded(7 * seed + 3), cast);
  const dry = cast.map(() => new Float32Array((options.seconds + TAIL) * SAMPLE_RATE));
  const { turns, interjections, end } = spoken(random, cast, dry, options);
  const { room, microphones, places } = seated(random, cast.length);
  const length = Math.ceil((end + 0.7) * SAMPLE_RATE);
  const samples = new Float32Array(length);
  for (const [i, place] of places.entries()) {
    const responses = microphones.map((microphone) => impulseResponse(room, place, microphone));
    mixInto(samples, convolved(dry[i]!.subarray(0, length), added(responses)), 0);
  }
  addNoise(random, samples);
  const peak = samples.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const distances = places.map((place) => Math.min(...microphones.map((microphone) => distance(place, microphone))));
  return {
    samples: scaled(samples, Math.min(1, PEAK / peak)),
    turns,
    interjections,
    speakers: cast.length,
    room,
    microphones: microphones.length,
    distances,
  };
}

/** Voices of one split with enough speech. From a collection without speaker names only the first: others may be the same person. */
export function castNames(split: Split, data?: string): string[] {
  const collections = new Set<string>();
  const collection = (name: string) => name.replace(/_\d+\.\w+$/, '');
  const enough = [...voices(data, split)].filter(([, clips]) => clips.reduce((sum, { seconds }) => sum + seconds, 0) >= LEAST);
  const names = enough.map(([name]) => name).toSorted();
  const distinct = names.filter((name) => !collections.has(collection(name)) && collections.add(collection(name)));
  const divided = enough.every(([, clips]) => clips.every((clip) => clip.split));
  return divided ? distinct : distinct.filter((_, i) => (i % 2 === 0) === (split === 'tuning')); // without splits: every other voice
}

async function castOf(random: Random, { speakers, split, data }: RoomOptions): Promise<Speaker[]> {
  const all = voices(data);
  const names = random.shuffle(castNames(split, data)).slice(0, speakers);
  if (names.length < speakers)
    throw new MissingClips(
      `Cannot simulate a meeting of ${speakers}: the ${split} voices are ${names.length}; use fewer speakers or more clips`,
    );
  return Promise.all(names.map((name) => speakerOf(name, all.get(name)!, random.between(0.4, 1.6), 10 ** (random.between(-3, 3) / 20))));
}

/**
 * Simulates turn-taking: speakers take turns, start before the previous one has ended until the requested share of the speech overlaps, and
 * interject short words.
 */
function spoken(random: Random, cast: Speaker[], dry: Float32Array[], { seconds, overlap }: RoomOptions) {
  const turns: TrueTurn[] = [];
  const interjections: TrueTurn[] = [];
  const decks = cast.map(() => [] as Utterance[]);
  let [end, last, together, speech] = [0.5, -1, 0, 0];
  const say = (who: number, utterance: Utterance, start: number): TrueTurn[] => {
    const pace = random.between(0.97, 1.03); // varies each sentence
    const at = Math.round((start - utterance.spans[0]!.start / pace) * SAMPLE_RATE);
    mixInto(dry[who]!, paced(utterance.samples, pace), at);
    const said = utterance.spans.map((s) => ({
      speaker: cast[who]!.name,
      start: at / SAMPLE_RATE + s.start / pace,
      end: at / SAMPLE_RATE + s.end / pace,
    }));
    turns.push(...said);
    return said;
  };
  const draw = (who: number) => {
    if (!decks[who]!.length) decks[who]!.push(...random.shuffle(cast[who]!.sentences));
    return decks[who]!.pop()!;
  };
  for (let n = 0; end < seconds; n++) {
    const who = n < cast.length ? n : takesFloor(random, cast, last);
    const utterance = draw(who);
    const length = utterance.spans.at(-1)!.end - utterance.spans[0]!.start;
    const wanted = n > 0 && who !== last && together < overlap * speech;
    const early = wanted ? Math.min(random.between(0.4, 3), 0.7 * length, 0.7 * (end - turns.at(-1)!.start)) : 0;
    const said = say(who, utterance, wanted ? end - early : end + random.between(0.05, 1));
    together += early;
    speech += length - early;
    end = Math.max(end, said.at(-1)!.end);
    last = who;
    const others = cast.map((_, i) => i).filter((i) => i !== who && cast[i]!.short.length);
    if (!others.length || random.next() >= INTERJECTION_RATE) continue;
    const thrower = random.pick(others);
    const words = random.pick(cast[thrower]!.short);
    const lasts = words.spans.at(-1)!.end - words.spans[0]!.start;
    const over = length > lasts + 1.2 && together < overlap * speech;
    const at = over ? random.between(said[0]!.start + 0.5, end - lasts - 0.5) : end + random.between(0.1, 0.4);
    const thrown = say(thrower, words, at);
    interjections.push(...thrown);
    if (over) together += lasts;
    else end = thrown.at(-1)!.end;
  }
  return { turns: merged(turns), interjections, end };
}

function takesFloor(random: Random, cast: Speaker[], last: number): number {
  const able = cast.map((_, i) => i).filter((i) => i !== last);
  let left = random.next() * able.reduce((sum, i) => sum + cast[i]!.share, 0);
  return able.find((i) => (left -= cast[i]!.share) < 0) ?? able[0]!;
}

/** Turns in order; one person's speech without a pause of 0.3 s is one turn. */
function merged(turns: readonly TrueTurn[]): TrueTurn[] {
  const out: TrueTurn[] = [];
  for (const turn of turns.toSorted((a, b) => a.start - b.start)) {
    const before = out.findLast(({ speaker }) => speaker === turn.speaker);
    if (before && turn.start - before.end < 0.3) before.end = Math.max(before.end, turn.end);
    else out.push({ ...turn });
  }
  return out;
}

/** A room, its microphones on the table, and people around it, each 0.5 to 4 m from the nearest microphone. */
function seated(random: Random, people: number): { room: Shoebox; microphones: Point[]; places: Point[] } {
  const between = ([low, high]: readonly [number, number]) => random.between(low, high);
  const size: Point = [between(SIZES.length), between(SIZES.width), between(SIZES.height)];
  const room = { size, reverberation: between(SIZES.reverberation) };
  if (absorption(room) > 0.95) room.reverberation = 0.3; // a large room cannot have so short a reverberation
  const inside = (low: number, high: number): Point => [
    random.between(0.15, 0.85) * size[0],
    random.between(0.15, 0.85) * size[1],
    random.between(low, high),
  ];
  const microphones = Array.from({ length: random.pick(MICROPHONES) }, () => inside(0.7, 1));
  const near = (place: Point) => Math.min(...microphones.map((microphone) => distance(place, microphone)));
  const places: Point[] = [];
  while (places.length < people) {
    const place = inside(1, 1.6);
    const free = places.every((other) => distance(place, other) > 0.4);
    if (free && near(place) >= DISTANCES[0] && near(place) <= DISTANCES[1]) places.push(place);
  }
  return { room, microphones, places };
}

function added(responses: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(Math.max(...responses.map(({ length }) => length)));
  for (const response of responses) mixInto(sum, scaled(response, 1 / responses.length), 0);
  return sum;
}

/** Adds noise to some voices, of a colour of its own each. */
function addVoiceNoise(random: Random, cast: readonly Speaker[]): void {
  for (const [i, { sentences, short }] of cast.entries()) {
    if (i > 0 && random.next() > NOISY_SHARE) continue;
    const below = random.between(...VOICE_NOISE);
    const tilt = random.between(0, 0.95);
    let low = 0;
    for (const { samples } of [...sentences, ...short]) {
      const noise = samples.map(() => (low = tilt * low + random.normal()));
      mixInto(samples, scaled(noise, (level(samples) / level(noise)) * 10 ** (-below / 20)), 0);
    }
  }
}

/** Low-pass noise, like fans and computers. */
function addNoise(random: Random, samples: Float32Array): void {
  let low = 0;
  const noise = samples.map(() => {
    const white = random.normal();
    low = 0.9 * low + 0.1 * white;
    return 1.5 * low + 0.2 * white;
  });
  mixInto(samples, scaled(noise, (level(samples) / level(noise)) * 10 ** (-random.between(...NOISE) / 20)), 0);
}
