import t from 'tap';
import { seeded } from '../../../../bench/random.ts';
import { isSuspect, steadyLines, WINDOW_SAMPLES } from '../../../../engine/audio/signals/hum.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';

/** A sound of some seconds by the time of each sample. */
function sound(seconds: number, at: (time: number) => number): Float32Array {
  return Float32Array.from({ length: seconds * SAMPLE_RATE }, (_, i) => at(i / SAMPLE_RATE));
}

const sine = (hertz: number) => (time: number) => Math.sin(2 * Math.PI * hertz * time);
/** Noise in bursts, as loud as speech. */
function bursts(seed = 1): (time: number) => number {
  const random = seeded(seed);
  return (time) => (time % 1 < 0.7 ? random.next() - 0.5 : 0);
}

t.test('steadyLines() finds the harmonics of a buzz 12 dB below other sound to half a hertz', async (t) => {
  const noise = bursts();
  const lines = steadyLines(
    sound(20, (time) => noise(time) + [121.3, 242.6, 363.9].reduce((sum, hertz) => sum + 0.035 * sine(hertz)(time), 0)),
  );
  t.equal(lines.length, 3);
  for (const hertz of [121.3, 242.6, 363.9])
    t.ok(
      lines.some((line) => Math.abs(line - hertz) < 0.5),
      `${hertz}`,
    );
});

t.test('steadyLines() finds none that are quiet, low, short or interrupted', async (t) => {
  const noise = bursts();
  const found = (seconds: number, at: (time: number) => number) => steadyLines(sound(seconds, at));
  t.strictSame(
    found(20, (time) => noise(time) + 0.02 * sine(1000)(time)),
    [],
    '23 dB below the noise',
  );
  t.strictSame(
    found(20, (time) => noise(time) + sine(50)(time)),
    [],
    'nobody hears the mains',
  );
  t.strictSame(
    found(3, (time) => noise(time) + sine(1000)(time)),
    [],
    'a note',
  );
  t.strictSame(
    found(20, (time) => 0.2 * noise(time) + sine(1000)(time)),
    [],
    'nothing else is audible',
  );
  t.strictSame(
    found(30, (time) => (time % 5 < 1 ? sine(425)(time) : 0)),
    [],
    'ringing',
  );
  t.strictSame(
    found(30, (time) => (time < 15 ? sine(600) : sine(700))(time)),
    [],
    'two notes',
  );
});

t.test('steadyLines() finds none in the signals of busy lines, whose pauses are shorter than a window', async (t) => {
  const noise = bursts();
  for (const seconds of [0.5, 0.48, 0.375, 0.25, 0.1]) {
    const isOn = (time: number) => time % (2 * seconds) < seconds;
    const busy = (time: number) => 0.1 * noise(time) + (isOn(time) ? 0.5 * sine(425)(time) : 0);
    t.strictSame(steadyLines(sound(30, busy)), [], `${seconds} s`);
  }
  const hum = steadyLines(sound(30, (time) => noise(time) + (time % 10 < 9 ? 0.3 * sine(425)(time) : 0)));
  t.ok(
    hum.some((hertz) => Math.abs(hertz - 425) < 0.5),
    'a hum with few pauses',
  );
});

t.test('steadyLines() finds no line that other sound hides most of the time, beside a loud one', async (t) => {
  const noise = bursts();
  const talk = (time: number) => (time % 4 < 2 ? noise(time) : 0);
  const lines = steadyLines(sound(20, (time) => talk(time) + 0.2 * sine(1000)(time) + 0.004 * sine(2000)(time)));
  t.strictSame(lines.map(Math.round), [1000]);
});

t.test('steadyLines() takes a line for as loud as it always is, whatever comes and goes at its frequency', async (t) => {
  const noise = bursts();
  const tone = (time: number) => (time % 4 < 2 ? noise(time) + 0.3 * sine(1000)(time) : 0);
  t.strictSame(steadyLines(sound(20, (time) => tone(time) + 0.02 * sine(1000)(time))), []);
});

t.test('isSuspect() needs lines in all windows', async (t) => {
  const noise = bursts();
  const windows = (at: (time: number) => number) => sound(1, at).subarray(0, WINDOW_SAMPLES);
  const [hum, other] = [windows((time) => noise(time) + sine(800)(time)), windows(noise)];
  t.equal(isSuspect([hum, hum, hum]), true);
  t.equal(isSuspect([hum, other, hum]), false);
});
