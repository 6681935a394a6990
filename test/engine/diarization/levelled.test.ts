import t from 'tap';
import { either, levelled } from '../../../engine/diarization/levelled.ts';
import { FRAMES_PER_WINDOW, type Local, WINDOW_SAMPLES } from '../../../engine/diarization/pyannote.ts';
import { seeded } from '../../support/seeded.ts';

/** The output for a window in which a speaker is active in a range of frames. */
function local(speaker = 0, from = 0, to = 0): Local {
  const speakers = new Uint8Array(FRAMES_PER_WINDOW * 3);
  const speech = new Uint8Array(FRAMES_PER_WINDOW).fill(255, from, to);
  for (let frame = from; frame < to; frame++) speakers[frame * 3 + speaker] = 255;
  return { speakers, speech };
}

/** Noise of that amplitude in each half of a second of a window. */
function noise(...amplitudes: number[]): Float32Array {
  const { random } = seeded(1);
  const samples = WINDOW_SAMPLES / amplitudes.length;
  return Float32Array.from({ length: WINDOW_SAMPLES }, (_, i) => (2 * random() - 1) * amplitudes[Math.floor(i / samples)]!);
}

const halves = (...parts: [seconds: number, amplitude: number][]) =>
  noise(...parts.flatMap(([seconds, amplitude]) => new Array<number>(2 * seconds).fill(amplitude)));
const rms = (samples: Float32Array) => Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);

t.test('levelled() turns down a slam before a quiet voice that was not found', async (t) => {
  const window = halves([1, 1e-5], [0.5, 1], [0.5, 1e-5], [4, 0.003], [4, 1e-5]);
  const result = levelled(window, local())!;
  const [slam, voice] = [result.subarray(17_000, 23_000), result.subarray(36_000, 92_000)];
  t.ok(Math.abs(20 * Math.log10(rms(voice)) + 30) < 0.5, `the voice has ${20 * Math.log10(rms(voice))} dB`);
  t.ok(Math.abs(20 * Math.log10(rms(slam) / rms(voice)) - 10) < 0.5, 'the slam is 10 dB above it');
  t.ok(Math.abs(20 * Math.log10(rms(window.subarray(17_000, 23_000))) + 4.8) < 0.2, 'the window stays as it was');
  const frame = (second: number) => Math.round((second * 16_000) / 270);
  t.equal(levelled(window, local(0, frame(1), frame(7))), null, 'it was found');
  t.equal(levelled(halves([1, 1e-5], [0.5, 1], [0.5, 1e-5], [4, 0.02], [4, 1e-5]), local()), null, 'a voice 34 dB below a slam');
});

t.test('levelled() turns down a near voice beside a far one that was not found', async (t) => {
  const frame = (second: number) => Math.round((second * 16_000) / 270);
  const window = halves([0.5, 1e-5], [4, 0.3], [0.5, 1e-5], [4, 0.003], [1, 1e-5]);
  t.ok(levelled(window, local(0, 0, frame(4.6))));
  t.equal(levelled(halves([0.5, 1e-3], [4, 0.3], [0.5, 1e-3], [4, 0.03], [1, 1e-3]), local(0, 0, frame(4.6))), null, '20 dB below');
});

t.test('levelled() amplifies a faint voice that was not found, without anything loud', async (t) => {
  const result = levelled(halves([1, 1e-5], [5, 3e-4], [4, 1e-5]), local())!;
  t.ok(Math.abs(20 * Math.log10(rms(result.subarray(20_000, 92_000))) + 30) < 0.5);
  t.equal(levelled(halves([1, 1e-4], [5, 0.01], [4, 1e-4]), local()), null, 'what the model hears as well as anything');
});

t.test('levelled() finds nothing to level in silence, in noise, or beside a slam alone', async (t) => {
  t.equal(levelled(noise(0), local()), null, 'digital silence');
  for (const amplitude of [1, 0.01]) {
    t.equal(levelled(noise(amplitude), local()), null, 'noise');
    t.equal(levelled(halves([1, amplitude / 1e3], [0.5, amplitude], [8.5, amplitude / 1e3]), local()), null, 'a slam');
  }
  const breaths = Array.from({ length: 5 }, (): [number, number][] => [
    [0.5, 0.003],
    [1, 1e-5],
  ]).flat();
  t.equal(levelled(halves([1, 1e-5], [0.5, 1], [1, 1e-5], ...breaths), local()), null, 'breaths after a slam');
  t.equal(levelled(halves([5, 3e-5], [0.5, 0], [4.5, 3e-5]), local()), null, 'the noise of 16 bits');
  t.equal(levelled(new Float32Array(100), local()), null, 'less than a frame');
});

t.test('either() takes what has more speech in each frame, with the speakers of the window', async (t) => {
  const heard = either(local(0, 0, 100), local(1, 50, 200));
  t.strictSame(heard, local(0, 0, 200));
  const whole = local(1, 300, 400);
  t.equal(either(whole, local()), whole, 'nothing more');
  t.equal(either(whole, local(0, 280, 420)), whole, 'hardly more on either side');
});
