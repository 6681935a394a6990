import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { seeded } from '../../../../bench/random.ts';
import { decode, findTools } from '../../../../engine/audio/decode.ts';
import { findTones } from '../../../../engine/audio/signals/tones.ts';
import type { Span } from '../../../../engine/types.ts';
import { clip, other, recordingOf, sine, speech, sum, voice, type Wave } from '../voices.ts';

const RATE = 16_000;
const SECONDS = 8;
const burst =
  (wave: Wave, period: number, ...on: [number, number][]): Wave =>
  (t) =>
    on.some(([from, to]) => t % period >= from && t % period < to) ? wave(t) : 0;
const samplesOf = (wave: Wave, gain = 0.2) => Float32Array.from({ length: SECONDS * RATE }, (_, i) => gain * wave(i / RATE));

/** Call progress tones and signals of machines, with the parts of each period (seconds) in which they sound. */
const SIGNALS: Record<string, Wave> = {
  'European ringing': burst(sine(425), 5, [0, 1]),
  'British ringing': burst(sine(400, 450), 3, [0, 0.4], [0.6, 1]),
  'American ringing': burst(sine(440, 480), 6, [0, 2]),
  'Japanese ringing': burst((t) => sine(400)(t) * (0.6 + 0.4 * Math.sin(2 * Math.PI * 16 * t)), 3, [0, 1]),
  'Australian ringing': burst((t) => sine(425)(t) * (0.5 + 0.5 * Math.sin(2 * Math.PI * 25 * t)), 3, [0, 0.4], [0.6, 1]),
  'European busy tone': burst(sine(425), 1, [0, 0.5]),
  'British busy tone': burst(sine(400), 0.75, [0, 0.375]),
  'American busy tone': burst(sine(480, 620), 1, [0, 0.5]),
  'American dial tone': sine(350, 440),
  'European dial tone': sine(425),
  beeps: burst(sine(1000), 2, [0, 0.3]),
  'a recording warning tone': burst(sine(1400), 4, [0, 0.5]),
  'a fax calling tone': burst(sine(1100), 3.5, [0, 0.5]),
  'a fax answer tone': burst((t) => Math.sin(2 * Math.PI * 2100 * t + Math.PI * Math.floor(t / 0.45)), 8, [0, 3.3]),
  'dialled digits': burst((t) => sine([697, 770, 852, 941][Math.floor(t / 0.16) % 4]!, 1336)(t), 0.16, [0, 0.08]),
  'an American stutter dial tone': (t) => (t < 1 ? burst(sine(350, 440), 0.2, [0, 0.1]) : sine(350, 440))(t),
  'special information tones': burst((t) => sine(t % 4 < 0.33 ? 950 : t % 4 < 0.66 ? 1400 : 1800)(t), 4, [0, 1]),
};

async function found(samples: Float32Array): Promise<Span[]> {
  return findTones(recordingOf(samples), 'mix');
}

/** Share of the non-silent 10 ms frames that lie within `tones`. */
function covered(samples: Float32Array, tones: readonly Span[]): number {
  let [sounding, inside] = [0, 0];
  for (let at = 0; at < samples.length; at += 160) {
    if (samples.subarray(at, at + 160).every((x) => Math.abs(x) < 0.01)) continue;
    sounding++;
    if (tones.some(({ start, end }) => start <= (at + 160) / RATE && end >= at / RATE)) inside++;
  }
  return inside / sounding;
}

for (const [name, wave] of Object.entries(SIGNALS)) {
  t.test(`findTones() finds ${name}, at any level`, async (t) => {
    for (const gain of [0.5, 0.01]) {
      const samples = samplesOf(wave, gain);
      const share = covered(
        samples.map((x) => (x * 0.2) / gain),
        await found(samples),
      );
      t.ok(share > 0.97, `${(100 * share).toFixed(0)} % covered`);
    }
  });
}

const RINGING = ['European ringing', 'British ringing', 'American ringing'];

/** Samples after encoding with a telephone codec and decoding. */
async function coded(t: Test, samples: Float32Array, extension: string, ...codec: string[]): Promise<Float32Array> {
  const { ffmpeg } = await findTools();
  const [raw, path] = [join(t.testdir(), 'raw'), join(t.testdirName, `coded.${extension}`)];
  writeFileSync(raw, new Uint8Array(samples.buffer));
  await promisify(execFile)(ffmpeg, ['-v', 'error', '-f', 'f32le', '-ar', '16000', '-i', raw, ...codec, path]);
  return voice(path);
}

t.test('findTones() finds tones at 8 kHz, in A-law and in mp3', async (t) => {
  for (const name of [...RINGING, 'American busy tone', 'dialled digits', 'an American stutter dial tone']) {
    const samples = samplesOf(SIGNALS[name]!);
    for (const [extension, ...codec] of [
      ['wav', '-ar', '8000', '-c:a', 'pcm_alaw'],
      ['mp3', '-ar', '8000', '-b:a', '16k'],
    ] as const) {
      const received = await coded(t, samples, extension, ...codec);
      const share = covered(samples.subarray(0, received.length), await found(received));
      t.ok(share > 0.9, `${name}, ${extension}: ${(100 * share).toFixed(0)} %`);
    }
  }
});

t.test('findTones() finds tones in line noise of 3 % of their power, not of 10 %', async (t) => {
  const { between } = seeded(1);
  const noise = Float32Array.from({ length: SECONDS * RATE }, () => between(-0.5, 0.5)); // power 1/12
  const noisy = (share: number) => {
    const tone = samplesOf(SIGNALS['European dial tone']!); // power 0.02
    return sum(
      tone,
      noise.map((x) => x * Math.sqrt(0.02 * 12 * share)),
    );
  };
  t.ok(covered(noisy(0.03), await found(noisy(0.03))) > 0.9);
  t.equal(covered(noisy(0.1), await found(noisy(0.1))), 0);
});

t.test('findTones() does not mistake speech for a tone', async (t) => {
  for (const name of ['en_falcon_3spk.wav', 'en_jfk.mp3', 'fr_fleurs-test_000.ogg']) {
    const recording = await decode(clip(name));
    t.strictSame(await findTones(recording, 'mix'), [], name);
    await recording.close();
  }
});

t.test('findTones() keeps a voice over a tone, and one between two tones', async (t) => {
  const tone = samplesOf(SIGNALS['European dial tone']!, 0.05);
  const voiced = other.subarray(0, tone.length);
  const level = (samples: Float32Array) => Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);
  t.ok(level(voiced) > level(tone), 'the voice is louder than the tone');
  const over = await found(sum(voiced, tone));
  const loud = (span: Span) => level(voiced.subarray(span.start * RATE, span.end * RATE)) > 0.05;
  t.strictSame(over.filter(loud), []);
  const ring = samplesOf(SIGNALS['European ringing']!).subarray(0, RATE);
  const between = new Float32Array([
    ...ring,
    ...new Float32Array(RATE / 5),
    ...speech.subarray(28_000, 60_000),
    ...new Float32Array(RATE / 5),
    ...ring,
  ]);
  const spans = await found(between);
  t.equal(spans.length, 2);
  t.ok(Math.abs(spans[0]!.start) < 0.05 && spans[0]!.end > 0.97 && spans[0]!.end < 1.25, `${spans[0]!.start}-${spans[0]!.end}`);
  t.ok(spans[1]!.start > 3.1 && spans[1]!.start < 3.45 && spans[1]!.end > 4.3, `${spans[1]!.start}-${spans[1]!.end}`);
});

t.test('findTones() keeps a voice over a tone that is as loud', async (t) => {
  const level = (samples: Float32Array) => Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);
  for (const decibels of [0, 6]) {
    const loud = level(other) * 10 ** (decibels / 20);
    const spans = await found(other.map((x, i) => x + Math.SQRT2 * loud * Math.sin((2 * Math.PI * 1000 * i) / RATE)));
    const spoken = Array.from({ length: other.length / 800 }, (_, i) => i / 20).filter(
      (second) => level(other.subarray(second * RATE, (second + 0.05) * RATE)) > loud / 2,
    );
    const lost = spoken.filter((second) => spans.some(({ start, end }) => second + 0.025 >= start && second + 0.025 < end));
    t.ok(lost.length < 0.2 * spoken.length, `${decibels} dB: ${lost.length} of ${spoken.length}`);
    t.ok(spans.length > 3, 'the tone is found where nobody speaks');
  }
});

t.test('findTones() joins two tones with 0.3 s between them, apart from the silence that belongs to them', async (t) => {
  const beeps = (pause: number) => found(samplesOf(burst(sine(1000), SECONDS, [1, 1.5], [1.5 + pause, 2 + pause])));
  t.equal((await beeps(0.28)).length, 1);
  t.equal((await beeps(0.7)).length, 2);
});

/** Tones of these frequencies (hertz) and powers, together. */
const chord =
  (...tones: [hertz: number, power: number][]): Wave =>
  (t) =>
    tones.reduce((sum, [hertz, power]) => sum + Math.sqrt(power) * sine(hertz)(t), 0);
/** Two seconds and a little of a wave, which end like the window of 512 samples that starts every 1024. */
const short = (wave: Wave, gain = 0.1) => Float32Array.from({ length: 32 * 1024 + 512 }, (_, i) => gain * wave(i / RATE));
const isTone = async (wave: Wave, gain?: number) => (await found(short(wave, gain))).length > 0;
/** Widths of a bin of the windows of 512 and of 2048 samples, hertz. */
const [COARSE, FINE] = [RATE / 512, RATE / 2048];

t.test('findTones() finds a tone just above -100 dBFS, and hears silence below', async (t) => {
  const rms = (level: number) => level * Math.SQRT2;
  t.ok(await isTone(sine(1000), rms(1.5e-5)));
  t.notOk(await isTone(sine(1000), rms(0.7e-5)));
});

t.test('findTones() finds a chord of three tones, not of four', async (t) => {
  t.ok(await isTone(chord([440, 1], [1130, 1], [1870, 1])));
  t.notOk(await isTone(chord([440, 1], [1130, 1], [1870, 1], [2710, 1])));
});

t.test('findTones() skips a chord whose strongest tone, in a short window, is below 260 Hz', async (t) => {
  // Between two bins of the short window, the upper tone looks weaker than the lower one there. It is the strongest, and above 300 Hz.
  const upper: [number, number] = [14.5 * COARSE, 1];
  t.ok(await isTone(chord([9 * COARSE, 0.85], upper)), '281 Hz');
  t.notOk(await isTone(chord([8 * COARSE, 0.85], upper)), '250 Hz');
});

t.test('findTones() allows 0.7 % of the power beside a tone: at 2 to 8 bins from it', async (t) => {
  // The strongest of the weak tones is ignored wherever it is: the third one here.
  const beside = (bins: number, power: number) => isTone(chord([128 * FINE, 1], [(128 + bins) * FINE, power], [256 * FINE, 0.0095]));
  t.ok(await beside(5, 0.005));
  t.notOk(await beside(5, 0.009));
  t.ok(await beside(1, 0.009), 'part of the tone');
  t.notOk(await beside(7, 0.009), 'still beside it');
  t.ok(await beside(12, 0.009), 'too far away');
});

t.test('findTones() finds a tone that drifts by less than 1 Hz from one fine window to the next', async (t) => {
  const drifting = (hertz: number) => isTone((t) => Math.sin(2 * Math.PI * (1000 + ((hertz * RATE) / 256 / 2) * t) * t));
  t.ok(await drifting(0.7));
  t.notOk(await drifting(1.3));
});

t.test('findTones() finds a tone whose power changes by less than 30 % from one fine window to the next', async (t) => {
  // The power rises and falls with the period of a fine window, 2048 samples. Every fine window is centred where it changes most, or 45
  // degrees before or after. By the shape of the window, its power changes by 0.94 of the depth from one to the next.
  const wavering = (depth: number) => isTone((t) => sine(128 * FINE)(t) * (1 + depth * Math.sin(2 * Math.PI * FINE * (t - 256 / RATE))));
  t.ok(await wavering(0.2));
  t.notOk(await wavering(0.4));
});

t.test('findTones() ends a tone where less than 88 % of the power is its own', async (t) => {
  const { between } = seeded(2);
  const end = async (noise: number) => {
    const samples = short((t) => Math.SQRT2 * sine(1000)(t) + (t < 1 ? 0 : between(-1, 1) * Math.sqrt(3 * noise)));
    return (await found(samples)).at(-1)!.end;
  };
  t.ok((await end(0.1)) > 2, 'continues at 91 %');
  t.ok(Math.abs((await end(0.25)) - 1) < 0.05, 'ends at 80 %');
});

t.test('findTones() counts up to 0.15 s of noise 30 dB below a tone as its end', async (t) => {
  const { between } = seeded(3);
  const end = async (noise: number) => {
    const samples = short((t) => (t < 1 ? Math.SQRT2 * sine(1000)(t) : 0) + between(-1, 1) * Math.sqrt(3 * noise));
    return (await found(samples)).at(-1)!.end;
  };
  const [quiet, loud] = [await end(0.0005), await end(0.002)];
  t.ok(Math.abs(quiet - 1.15) < 0.03, `${quiet} s at -33 dB`);
  t.ok(Math.abs(loud - 1) < 0.03, `${loud} s at -27 dB`);
});
