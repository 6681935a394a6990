import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findTools } from '../../engine/audio/decode.ts';
import type { Segment } from '../../engine/types.ts';
import { countErrors } from '../errors/align.ts';
import { bestMapping } from '../errors/der.ts';
import { addErrors, type Errors, englishWords, NO_ERRORS } from '../errors/normalise.ts';
import { seeded } from '../random.ts';
import type { Split } from '../recordings/clips.ts';
import { conversation, type TrueWordRun } from '../recordings/conversations.ts';
import { mixInto, SAMPLE_RATE, scaled, telephone, writeWav } from '../recordings/sound.ts';

type Channels = [left: Float32Array, right: Float32Array];

/** A call of two parties: each alone, as picked up by their own microphone, and their words. */
export interface Call {
  tracks: Channels;
  said: TrueWordRun[];
}

/** The same seed gives the same call. Some turns interrupt the other party. */
export async function call(seed: number, seconds: number, data?: string, split?: Split): Promise<Call> {
  const { tracks, said } = await conversation(seed, { speakers: 2, seconds, overlaps: 0.12, apart: true, data, split });
  return { tracks: tracks as Channels, said };
}

/** Effects of lines and recorders on two parties. */
export const LINES: Record<string, (parties: Channels) => Channels> = {
  'a channel each': ([a, b]) => [a, b],
  'a channel each, one 20 dB softer': ([a, b]) => [a, scaled(b, gain(-20))],
  'each also on the other, -40 dB': (parties) => leaking(parties, -40, 0),
  'each also on the other, -30 dB, 10 ms late': (parties) => leaking(parties, -30, 10),
  'each also on the other, -20 dB, 50 ms late': (parties) => leaking(parties, -20, 50),
  'each also on the other, -10 dB, 30 ms late': (parties) => leaking(parties, -10, 30),
  'each also on the other, -10 dB, 30 ms late, mp3': (parties) => leaking(parties, -10, 30),
  'one also on the other, -10 dB, 40 ms late': ([a, b]) => [a, plus(b, earpiece(a), -10, 40)],
  'both on both': ([a, b]) => both(plus(a, b)),
  'both on both, mp3': ([a, b]) => both(plus(a, b)),
  'both on both, one 3 dB softer and a sample late': ([a, b]) => [plus(a, b), late(scaled(plus(a, b), gain(-3)), 1)],
  'both on both, one 20 ms late': ([a, b]) => [plus(a, b), late(plus(a, b), 0.02 * SAMPLE_RATE)],
  'both on one': ([a, b]) => [plus(a, b), new Float32Array(a.length)],
  'two microphones in a room': ([a, b]) => [plus(a, b, -4, 3), plus(b, a, -4, 3)],
};

const HISS = -65; // dBFS on either channel, like line noise

/** Writes a call as recorded at the end of one of LINES. Returns the path of a stereo wav file, or of an mp3 of 64 kbit/s. */
export async function record({ tracks }: Call, line: string, folder: string): Promise<string> {
  const random = seeded(17);
  const hiss = (samples: Float32Array) => samples.map((x) => x + gain(HISS) * random.normal());
  const heard = LINES[line]!(tracks);
  const left = hiss(heard[0]);
  const wav = join(folder, 'call.wav');
  await writeWav(wav, left, heard[0] === heard[1] ? left : hiss(heard[1]));
  if (!line.endsWith('mp3')) return wav;
  const { ffmpeg } = await findTools();
  const mp3 = join(folder, 'call.mp3');
  await promisify(execFile)(ffmpeg, ['-y', '-v', 'error', '-i', wav, '-b:a', '64k', mp3]);
  return mp3;
}

export interface PartyErrors {
  /** Errors of each party's words against its transcript: a word of the other party, a missing one and a duplicate all count. */
  errors: Errors;
  /** Words transcribed for both parties within 0.5 s. */
  twice: number;
  parties: number;
}

/** Word errors per party, under the assignment of found speakers to parties with the fewest errors. */
export function partyErrors(said: readonly TrueWordRun[], segments: readonly Segment[]): PartyErrors {
  const speakers = [...new Set(said.map(({ speaker }) => speaker))];
  const truth = speakers.map((speaker) => said.filter((run) => run.speaker === speaker).flatMap((run) => englishWords(run.transcript)));
  const names = [...new Set(segments.map(({ speaker }) => speaker))];
  const found = names.map((name) => englishWords(segments.flatMap((s) => (s.speaker === name ? s.text : [])).join(' ')));
  const wrong = (e: Errors) => e.substituted + e.deleted + e.inserted;
  const gains = truth.map((words) => found.map((other) => words.length + other.length - wrong(countErrors(words, other))));
  const mapping = bestMapping(gains);
  const pairs = truth.map((words, i) => countErrors(words, found[mapping[i]!] ?? []));
  const strangers = found.filter((_, j) => !mapping.includes(j)).map((words) => countErrors([], words));
  return { errors: [...pairs, ...strangers].reduce(addErrors, NO_ERRORS), twice: twice(segments), parties: names.length };
}

const TOGETHER = 0.5; // seconds

function twice(segments: readonly Segment[]): number {
  const words = segments.flatMap(({ speaker, words }) =>
    words.map((word) => ({ ...word, speaker, plain: englishWords(word.text).join('') })),
  );
  const ordered = words.toSorted((a, b) => a.start - b.start);
  let count = 0;
  for (const [i, word] of ordered.entries()) {
    for (let j = i + 1; j < ordered.length && ordered[j]!.start - word.start < TOGETHER; j++)
      if (ordered[j]!.speaker !== word.speaker && ordered[j]!.plain === word.plain) count++;
  }
  return count;
}

function gain(decibels: number): number {
  return 10 ** (decibels / 20);
}

function both(samples: Float32Array): Channels {
  return [samples, samples];
}

function late(samples: Float32Array, by: number): Float32Array {
  const out = new Float32Array(samples.length);
  mixInto(out, samples, Math.round(by));
  return out;
}

/** Mixes an attenuated and delayed sound into another one. */
function plus(own: Float32Array, other: Float32Array, decibels = 0, milliseconds = 0): Float32Array {
  const out = own.slice();
  mixInto(out, scaled(other, gain(decibels)), Math.round((milliseconds * SAMPLE_RATE) / 1000));
  return out;
}

/** Each party leaks into the other's channel through an earpiece: narrow-band, with two reflections. */
function leaking([a, b]: Channels, decibels: number, milliseconds: number): Channels {
  return [plus(a, earpiece(b), decibels, milliseconds), plus(b, earpiece(a), decibels, milliseconds)];
}

function earpiece(voice: Float32Array): Float32Array {
  return plus(plus(telephone(voice), telephone(voice), -8, 1), telephone(voice), -14, 2.5);
}
