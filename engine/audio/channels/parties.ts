import { decibels } from '../../loudness.ts';
import type { Origin, Recording } from '../../types.ts';
import { BLOCK_SAMPLES, FRAME_SAMPLES, isCopy, isLater, loudTogether, MAX_COPY_DELAY_FRAMES, MIN_FRAME_RMS } from './copies.ts';
import { centred } from './leak.ts';
import { withoutMixes } from './mixes.ts';
import { programmesOf } from './surround.ts';

/** Channels of one party, mixed to their mean. */
export type Party = number[];

export interface Parties {
  /** Ordered by channel; at least one, unless channels without speech were named. */
  parties: Party[];
  /** Whether a channel was left out because it is empty. */
  silent: boolean;
}

const MAX_BLOCKS = 60; // spread over the recording: ten minutes are enough
const SAME_AUDIO_CORRELATION = 0.95; // correlation of samples from which on two channels are the same
const OPPOSITE_PHASE_CORRELATION = -0.5; // and below which they would cancel out
const SAME_ROOM_CORRELATION = 0.6; // correlation of loudness (dB) from which on both microphones pick up the same people
const EMPTY_CHANNEL_ENERGY = 1e-4; // energy relative to the loudest channel of the track below which a channel is empty (-40 dB): noise and crosstalk
const MISSING_DECIBELS = 15; // by which a sound is missing in a copy: there is no more than noise
const MIN_MISSING_FRAMES = 16; // from which on a copy is incomplete: half a second, a word
const EMPTY_TRACK_ENERGY = 1e-6; // and relative to the loudest channel of all (-60 dB)

/**
 * Groups the channels of a decoded recording into parties. Channels belong to different parties if their samples differ (correlation below
 * 0.95) and their loudness is not correlated, as it is for microphones in one room. Surround sound is one party. Whether anybody speaks on them is left to voice
 * activity detection.
 * @param unspoken channels known to have no speech: they are left out, and others are not empty because these are loud
 */
export async function partiesOf(whole: Recording, signal?: AbortSignal, unspoken: ReadonlySet<number> = new Set()): Promise<Parties> {
  if (whole.channels === 1) return { parties: [[0]], silent: false }; // return at once, so that VAD runs while the rest is being decoded
  const recording = withoutMixes(whole);
  const measures = await measure(recording, unspoken, signal);
  const audible = [...measures.energies.keys()].filter((channel) => !isEmpty(channel, recording, measures));
  if (!audible.length) return unspoken.size ? { parties: [], silent: true } : { parties: [[...measures.energies.keys()]], silent: false };
  const programmes = await programmesOf(recording, audible, signal);
  const inOne = (a: number, b: number) => programmes.some((channels) => channels.includes(a) && channels.includes(b));
  const parties: Party[] = [];
  for (const channel of audible) {
    const alike = parties.filter((party) =>
      party.some((other) => inOne(other, channel) || isTogether(other, channel, recording, programmes, measures)),
    );
    const merged = [...alike.flat(), channel];
    for (const party of alike) parties.splice(parties.indexOf(party), 1);
    parties.push(merged.sort((a, b) => a - b));
  }
  const heard = parties.map((party) => withoutCopies(party, recording, measures)).sort(([a], [b]) => a! - b!);
  return { parties: heard, silent: audible.length < recording.channels };
}

interface Measures {
  /** Channels known to have no speech. */
  unspoken: ReadonlySet<number>;
  /** Energy per channel, where there is sound. */
  energies: number[];
  /** Sums of products of two channels' samples, [channels x channels] row-major, upper half. */
  products: Float64Array;
  /** dB per channel, for each frame of the sampled blocks. */
  loudness: Float32Array[];
}

async function measure(recording: Recording, unspoken: ReadonlySet<number>, signal?: AbortSignal): Promise<Measures> {
  const samples = await recording.decoded;
  const { channels } = recording;
  const found: Measures = {
    unspoken,
    energies: new Array(channels).fill(0),
    products: new Float64Array(channels * channels),
    loudness: [],
  };
  const blocks = Math.ceil(samples / BLOCK_SAMPLES);
  const stride = Math.max(1, blocks / MAX_BLOCKS);
  const sampled = new Set<number>();
  for (let block = 0; block < blocks; block += stride) sampled.add(Math.floor(block));
  const add = async (block: number, into: Measures) => {
    signal?.throwIfAborted();
    const read = Array.from({ length: channels }, (_, channel) =>
      recording.read(channel, block * BLOCK_SAMPLES, (block + 1) * BLOCK_SAMPLES),
    );
    addBlock((await Promise.all(read)).map(centred), into);
  };
  for (const block of sampled) await add(block, found);
  // A party that says little may say it outside the sampled blocks: decide whether a channel is empty from the whole recording.
  if (found.energies.some((_, channel) => isEmpty(channel, recording, found))) {
    for (let block = 0; block < blocks; block++) if (!sampled.has(block)) await add(block, { ...found, loudness: [] });
  }
  return found;
}

function addBlock(block: readonly Float32Array[], { energies, products, loudness }: Measures): void {
  const channels = block.length;
  for (let at = 0; at + FRAME_SAMPLES <= block[0]!.length; at += FRAME_SAMPLES) {
    const power = block.map((samples) => energyOf(samples, at) / FRAME_SAMPLES);
    loudness.push(Float32Array.from(power, (square) => decibels(square)));
    if (Math.sqrt(Math.max(...power)) < MIN_FRAME_RMS) continue;
    for (let a = 0; a < channels; a++) {
      energies[a]! += power[a]! * FRAME_SAMPLES;
      if (!power[a]) continue;
      for (let b = a + 1; b < channels; b++) if (power[b]) products[a * channels + b]! += product(block[a]!, block[b]!, at);
    }
  }
}

function energyOf(samples: Float32Array, at: number): number {
  return product(samples, samples, at);
}

function product(a: Float32Array, b: Float32Array, at: number): number {
  let sum = 0;
  for (let i = at; i < at + FRAME_SAMPLES; i++) sum += a[i]! * b[i]!;
  return sum;
}

function isEmpty(channel: number, recording: Recording, { energies, unspoken }: Measures): boolean {
  if (unspoken.has(channel)) return true;
  const all = energies.filter((_, other) => !unspoken.has(other));
  const own = energies.filter((_, other) => !unspoken.has(other) && trackOf(other, recording) === trackOf(channel, recording));
  return energies[channel]! <= Math.max(EMPTY_CHANNEL_ENERGY * Math.max(...own), EMPTY_TRACK_ENERGY * Math.max(...all));
}

function isTogether(a: number, b: number, recording: Recording, programmes: readonly (readonly number[])[], measures: Measures): boolean {
  if (isVersion(a, b, recording)) return false;
  const same = alike(a, b, measures);
  if (same >= SAME_AUDIO_CORRELATION || same <= OPPOSITE_PHASE_CORRELATION) return true;
  const [first, second] = [levelsOf([a], measures), levelsOf([b], measures)];
  if (trackOf(a, recording) === trackOf(b, recording))
    return loudTogether(first, second) >= SAME_ROOM_CORRELATION || isLater(first, second) || isLater(second, first);
  if (isLater(first, second) || isLater(second, first)) return true;
  if (!programmes.some((channels) => channels.includes(a) || channels.includes(b))) return isCopy(first, second);
  const [whole, other] = [a, b].map((channel) => levelsOf(soundOf(trackOf(channel, recording), recording, programmes), measures));
  return isCopy(whole!, other!); // a film and its downmix
}

/** Whether two tracks are declared to be in different languages: with the same music and effects, a dubbed film is nearly as loud at all times. */
function isVersion(a: number, b: number, recording: Recording): boolean {
  const [one, other] = [a, b].map((channel) => originOf(channel, recording)?.language ?? null);
  return trackOf(a, recording) !== trackOf(b, recording) && one !== null && other !== null && one !== other;
}

/** The channels of a track without that of low frequencies, which a downmix does not have. */
function soundOf(track: number, recording: Recording, programmes: readonly (readonly number[])[]): number[] {
  const low = programmes.map((channels) => channels[3]);
  return [...Array(recording.channels).keys()].filter((channel) => trackOf(channel, recording) === track && !low.includes(channel));
}

/** Loudness of channels together, dB for each frame. */
function levelsOf(channels: readonly number[], { loudness }: Measures): Float32Array {
  const [only, ...others] = channels;
  if (!others.length) return Float32Array.from(loudness, (frame) => frame[only!]!);
  return Float32Array.from(loudness, (frame) => decibels(channels.reduce((sum, channel) => sum + 10 ** (frame[channel]! / 10), 0)));
}

/**
 * The channels of a party to mix: of one track only, because copies are offset by some samples, none in opposite phase, and of delayed copies
 * the earliest. It is the track that players select, unless another one has more: recorders put the microphone on one track, and everything
 * on the next.
 */
function withoutCopies(party: Party, recording: Recording, measures: Measures): Party {
  const tracks = new Set(party.map((channel) => trackOf(channel, recording)));
  const selected = party.find((channel) => originOf(channel, recording)?.default) ?? party[0]!;
  const fuller = (best: number, channel: number) => (missing(best, channel, measures) > missing(channel, best, measures) ? channel : best);
  const chosen = tracks.size > 1 ? party.reduce(fuller, selected) : selected;
  const own = tracks.size > 1 ? party.filter((channel) => trackOf(channel, recording) === trackOf(chosen, recording)) : party;
  const loudestFirst = own.toSorted((a, b) => measures.energies[b]! - measures.energies[a]!);
  const isOpposite = (a: number, b: number) => alike(a, b, measures) <= OPPOSITE_PHASE_CORRELATION;
  const levels = new Map(own.map((channel) => [channel, levelsOf([channel], measures)]));
  const isEcho = (a: number, b: number) => alike(a, b, measures) < SAME_AUDIO_CORRELATION && isLater(levels.get(a)!, levels.get(b)!);
  const echoes = new Map(own.map((channel) => [channel, own.filter((other) => isEcho(other, channel))]));
  const firstOnes = loudestFirst.toSorted((a, b) => echoes.get(a)!.length - echoes.get(b)!.length);
  const kept: Party = [];
  for (const channel of firstOnes)
    if (!kept.some((other) => isOpposite(other, channel) || echoes.get(channel)!.includes(other))) kept.push(channel);
  return own.filter((channel) => kept.includes(channel));
}

/** Correlation of two channels' samples. */
function alike(a: number, b: number, { energies, products }: Measures): number {
  if (a === b) return 1;
  return products[Math.min(a, b) * energies.length + Math.max(a, b)]! / Math.sqrt(energies[a]! * energies[b]! || 1);
}

/** Frames of sound in a channel that are missing in a copy of it; 0 if they are too few to be speech. */
function missing(copy: number, channel: number, { loudness }: Measures): number {
  const quiet = decibels(MIN_FRAME_RMS * MIN_FRAME_RMS);
  const both = loudness.filter((frame) => frame[copy]! > quiet && frame[channel]! > quiet);
  const louder = both.reduce((sum, frame) => sum + frame[channel]! - frame[copy]!, 0) / (both.length || 1);
  const heard = (frame: Float32Array, i: number) => {
    const around = loudness.slice(Math.max(0, i - MAX_COPY_DELAY_FRAMES), i + MAX_COPY_DELAY_FRAMES + 1);
    return around.some((other) => other[copy]! >= frame[channel]! - louder - MISSING_DECIBELS);
  };
  const frames = loudness.filter((frame, i) => frame[channel]! > quiet && !heard(frame, i)).length;
  return frames >= MIN_MISSING_FRAMES ? frames : 0;
}

function originOf(channel: number, { origins }: Recording): Origin | undefined {
  return origins?.[channel];
}

function trackOf(channel: number, recording: Recording): number {
  return originOf(channel, recording)?.track ?? 0;
}
