import t from 'tap';
import { clearer, halvesOf, isDoubtful } from '../../../engine/diarization/halves.ts';
import { FRAMES_PER_WINDOW, HOP_SAMPLES, type Local, WINDOW_SAMPLES } from '../../../engine/diarization/pyannote.ts';
import { seeded } from '../../support/seeded.ts';

/** The output for a window in which speakers are active in ranges of frames, with a probability in 1/255. */
function local(...active: [speaker: number, from: number, to: number, probability?: number][]): Local {
  const speakers = new Uint8Array(FRAMES_PER_WINDOW * 3);
  const speech = new Uint8Array(FRAMES_PER_WINDOW);
  for (const [speaker, from, to, probability = 255] of active) {
    for (let frame = from; frame < to; frame++) [speakers[frame * 3 + speaker], speech[frame]] = [probability, probability];
  }
  return { speakers, speech };
}

/** Noise of that amplitude in each second of a window. */
function noise(...amplitudes: number[]): Float32Array {
  const { random } = seeded(1);
  const seconds = WINDOW_SAMPLES / amplitudes.length;
  return Float32Array.from({ length: WINDOW_SAMPLES }, (_, i) => (2 * random() - 1) * amplitudes[Math.floor(i / seconds)]!);
}

const HALF = 296; // frames

t.test('isDoubtful() is true if sound as loud as speech has none, and false for constant noise, pauses and speech', async (t) => {
  const second = Math.round(16_000 / HOP_SAMPLES);
  const voices = noise(0.3, 0.3, 0.01, 0.3, 0.3, 0.01, 0.3, 0.3, 0.3, 0.01);
  const found = local([0, 0, 2 * second], [0, 3 * second, 5 * second], [1, 6 * second, 9 * second]);
  t.equal(isDoubtful(voices, found), false, 'all speech is found');
  t.equal(isDoubtful(voices, local([0, 0, 2 * second], [0, 3 * second, 5 * second])), true, 'three seconds are not');
  t.equal(
    isDoubtful(voices, local([0, 0, 2 * second], [0, 3 * second, 5 * second], [1, 6 * second, 9 * second - 30])),
    false,
    '0.5 s are not',
  );
  t.equal(isDoubtful(noise(0.1), local()), false, 'constant noise');
  t.equal(isDoubtful(noise(0), local()), false, 'digital silence');
  t.equal(isDoubtful(noise(0.3, 0.3, 0.3, 0.05, 0.05, 0.05, 0.3, 0.3, 0.3, 0.01), local([0, 0, 177], [0, 353, 530])), false, '15 dB below');
  t.equal(isDoubtful(voices.subarray(0, WINDOW_SAMPLES / 2), local()), false, 'no longer than half of a window');
});

t.test('halvesOf() cuts a window in the middle, and a shorter one at the same place', async (t) => {
  const samples = Float32Array.from({ length: WINDOW_SAMPLES }, (_, i) => i);
  t.strictSame(
    halvesOf(samples).map((half) => [half[0], half.length]),
    [
      [0, 80_000],
      [80_000, 80_000],
    ],
  );
  t.equal(halvesOf(samples.subarray(0, 100_000))[1].length, 20_000);
});

t.test('clearer() takes the halves if they contain more speech, with the speakers of the window', async (t) => {
  const whole = local([0, 0, 100], [1, 400, 500]);
  const halves: [Local, Local] = [local([2, 0, 250]), local([0, 400 - HALF, 550 - HALF])];
  t.strictSame(clearer(whole, halves), local([0, 0, 250], [1, 400, 550]));
  t.equal(clearer(whole, [local([2, 0, 120]), local([0, 400 - HALF, 500 - HALF])]), whole, 'hardly more');
  t.equal(clearer(whole, [local(), local()]), whole, 'less');
});
