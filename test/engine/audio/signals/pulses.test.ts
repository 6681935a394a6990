import t from 'tap';
import { decode } from '../../../../engine/audio/decode.ts';
import { piecesOf } from '../../../../engine/audio/signals/pieces.ts';
import { Pulses } from '../../../../engine/audio/signals/pulses.ts';
import type { Recording, Span } from '../../../../engine/types.ts';
import { clip, noise, other, recordingOf, sine, sum, type Wave } from '../voices.ts';

const RATE = 16_000;
const SECONDS = 5;
/** As many pulses as fit, from `from` to `to` seconds; `wave` may depend on the number of the pulse. */
const pulses =
  (on: number, off: number, wave: (pulse: number) => Wave, from = 1, to = 3): Wave =>
  (t) => {
    const [pulse, phase] = [Math.floor((t - from) / (on + off)), (t - from) % (on + off)];
    return t >= from && phase < on && from + pulse * (on + off) + on <= to ? wave(pulse)(t) : 0;
  };
const line = noise(4, 0.0003);
const samplesOf = (wave: Wave, gain = 0.2, seconds = SECONDS) =>
  Float32Array.from({ length: seconds * RATE }, (_, i) => gain * wave(i / RATE) + line[i % line.length]!);
const found = (samples: Float32Array) => pulsesIn(recordingOf(samples));

async function pulsesIn(recording: Recording): Promise<Span[]> {
  const pulses = new Pulses();
  for await (const piece of piecesOf(recording, 'mix')) pulses.add(piece);
  return pulses.spans();
}

const ROWS = [697, 770, 852, 941];
const COLUMNS = [1209, 1336, 1477];
const digit = (pulse: number) => sine(ROWS[pulse % 4]!, COLUMNS[(2 * pulse + 1) % 3]!);

/** Wave by pulse, with the seconds of a pulse and of a pause. */
const SIGNALS: Record<string, [on: number, off: number, wave: (pulse: number) => Wave]> = {
  'digits of 50 ms': [0.05, 0.05, digit],
  'digits of 80 ms': [0.08, 0.08, digit],
  'digits of 120 ms': [0.12, 0.2, digit],
  'an American stutter dial tone': [0.1, 0.1, () => sine(350, 440)],
  'a European stutter dial tone': [0.1, 0.1, () => sine(425)],
  'beeps of 60 ms': [0.06, 0.14, () => sine(1000)],
};

for (const [name, [on, off, wave]] of Object.entries(SIGNALS)) {
  t.test(`Pulses finds ${name}, at any level`, async (t) => {
    for (const gain of [0.5, 0.02]) {
      const spans = await found(samplesOf(pulses(on, off, wave), gain));
      t.equal(spans.length, 1, `gain ${gain}`);
      t.ok(Math.abs(spans[0]!.start - 1) < 0.03 && spans[0]!.end > 2.95 - on - off && spans[0]!.end < 3.03, JSON.stringify(spans));
    }
  });
}

t.test('Pulses finds four pulses in a row, not three, and none of 15 ms', async (t) => {
  const row = (count: number, on = 0.08) => found(samplesOf(pulses(on, 0.1, digit, 1, 1 + count * (on + 0.1))));
  t.equal((await row(4)).length, 1);
  t.strictSame(await row(3), []);
  t.strictSame(await row(10, 0.015), []);
});

t.test('Pulses finds digits, and no other pulses, on a line with noise 15 dB below them', async (t) => {
  const on = async (decibels: number, wave: (pulse: number) => Wave) => {
    const hiss = noise(6, 0.1 * 10 ** (-decibels / 20)); // two tones of mean 0.2: -20 dBFS
    return (await found(sum(samplesOf(pulses(0.08, 0.1, wave)), hiss))).length;
  };
  t.equal(await on(16, digit), 1);
  t.equal(await on(12, digit), 0);
  t.equal(await on(16, () => sine(800, 1400)), 0, 'no digit has these tones');
  t.equal(await on(30, () => sine(800, 1400)), 1);
  const louder: Wave = (t) => 1.6 * Math.sin(2 * Math.PI * 770 * t) + 0.4 * Math.sin(2 * Math.PI * 1336 * t);
  t.equal(await on(16, () => louder), 0, 'nor are they 12 dB apart');
});

t.test('Pulses counts pulses up to 0.3 s apart as a row', async (t) => {
  const row = (pause: number) => found(samplesOf(pulses(0.08, pause, digit, 0.5, 4.5)));
  t.equal((await row(0.27)).length, 1);
  t.strictSame(await row(0.35), []);
});

t.test('Pulses finds pulses at the beginning and at the end, and as one row where two pieces of 30 s meet', async (t) => {
  const [all] = await found(samplesOf(pulses(0.08, 0.08, digit, 0, SECONDS)));
  t.ok(all!.start < 0.01 && all!.end > 4.85, JSON.stringify(all));
  const spans = await found(samplesOf(pulses(0.08, 0.08, digit, 29.7, 30.3), 0.2, 32));
  t.equal(spans.length, 1);
  t.ok(spans[0]!.start < 29.73 && spans[0]!.end > 30.2, JSON.stringify(spans));
});

t.test('Pulses finds no pulses with a pitch below 300 Hz, with harmonics of one, or of changing pitch', async (t) => {
  const isFound = async (wave: Wave) => (await found(samplesOf(pulses(0.1, 0.1, () => wave)))).length > 0;
  t.ok(await isFound(sine(320)));
  t.notOk(await isFound(sine(280)));
  t.notOk(await isFound(sine(310, 620)), 'the first two harmonics');
  t.notOk(await isFound((t) => Math.sin(2 * Math.PI * (600 * t + 500 * ((t - 1) % 0.2) ** 2))), '16 Hz more from one window to the other');
  t.notOk(await isFound(sine(500, 1130, 1870, 2710)), 'four tones');
});

t.test('Pulses needs silence between pulses', async (t) => {
  const tone = (from: number) => pulses(0.1, 0.1, () => sine(1000), from, from + 2);
  const beside = (gain: number) => found(samplesOf((t) => tone(1)(t) + gain * tone(1.1)(t)));
  t.equal((await beside(0.05)).length, 1, '26 dB below');
  t.strictSame(await beside(0.16), [], '16 dB below');
});

t.test('Pulses ends a row where a voice sounds in a pause', async (t) => {
  const row = samplesOf(pulses(0.08, 0.24, () => sine(1000), 0.5, 4.5));
  const said = (gain: number) =>
    row.map((x, i) => {
      const phase = (i / RATE - 0.5) % 0.32;
      return x + (i > 2.5 * RATE && phase > 0.18 && phase < 0.26 ? gain * Math.sin((2 * Math.PI * 200 * i) / RATE) : 0);
    });
  t.ok((await found(said(0.005)))[0]!.end > 4, '32 dB below');
  t.ok((await found(said(0.02)))[0]!.end < 2.7, '20 dB below');
});

t.test('Pulses keeps a voice among pulses', async (t) => {
  const voiced = other.slice(0, SECONDS * RATE);
  const over = await found(sum(voiced, samplesOf(pulses(0.08, 0.08, digit, 0, SECONDS), 0.1)));
  t.ok(
    over.every(({ start, end }) => start > 2.1 && end < 3.2),
    `over them, but not in its pause, whose noise is 14 dB below: ${JSON.stringify(over)}`,
  );
  const after = samplesOf(pulses(0.08, 0.08, digit, 0.2, 1.4)).map(
    (x, i) => x + (i < 1.5 * RATE ? 0 : other[Math.round(i - 1.16 * RATE)]!),
  );
  const [span] = await found(after);
  t.ok(span!.end > 1 && span!.end < 1.42, `before it: ${JSON.stringify(span)}`);
});

t.test('Pulses does not mistake speech for pulses', async (t) => {
  for (const name of ['en_falcon_3spk.wav', 'en_jfk.mp3', 'fr_fleurs-test_000.ogg']) {
    const recording = await decode(clip(name));
    t.strictSame(await pulsesIn(recording), [], name);
    await recording.close();
  }
});
