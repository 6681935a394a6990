import t from 'tap';
import { evened } from '../../../engine/asr/levels.ts';
import { seeded } from '../../support/seeded.ts';

const RATE = 16_000;

/** Noise of that amplitude in each second. */
function noise(...amplitudes: number[]): Float32Array {
  const { random } = seeded(1);
  return Float32Array.from({ length: RATE * amplitudes.length }, (_, i) => (2 * random() - 1) * amplitudes[Math.floor(i / RATE)]!);
}

const decibels = (samples: Float32Array, from: number, to: number) => {
  const part = samples.subarray(from * RATE, to * RATE);
  return 10 * Math.log10(part.reduce((sum, x) => sum + x * x, 0) / part.length);
};

t.test('evened() leaves windows as they are in which no voice is 30 dB below another, and nothing 20 dB above the voice', async (t) => {
  for (const amplitudes of [
    [0.001, 0.3, 0.001, 0.02, 0.001],
    [0.5, 0.3, 0.001, 0.3, 0.5],
    [0, 0.3, 0, 0.3, 0],
  ]) {
    const samples = noise(...amplitudes);
    const speech = [
      { start: 1, end: 2 },
      { start: 3, end: 4 },
    ];
    t.strictSame(evened(samples.slice(), speech), samples);
    t.strictSame(evened(samples.slice(), []), samples, 'no speech');
  }
  t.equal(evened(new Float32Array(0), [{ start: 0, end: 1 }]).length, 0);
});

t.test('evened() amplifies a voice far below another to 20 dB below it, with the pause around it', async (t) => {
  const samples = evened(noise(0.3, 1e-6, 0.003, 1e-6, 0.3), [
    { start: 0, end: 1 },
    { start: 2, end: 3 },
    { start: 4, end: 5 },
  ]);
  t.ok(Math.abs(decibels(samples, 0, 1) - decibels(samples, 2.1, 2.9) - 20) < 1);
  t.ok(Math.abs(decibels(samples, 0, 1) - decibels(noise(0.3), 0, 1)) < 0.1, 'the other stays as it was');
  t.ok(decibels(samples, 1.6, 1.9) > decibels(samples, 1.1, 1.4) + 19, 'half of each pause');
});

t.test('evened() turns down slams to 20 dB above the voice around them, beside speech and in it', async (t) => {
  const samples = noise(0, 1, 0.01, 0.01, 0.01);
  for (let i = 3.2 * RATE; i < 3.4 * RATE; i++) samples[i]! *= 100;
  const result = evened(samples, [{ start: 2, end: 5 }]);
  const voice = decibels(result, 2.1, 3.1);
  t.ok(Math.abs(decibels(result, 1.1, 1.9) - voice - 20) < 1, 'before it');
  t.ok(Math.abs(decibels(result, 3.24, 3.36) - voice - 20) < 1, 'in it');
  t.ok(Math.abs(voice - decibels(noise(0.01), 0, 1)) < 0.2, 'the voice stays as it was');
});
