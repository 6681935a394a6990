import t from 'tap';
import { diarizationError } from '../../../bench/errors/der.ts';
import { seeded } from '../../../bench/random.ts';
import { convolved, distance, impulseResponse, type Point } from '../../../bench/recordings/acoustics.ts';
import { voices } from '../../../bench/recordings/clips.ts';
import { cleanSamples } from '../../../bench/recordings/conversations.ts';
import { castNames, meeting } from '../../../bench/recordings/rooms.ts';
import { level, SAMPLE_RATE, withoutRumble } from '../../../bench/recordings/sound.ts';

const ROOM = { size: [6, 4.5, 3], reverberation: 0.4 } as const;
const SOURCE: Point = [1.5, 1.2, 1.3];
const MICROPHONE: Point = [3.6, 2.4, 0.8];

t.test('impulseResponse() delays and attenuates the direct sound by its distance, and is zero before it', async (t) => {
  const response = impulseResponse(ROOM, SOURCE, MICROPHONE);
  const metres = distance(SOURCE, MICROPHONE);
  const at = Math.round((metres / 343) * SAMPLE_RATE);
  const loudest = response.reduce((best, x, i) => (Math.abs(x) > Math.abs(response[best]!) ? i : best), 0);
  t.ok(Math.abs(loudest - at) <= 1, `${loudest} of ${at}`);
  t.ok(Math.abs(response[loudest]! * metres - 1) < 0.4, `${response[loudest]}`); // exactly 1 only if the delay is a whole number of samples
  t.ok(response.subarray(0, at - 20).every((x) => x === 0));
});

t.test('impulseResponse() decays by 60 dB in about the requested time, in non-cubic rooms later than the formula predicts', async (t) => {
  for (const reverberation of [0.3, 0.6]) {
    const response = impulseResponse({ ...ROOM, reverberation }, SOURCE, MICROPHONE);
    const left = new Float64Array(response.length + 1); // energy from each sample to the end (Schroeder integration)
    for (let i = response.length - 1; i >= 0; i--) left[i] = left[i + 1]! + response[i]! ** 2;
    const after = (decibels: number) => left.findIndex((energy) => 10 * Math.log10(energy / left[0]!) < decibels) / SAMPLE_RATE;
    const measured = 3 * (after(-25) - after(-5));
    t.ok(measured > 0.75 * reverberation && measured < 1.5 * reverberation, `${measured} s of ${reverberation} s`);
  }
});

t.test('convolved() is the sum of delayed copies', async (t) => {
  const random = seeded(4);
  const sound = new Float32Array(70_000).map(() => random.normal());
  const response = new Float32Array(900);
  response[0] = 1;
  response[137] = -0.5;
  response[899] = 0.25;
  const echoed = convolved(sound, response);
  t.equal(echoed.length, sound.length);
  for (const i of [0, 100, 137, 5000, 32_000, 33_000, 69_999]) {
    const wanted = sound[i]! - 0.5 * (sound[i - 137] ?? 0) + 0.25 * (sound[i - 899] ?? 0);
    t.ok(Math.abs(echoed[i]! - wanted) < 1e-4, `sample ${i}: ${echoed[i]} of ${wanted}`);
  }
});

t.test('meeting() is the same for the same seed, with the requested number of speakers, overlap and interjections', async (t) => {
  const options = { speakers: 4, seconds: 60, overlap: 0.2, split: 'tuning' } as const;
  const [made, again] = [await meeting(3, options), await meeting(3, options)];
  t.strictSame(made.turns, again.turns);
  t.equal(Buffer.compare(Buffer.from(made.samples.buffer), Buffer.from(again.samples.buffer)), 0);
  t.equal(new Set(made.turns.map(({ speaker }) => speaker)).size, 4);
  const people = new Uint8Array(Math.ceil(made.samples.length / 160));
  for (const { start, end } of made.turns) for (let i = Math.round(start * 100); i < Math.round(end * 100); i++) people[i]!++;
  const [speech, together] = [people.filter((n) => n > 0).length, people.filter((n) => n > 1).length];
  t.ok(together / speech > 0.1 && together / speech < 0.3, `${together} of ${speech} overlap`);
  t.ok(made.interjections.length >= 2);
  for (const { start, end } of made.interjections) t.ok(end - start >= 0.2 && end - start <= 0.95, `${end - start} s`);
  for (const metres of made.distances) t.ok(metres >= 0.5 && metres <= 4, `${metres} m`);
  t.ok(
    made.samples.every((x) => Math.abs(x) < 1),
    'nothing is clipped',
  );
});

t.test('meeting() contains only noise and reverberation between speech', async (t) => {
  const made = await meeting(5, { speakers: 3, seconds: 15, overlap: 0.1, split: 'tuning' });
  const first = made.turns[0]!.start;
  const energy = (from: number, to: number) => {
    const part = made.samples.subarray(Math.round(from * SAMPLE_RATE), Math.round(to * SAMPLE_RATE));
    return 10 * Math.log10(part.reduce((sum, x) => sum + x * x, 0) / part.length);
  };
  t.ok(energy(first, first + 0.5) > energy(0, first - 0.02) + 8, 'the first turn starts at its reference time');
  t.equal(diarizationError(made.turns, made.turns).error, 0);
});

t.test('castNames() returns disjoint sets of voices for tuning and test, with enough voices each', async (t) => {
  const [tuning, held] = [castNames('tuning'), castNames('test')];
  t.strictSame(
    tuning.filter((name) => held.includes(name)),
    [],
  );
  t.ok(tuning.length >= 8 && held.length >= 8, `${tuning.length} and ${held.length} voices`);
});

t.test('cleanSamples() removes what is below hearing, so that speech decides the level of a voice', async (t) => {
  for (const name of ['mfa:michael', 'librispeech:1688']) {
    const clean = await cleanSamples(voices().get(name)![0]!);
    t.ok(level(clean) < 2 * level(withoutRumble(clean)), `${name}: without its fundamental the voice keeps most of its level`);
  }
});
