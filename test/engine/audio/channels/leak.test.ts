import t from 'tap';
import { leaked, leakOf } from '../../../../engine/audio/channels/leak.ts';
import { speech as ann, other as bob, noise, recordingOf, scaled, sum } from '../voices.ts';

/** `own` with `other` leaked into it: delayed by `delay` samples, and followed by an echo. */
function mixed(own: Float32Array, other: Float32Array, gain: number, delay: number): Float32Array {
  return own.map((x, i) => x + gain * ((other[i - delay] ?? 0) - 0.5 * (other[i - delay - 9] ?? 0)));
}

const alone = ann.map((x, i) => (i < 96_000 ? x : 0));
const other = bob.map((x, i) => (i < 96_000 ? 0 : x));
const spoken = [{ start: 1.7, end: 3.9 }];

t.test('leakOf() finds the delay and level at which one voice leaks into the other channel', async (t) => {
  for (const [gain, delay] of [
    [0.3, 0],
    [-0.1, 320],
    [0.03, 800],
  ] as const) {
    const recording = recordingOf(alone, mixed(other, alone, gain, delay));
    const leak = await leakOf(recording, 0, 1, spoken);
    const strongest = [...leak!.gains.keys()].reduce((best, k) => (Math.abs(leak!.gains[k]!) > Math.abs(leak!.gains[best]!) ? k : best), 0);
    t.equal(leak!.delay + strongest, delay);
    t.ok(Math.abs(leak!.gains[strongest]! - gain) < 0.1 * Math.abs(gain), `gain ${leak!.gains[strongest]} for ${gain}`);
  }
});

t.test('leaked() distinguishes leaked speech from own speech in a channel, even when simultaneous', async (t) => {
  const recording = recordingOf(alone, mixed(other, alone, 0.3, 320));
  const leak = (await leakOf(recording, 0, 1, spoken))!;
  t.ok((await leaked(recording, leak, { start: 2, end: 3.5 })) > 0.95, 'only the other party speaks');
  t.ok((await leaked(recording, leak, { start: 7, end: 9 })) < 0.05, "only the channel's own party speaks");
  const both = recordingOf(ann, mixed(bob, ann, 0.3, 320));
  t.ok((await leaked(both, leak, { start: 7, end: 9 })) < 0.4, 'both at once');
});

t.test('leakOf() returns null if each channel has its own voice, and undefined for too little speech', async (t) => {
  t.equal(await leakOf(recordingOf(ann, bob), 0, 1, spoken), null);
  t.equal(await leakOf(recordingOf(ann, mixed(bob, ann, 0.3, 0)), 0, 1, [{ start: 2, end: 3 }]), undefined);
});

const enough = [{ start: 1, end: 3 }];

t.test('leakOf() finds a leak from a correlation of 0.1 on', async (t) => {
  const source = noise(1, 0.2);
  const heard = (correlation: number) => sum(scaled(source, correlation), noise(2, 0.2 * Math.sqrt(1 - correlation ** 2)));
  t.ok(await leakOf(recordingOf(source, heard(0.15)), 0, 1, enough));
  t.equal(await leakOf(recordingOf(source, heard(0.05)), 0, 1, enough), null);
});

t.test('leaked() covers what comes 12 samples before the strongest part of a leak, and 51 samples after it', async (t) => {
  const source = noise(1, 0.2);
  for (const beside of [-12, 51]) {
    const heard = source.map((_, i) => (source[i - 100] ?? 0) + 0.9 * (source[i - 100 - beside] ?? 0));
    const recording = recordingOf(source, heard);
    const leak = (await leakOf(recording, 0, 1, enough))!;
    t.ok((await leaked(recording, leak, { start: 1, end: 2 })) > 0.99, `${beside}`);
  }
});

t.test('leakOf() halves its gain in bands 30 dB below the mean power, and invents none in bands without sound', async (t) => {
  /** Rumble around 100 Hz with noise of this level in all bands, relative to the whole. */
  const banded = (decibels: number) => {
    let [low, lower] = [0, 0];
    const rumble = noise(1, 1).map((x) => (lower += 0.05 * ((low += 0.05 * (x - low)) - lower)));
    const power = (samples: Float32Array) => samples.reduce((total, x) => total + x * x, 0) / samples.length;
    return sum(rumble, noise(2, Math.sqrt(power(rumble) * 10 ** (decibels / 10))));
  };
  /** Gain at 6 kHz. */
  const gain = async (decibels: number) => {
    const source = banded(decibels);
    const { gains } = (await leakOf(recordingOf(source, scaled(source, 0.5)), 0, 1, enough))!;
    const part = (wave: (angle: number) => number) => gains.reduce((total, x, k) => total + x * wave((2 * Math.PI * 6000 * k) / 16_000), 0);
    return Math.hypot(part(Math.cos), part(Math.sin));
  };
  const [weak, none] = [await gain(-30), await gain(-45)];
  t.ok(Math.abs(weak - 0.25) < 0.05, `gain ${weak} for 0.5`);
  t.ok(none < 0.05, `gain ${none}`);
});
