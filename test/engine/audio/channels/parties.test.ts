import t from 'tap';
import { arranged } from '../../../../engine/audio/channels/arranged.ts';
import { partiesOf } from '../../../../engine/audio/channels/parties.ts';
import { decode } from '../../../../engine/audio/decode.ts';
import type { Recording } from '../../../../engine/types.ts';
import { clip, noise, other, recordingOf, scaled, speech, sum } from '../voices.ts';

const third = speech.map((_, i) => speech[(i + 70_000) % speech.length]! * (i % 64_000 < 32_000 ? 1 : 0));
const nothing = new Float32Array(speech.length);
const parties = async (...channels: Float32Array[]) => (await partiesOf(recordingOf(...channels))).parties;

/** The parties of tracks with one channel each, of which players select one. */
async function tracks(chosen: number, ...channels: Float32Array[]) {
  const origins = channels.map((_, track) => ({ track, default: track === chosen, language: null }));
  return (await partiesOf({ ...recordingOf(...channels), origins })).parties;
}

t.test('partiesOf() detects a call if each channel has its own voice, also with crosstalk', async (t) => {
  t.strictSame(await parties(speech, other), [[0], [1]]);
  t.strictSame(await parties(sum(speech, scaled(other, 0.05)), sum(other, scaled(speech, 0.05))), [[0], [1]]);
  const recording = await decode(clip('en_faster-whisper_stereo_one-speaker-per-channel.wav'));
  t.strictSame((await partiesOf(recording)).parties, [[0], [1]]);
  await recording.close();
});

t.test('partiesOf() mixes identical channels, and two microphones in one room', async (t) => {
  t.strictSame(await parties(speech, speech), [[0, 1]]);
  t.strictSame(await parties(speech, scaled(speech, 0.4)), [[0, 1]]);
  const late = sum(scaled(speech, 0.8), new Float32Array([...new Float32Array(80), ...speech.subarray(0, speech.length - 80)])); // 5 ms later
  t.strictSame(await parties(speech, late), [[0, 1]]);
});

t.test('partiesOf() takes one of two channels that are the same with a delay, but not two people for one', async (t) => {
  const late = (samples: Float32Array, seconds: number) =>
    new Float32Array([...new Float32Array(16_000 * seconds), ...samples]).subarray(0, samples.length);
  for (const seconds of [0.1, 0.3, 0.6, 0.95, 1.5]) {
    t.strictSame(await parties(speech, late(speech, seconds)), [[0]], `${seconds} s`);
    t.strictSame(await parties(late(scaled(other, 0.3), seconds), other), [[1]], `${seconds} s, quieter`);
    t.strictSame(await tracks(0, speech, late(speech, seconds)), [[0]], `${seconds} s, on another track`);
    t.strictSame(await parties(speech, late(other, seconds)), [[0], [1]]);
  }
  const long = new Float32Array([...speech, ...other, ...third]);
  t.strictSame(await parties(long, late(long, 2.9)), [[0]], '2.9 s, in half a minute');
  t.strictSame(await parties(long, new Float32Array([...late(other, 2.9), ...third, ...speech])), [[0], [1]]);
  const word = other.map((x, i) => (i > 6000 && i < 20_000 ? x : 0));
  t.strictSame(await parties(word, late(word, 0.8)), [[0], [1]], 'a short answer may be as loud as the question');
});

t.test('partiesOf() takes one of two channels that are the same with a delay, of which it looks at blocks far apart', async (t) => {
  const piece = (number: number) => [speech, other, third][((number % 3) + 3) % 3]!;
  const delay = 14_000;
  const recording: Recording = {
    channels: 2,
    length: 180 * speech.length,
    decoded: Promise.resolve(180 * speech.length),
    read: async (channel, start) => {
      const number = start / speech.length;
      if (channel === 0) return piece(number).slice();
      return new Float32Array([...piece(number - 1).subarray(-delay), ...piece(number).subarray(0, -delay)]);
    },
    close: async () => {},
  };
  t.strictSame((await partiesOf(recording)).parties, [[0]]);
});

t.test('partiesOf() selects the only channel with sound, and one of two in opposite phase', async (t) => {
  t.strictSame(await partiesOf(recordingOf(speech, nothing)), { parties: [[0]], silent: true });
  t.strictSame(await partiesOf(recordingOf(nothing, speech)), { parties: [[1]], silent: true });
  t.strictSame(await partiesOf(recordingOf(scaled(speech, -0.5), speech)), { parties: [[1]], silent: false });
  t.strictSame(await partiesOf(recordingOf(nothing, nothing)), { parties: [[0, 1]], silent: false });
});

t.test('partiesOf() distinguishes parties, rooms and silence on any number of channels', async (t) => {
  t.strictSame(await parties(nothing, nothing, speech), [[2]]);
  t.strictSame(await parties(speech, other, third), [[0], [1], [2]]);
  t.strictSame(await parties(speech, other, scaled(speech, 0.7), nothing, scaled(other, 0.2)), [
    [0, 2],
    [1, 4],
  ]);
  t.strictSame(await parties(speech, scaled(speech, -1.2), speech, other), [[1], [3]], 'the louder phase');
  const hiss = Array.from({ length: 15 }, (_, i) => noise(i, 0.001));
  t.strictSame((await parties(...hiss, speech.subarray(0, hiss[0]!.length))).at(-1), [15]);
});

t.test('partiesOf() treats different tracks as parties, however faint, and selects the default one of two copies', async (t) => {
  t.strictSame(await tracks(0, speech, scaled(other, 0.004)), [[0], [1]]);
  t.strictSame(await tracks(1, speech, other), [[0], [1]]);
  const late = new Float32Array([...nothing.subarray(0, 300), ...scaled(speech, 0.9)]).subarray(0, speech.length);
  t.strictSame(await tracks(1, speech, late), [[1]]);
  t.strictSame(await tracks(0, speech, late), [[0]]);
});

t.test('partiesOf() selects the copy that has more than the default one, whatever their levels and delay', async (t) => {
  const hiss = (seed: number) => new Float32Array([...noise(seed, 0.001), ...noise(seed + 1, 0.001)]);
  const microphone = sum(
    speech.map((x, i) => (i > 60_000 && i < 100_000 ? 0 : x)),
    hiss(1),
  ); // silent for 2.5 s
  const word = speech.map((_, i) => (i > 65_000 && i < 81_000 ? 0.2 * other[i - 50_000]! : 0));
  const everything = sum(microphone, word);
  t.strictSame(await tracks(0, microphone, everything), [[1]]);
  t.strictSame(await tracks(1, everything, microphone), [[0]]);
  for (const samples of [300, 1000, 4000]) {
    const late = new Float32Array([...hiss(3).subarray(0, samples), ...scaled(everything, 0.2)]).subarray(0, speech.length);
    t.strictSame(await tracks(0, everything, late), [[0]], `${samples} samples later, neither has more`);
    t.strictSame(await tracks(1, everything, late), [[1]], `${samples} samples later, neither has more`);
  }
});

t.test('arranged() returns the mean of each party’s channels, and of all for the mix', async (t) => {
  const voices = arranged(recordingOf(scaled(speech, 1), nothing, scaled(speech, 0.5), other), [[0, 2], [3]]);
  t.equal(voices.channels, 2);
  const [first, second, mix] = await Promise.all([
    voices.read(0, 50_000, 50_100),
    voices.read(1, 50_000, 50_100),
    voices.read('mix', 50_000, 50_100, new Float32Array(60)),
  ]);
  const near = (found: Float32Array, wanted: (i: number) => number) => found.every((x, i) => Math.abs(x - wanted(50_000 + i)) < 1e-6);
  t.ok(near(first, (i) => 0.75 * speech[i]!));
  t.ok(near(second, (i) => other[i]!));
  t.ok(near(mix, (i) => (1.5 * speech[i]! + other[i]!) / 3));
  t.equal(mix.length, 60, 'as much as fits into the buffer');
});

t.test('partiesOf() returns a single channel immediately, before it is decoded', async (t) => {
  const recording: Recording = { ...recordingOf(speech), decoded: new Promise(() => {}) };
  t.strictSame((await partiesOf(recording)).parties, [[0]]);
});

t.test('partiesOf() detects a party that speaks for any 10 s of 30 minutes', async (t) => {
  for (const spoken of [0, 61, 124, 179]) {
    const recording: Recording = {
      channels: 2,
      length: 180 * speech.length,
      decoded: Promise.resolve(180 * speech.length),
      read: async (channel, start) => (channel === 0 ? speech : start === spoken * speech.length ? other : nothing).slice(),
      close: async () => {},
    };
    t.strictSame((await partiesOf(recording)).parties, [[0], [1]], `${10 * spoken} seconds on`);
  }
});

t.test('partiesOf() ignores a constant offset in the channels', async (t) => {
  const raised = (samples: Float32Array, by: number) => samples.map((x) => x + by);
  for (const [left, right] of [
    [0.1, -0.1],
    [0.1, 0.1],
    [0.3, 0],
  ] as const) {
    t.strictSame(await parties(raised(scaled(speech, 0.3), left), raised(scaled(other, 0.3), right)), [[0], [1]]);
    t.strictSame(await parties(raised(scaled(speech, 0.3), left), raised(scaled(speech, 0.3), right)), [[0, 1]]);
    t.strictSame(await parties(raised(scaled(speech, -0.2), left), raised(scaled(speech, 0.3), right)), [[1]], 'opposite phase');
  }
});

t.test('partiesOf() ignores a channel 40 dB below the loudest of its track, and a track 60 dB below the loudest of all', async (t) => {
  const loud = noise(1, 0.5);
  const below = (decibels: number) => noise(2, 0.5 * 10 ** (-decibels / 20));
  t.strictSame(await partiesOf(recordingOf(loud, below(38))), { parties: [[0], [1]], silent: false });
  t.strictSame(await partiesOf(recordingOf(loud, below(42))), { parties: [[0]], silent: true });
  t.strictSame(await tracks(0, loud, below(58)), [[0], [1]]);
  t.strictSame(await tracks(0, loud, below(62)), [[0]]);
});

t.test('partiesOf() does not take a dubbed film for a copy, of which it would select the one with more', async (t) => {
  const music = noise(1, (frame) => (frame % 7 < 3 ? 0.2 : 0.002));
  const [original, dubbed] = [other, speech].map((voice) => sum(music, scaled(voice.slice(0, music.length), 0.03)));
  const among = async (...languages: (string | null)[]) => {
    const origins = languages.map((language, track) => ({ track, default: track === 0, language }));
    return (await partiesOf({ ...recordingOf(original!, sum(dubbed!, noise(3, 1e-3))), origins })).parties;
  };
  t.equal((await among(null, 'de')).length, 1);
  t.strictSame(await among('en', 'de'), [[0], [1]]);
});

t.test('partiesOf() compares channels with the loudest one that may have speech', async (t) => {
  const [code, loud, soft] = [noise(1, 0.5), noise(2, 0.05), noise(3, 0.003)];
  const among = (...unspoken: number[]) => partiesOf(recordingOf(code, loud, soft), undefined, new Set(unspoken));
  t.strictSame(await among(), { parties: [[0], [1]], silent: true });
  t.strictSame(await among(0), { parties: [[1], [2]], silent: true });
  t.strictSame(await among(0, 1), { parties: [[2]], silent: true });
  t.strictSame(await among(0, 1, 2), { parties: [], silent: true });
});

t.test('partiesOf() ignores sound below -60 dBFS', async (t) => {
  const both = (decibels: number) => [noise(1, 10 ** (decibels / 20)), noise(2, 10 ** (decibels / 20))];
  t.strictSame(await parties(...both(-58)), [[0], [1]]);
  t.strictSame(await parties(...both(-62)), [[0, 1]]);
});

t.test('partiesOf() mixes channels whose samples correlate by 0.95, however their loudness differs', async (t) => {
  /** Knocks in both channels, in one frame of 20, with this share of the energy; hiss in turns, in the others. */
  const knocked = (share: number) => {
    const hiss = 0.3 * Math.sqrt((1 / share - 1) / 9.5);
    const channel = (turn: number) => noise(2 + turn, (frame) => (frame % 20 === 0 ? 0 : frame % 2 === turn ? hiss : hiss / 30));
    const knocks = noise(1, (frame) => (frame % 20 === 0 ? 0.3 : 0));
    return [sum(knocks, channel(0)), sum(knocks, channel(1))];
  };
  t.strictSame(await parties(...knocked(0.97)), [[0, 1]]);
  t.strictSame(await parties(...knocked(0.92)), [[0], [1]]);
  t.strictSame(await parties(...knocked(0.5)), [[0], [1]]);
});

t.test('partiesOf() mixes channels whose loudness correlates by 0.6, and selects one of two tracks from 0.9 on', async (t) => {
  /** Channels of unrelated samples, levels in dB: this share of their variance in common, the rest their own. */
  const alike = (share: number) => {
    const swing = (frame: number, bit: number) => (frame & (1 << bit) ? 12 : -12);
    return [1, 2].map((own) =>
      noise(own, (frame) => 0.1 * 10 ** ((Math.sqrt(share) * swing(frame, 0) + Math.sqrt(1 - share) * swing(frame, own)) / 20)),
    );
  };
  t.strictSame(await parties(...alike(0.55)), [[0], [1]]);
  t.strictSame(await parties(...alike(0.65)), [[0, 1]]);
  t.strictSame(await tracks(0, ...alike(0.85)), [[0], [1]]);
  t.strictSame(await tracks(0, ...alike(0.95)), [[0]]);
});

t.test('partiesOf() notices that both microphones pick up sounds of 30 ms', async (t) => {
  const rattle = (frame: number) => (frame % 2 ? 0.02 : 0.2);
  t.strictSame(await parties(noise(1, rattle), noise(2, rattle)), [[0, 1]]);
});
