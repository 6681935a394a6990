import { fileURLToPath } from 'node:url';
import t from 'tap';
import { decode } from '../../../engine/audio/ffmpeg.ts';
import { leaked, leakOf } from '../../../engine/audio/leak.ts';
import type { Recording } from '../../../engine/types.ts';

const SECONDS = 10;

async function voice(name: string): Promise<Float32Array> {
  const recording = await decode(fileURLToPath(new URL(`../../fixtures/audio/${name}`, import.meta.url)));
  try {
    return await recording.read(0, 0, SECONDS * 16_000);
  } finally {
    await recording.close();
  }
}

/** A recording in memory. */
function recordingOf(...channels: [Float32Array, Float32Array]): Recording {
  return {
    channels: 2,
    length: channels[0].length,
    decoded: Promise.resolve(channels[0].length),
    read: async (channel, start, end) => channels[channel as number]!.slice(start, end),
    close: async () => {},
  };
}

/** `own` with `other` leaked into it: delayed by `delay` samples, and followed by an echo. */
function mixed(own: Float32Array, other: Float32Array, gain: number, delay: number): Float32Array {
  return own.map((x, i) => x + gain * ((other[i - delay] ?? 0) - 0.5 * (other[i - delay - 9] ?? 0)));
}

const [ann, bob] = await Promise.all([voice('en_falcon_3spk.wav'), voice('en_jfk.mp3')]);
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

t.test('leakOf() returns null if each channel has its own voice, or too little speech', async (t) => {
  t.equal(await leakOf(recordingOf(ann, bob), 0, 1, spoken), null);
  t.equal(await leakOf(recordingOf(ann, mixed(bob, ann, 0.3, 0)), 0, 1, [{ start: 2, end: 3 }]), null);
});
