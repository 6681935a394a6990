import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Parties, partiesOf } from '../../../../engine/audio/channels/parties.ts';
import { programmesOf } from '../../../../engine/audio/channels/surround.ts';
import { decode } from '../../../../engine/audio/decode.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';
import { ffmpeg } from '../../hostile/bench.ts';
import { noise, other, recordingOf, scaled, speech, sum } from '../voices.ts';

const folder = t.testdir();
const COUNT = 80_000; // 5 s
const ALL = [0, 1, 2, 3, 4, 5];
const cut = (samples: Float32Array, from = 0) => samples.slice(from, from + COUNT);
const dialogue = cut(other);
/** Bursts of noise, each side at its own times, and softer than the dialogue where they are. */
const music = (seed: number) => noise(seed, (frame) => ((frame * seed) % 11 < 5 ? 0.03 : 0.003));
const rumble = Float32Array.from(
  { length: COUNT },
  (_, i) => (i % 32_000 < 9000 ? 0.3 : 0) * Math.sin((2 * Math.PI * 50 * i) / SAMPLE_RATE),
);
const FILM = [sum(music(2), scaled(dialogue, 0.1)), sum(music(3), scaled(dialogue, 0.1)), dialogue, rumble, music(5), music(7)];
/** Six people, each 20 dB softer on all other channels. */
const voices = [dialogue, cut(speech), cut(other, 40_000), cut(speech, 30_000), cut(other, 80_000), cut(speech, 80_000)];
const PEOPLE = voices.map((own) =>
  voices.reduce((all, voice) => sum(all, scaled(voice, voice === own ? 1 : 0.03)), new Float32Array(COUNT)),
);

/** Six channels in a file that declares 5.1, or as a WAV file without a layout. */
async function write(channels: readonly Float32Array[], name: string, ...args: string[]): Promise<string> {
  const raw = join(folder, 'raw');
  writeFileSync(
    raw,
    Float32Array.from({ length: 6 * COUNT }, (_, i) => channels[i % 6]![Math.floor(i / 6)]!),
  );
  const path = join(folder, name);
  const layout = ['-af', `pan=5.1|${ALL.map((c) => `c${c}=c${c}`).join('|')},aresample=48000`];
  await ffmpeg('-f', 'f32le', '-ar', '16000', '-ac', '6', '-i', raw, ...layout, '-strict', '-2', ...args, path);
  return path;
}

async function found(path: string): Promise<Parties> {
  const recording = await decode(path);
  t.teardown(() => recording.close());
  return partiesOf(recording);
}

t.test('partiesOf() takes the sound of a film for one party, in every codec and container', async (t) => {
  const FORMS: Record<string, string[]> = {
    'ac3.mkv': ['-c:a', 'ac3'],
    'eac3.mp4': ['-c:a', 'eac3'],
    'dts.mkv': ['-c:a', 'dca'],
    'truehd.mkv': ['-c:a', 'truehd'],
    'aac.m4a': ['-c:a', 'aac', '-b:a', '384k'],
    'opus.webm': ['-c:a', 'libopus', '-b:a', '384k'],
    'flac.flac': [],
    'pcm.wav': [],
    'pcm.mov': ['-c:a', 'pcm_s16le'],
  };
  for (const [name, args] of Object.entries(FORMS)) {
    const { parties } = await found(await write(FILM, name, ...args));
    t.strictSame(parties, [ALL], name);
  }
});

t.test('partiesOf() keeps six people apart, also where six channels are declared as 5.1', async (t) => {
  const apart = ALL.map((channel) => [channel]);
  for (const name of ['six.wav', 'six.flac']) t.strictSame((await found(await write(PEOPLE, name))).parties, apart, name);
  const [one] = (await found(await write(PEOPLE, 'six.ac3'))).parties;
  t.ok(one!.length > 1, 'but a codec of films has one programme');
});

t.test('partiesOf() keeps three people apart on a recorder with six channels, whose voices leak into each other', async (t) => {
  const three = voices.slice(0, 3);
  for (const leak of [0.03, 0.1]) {
    const heard = three.map((own) =>
      three.reduce((all, voice) => sum(all, scaled(voice, voice === own ? 1 : leak)), new Float32Array(COUNT)),
    );
    const path = await write([...heard, ...[1, 3, 5].map((seed) => noise(seed, 1e-4))], 'three.wav');
    t.strictSame((await found(path)).parties, [[0], [1], [2]], `${leak}`);
  }
});

t.test('programmesOf() takes music in the centre, too, for a programme', async (t) => {
  const [left, right] = [music(2), music(3)];
  const centre = sum(dialogue, sum(scaled(left, 0.15), scaled(right, 0.15)));
  const film = recordingOf(sum(left, scaled(dialogue, 0.1)), sum(right, scaled(dialogue, 0.1)), centre, noise(9, 1e-5));
  t.equal((await programmesOf({ ...film, surround: [{ channels: [0, 1, 2, 3], film: false }] }, [0, 1, 2])).length, 1);
});

t.test('partiesOf() takes the films of several tracks for a party each', async (t) => {
  const path = join(folder, 'two.mkv');
  const others = [1, 3, 5, 3, 5, 1].map((voice) => voices[voice]!);
  const commentary = await write(others, 'commentary.mkv', '-c:a', 'ac3');
  await ffmpeg('-i', await write(FILM, 'film.mkv', '-c:a', 'ac3'), '-i', commentary, '-map', '0', '-map', '1', '-c', 'copy', path);
  const { parties } = await found(path);
  t.equal(parties.length, 2);
  t.ok(parties[0]!.every((channel) => channel < 6) && parties[1]!.every((channel) => channel >= 6));
});

t.test('partiesOf() takes a film and its stereo mix on the next track for one party', async (t) => {
  const loud = (seed: number) => noise(seed, (frame) => ((frame * seed) % 11 < 5 ? 0.08 : 0.016));
  const [left, right, rear] = [2, 3, 5].map(loud) as [Float32Array, Float32Array, Float32Array];
  const film = await write(
    [sum(left, scaled(dialogue, 0.1)), sum(right, scaled(dialogue, 0.1)), dialogue, rumble, rear, loud(7)],
    'loud.mkv',
    '-c:a',
    'ac3',
  );
  for (const [first, second] of [
    [0, 1],
    [1, 0],
  ]) {
    const path = join(folder, `mixes${first}.mkv`);
    await ffmpeg('-i', film, '-map', '0', '-map', '0', `-c:a:${first}`, 'copy', `-c:a:${second}`, 'aac', `-ac:a:${second}`, '2', path);
    t.equal((await found(path)).parties.length, 1);
  }
});

t.test('partiesOf() keeps the centre of a film whose louder sides are in opposite phase', async (t) => {
  const loud = noise(2, 0.3);
  const recording = recordingOf(loud, scaled(loud, -1), dialogue, rumble);
  const { parties } = await partiesOf({ ...recording, surround: [{ channels: [0, 1, 2, 3], film: true }] });
  t.strictSame(parties, [[0, 2, 3]]);
});

t.test('programmesOf() needs some of the centre on either side, and no speech among the low frequencies', async (t) => {
  const channels = [0, 1, 2, 3];
  const surround = [{ channels, film: false }];
  const isOne = async (left: Float32Array, right: Float32Array, low: Float32Array, audible = channels) =>
    (await programmesOf({ ...recordingOf(left, right, dialogue, low), surround }, audible)).length === 1;
  const [left, right] = FILM as [Float32Array, Float32Array];
  t.ok(await isOne(left, right, rumble));
  t.notOk(await isOne(music(2), right, rumble), 'nothing on the left');
  t.notOk(await isOne(left, music(3), rumble), 'nothing on the right');
  t.notOk(await isOne(left, right, voices[1]!), 'speech');
  t.ok(await isOne(left, right, noise(1, 1e-5), [0, 1, 2]), 'no low frequencies at all');
});
