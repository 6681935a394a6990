import t from 'tap';
import { seeded } from '../../../../bench/random.ts';
import { buzzes } from '../../../../engine/audio/signals/buzz.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';

const sound = (seconds: number, at: (time: number) => number) =>
  Float32Array.from({ length: seconds * SAMPLE_RATE }, (_, i) => at(i / SAMPLE_RATE));

/** All harmonics of a tone below a frequency, whose phase grows as `cycles` says. */
const harmonics =
  (cycles: (time: number) => number, below: number, fundamental = 217) =>
  (time: number) => {
    let sum = 0;
    for (let k = 1; k * fundamental < below; k++) sum += Math.cos(2 * Math.PI * k * cycles(time) + k * k) / (1 + k / 8);
    return 0.05 * sum;
  };

const random = seeded(7);
const noise = () => 0.01 * random.normal();
const telephone = (below: number) => harmonics((time) => (time * 650) / 3, below);

t.test('buzzes() finds the bursts of a mobile telephone, wide or in the band of a telephone line', (t) => {
  for (const below of [7900, 3400]) {
    const buzz = telephone(below);
    const found = buzzes(sound(30, (time) => noise() + (time % 7 >= 2 && time % 7 < 5 ? buzz(time) : 0)));
    t.equal(found.length, 4, `${found.length} below ${below} Hz`);
    for (const [i, { start, end }] of found.entries()) {
      t.ok(Math.abs(start / SAMPLE_RATE - (7 * i + 2)) < 0.25, `begins at ${start / SAMPLE_RATE} s`);
      t.ok(Math.abs(end / SAMPLE_RATE - (7 * i + 5)) < 0.25, `ends at ${end / SAMPLE_RATE} s`);
    }
  }
  t.end();
});

t.test('buzzes() finds what sounds to the end of the block, and pulses with short pauses as one', (t) => {
  const buzz = telephone(7900);
  const found = buzzes(sound(30, (time) => noise() + (time % 0.4 < 0.12 || time > 29 ? buzz(time) : 0)));
  t.strictSame(found, [{ start: 0, end: 30 * SAMPLE_RATE }]);
  t.end();
});

t.test('buzzes() finds nothing in a moment, in other tones, and in voices that pass the same pitch', (t) => {
  const buzz = telephone(7900);
  const mains = harmonics((time) => 100 * time, 7900, 100);
  const near = harmonics((time) => 218.5 * time, 7900);
  const voice = harmonics((time) => 216.7 * time + 4 * Math.sin(2 * Math.PI * 0.4 * time), 7900); // 207 to 227 Hz and back in 2.5 s
  for (const [name, at] of Object.entries<(time: number) => number>({
    short: (time) => (time > 9 && time < 9.15 ? buzz(time) : 0),
    mains,
    near,
    voice,
    nothing: () => 0,
  }))
    t.strictSame(buzzes(sound(30, (time) => noise() + at(time))), [], name);
  t.strictSame(buzzes(sound(0.2, buzz)), [], 'shorter than a window');
  t.end();
});
