import t from 'tap';
import { sounding } from '../../../engine/asr/silences.ts';
import { levelsAboveRumble } from '../../../engine/loudness.ts';

const RATE = 16_000;
const STEPS = 100; // per second

/** Levels: one value within the given spans (seconds), another between them. */
function levels(seconds: number, loud: number, quiet: number, spans: readonly [number, number][]): Float32Array {
  return Float32Array.from({ length: seconds * STEPS }, (_, i) => (spans.some(([a, b]) => i >= a * STEPS && i < b * STEPS) ? loud : quiet));
}

/** Levels that stay the same for the given seconds each. */
function steady(...parts: [seconds: number, level: number][]): Float32Array {
  return Float32Array.from(parts.flatMap(([seconds, level]) => Array(Math.round(seconds * STEPS)).fill(level)));
}

const tone = (hertz: number) => Float32Array.from({ length: RATE }, (_, i) => 0.1 * Math.sin((2 * Math.PI * hertz * i) / RATE));

t.test('levelsAboveRumble() keeps the level of voices and suppresses the rumble of a room', async (t) => {
  const of = (hertz: number) => levelsAboveRumble(tone(hertz)).at(-1)!;
  t.equal(levelsAboveRumble(tone(500)).length, STEPS);
  t.ok(Math.abs(of(1000) + 23) < 1, `1000 Hz: ${of(1000)}`);
  t.ok(of(30) < -48, `30 Hz: ${of(30)}`);
});

t.test('sounding() removes silences of 0.3 s or more, except for their edges', async (t) => {
  const spoken: [number, number][] = [
    [0, 1],
    [1.2, 2],
    [3, 4.5],
  ];
  t.strictSame(sounding([{ start: 0, end: 5 }], levels(5, -20, -45, spoken)), [
    { start: 0, end: 2.05 },
    { start: 2.95, end: 4.55 },
  ]);
});

t.test('sounding() treats a click within silence as silence, but keeps a sound of 0.05 s', async (t) => {
  const within = (length: number) => {
    const spoken: [number, number][] = [
      [0, 1],
      [1.5, 1.5 + length],
      [2, 3],
    ];
    return sounding([{ start: 0, end: 3 }], levels(3, -20, -70, spoken));
  };
  const [before, after] = [
    { start: 0, end: 1.05 },
    { start: 1.95, end: 3 },
  ];
  t.strictSame(within(0.02), [before, after]);
  t.strictSame(within(0.05), [before, { start: 1.45, end: 1.6 }, after]);
});

t.test('sounding() keeps a span whose pauses are masked by noise, and a silent one', async (t) => {
  const span = [{ start: 0.5, end: 2.5 }];
  t.strictSame(sounding(span, levels(3, -20, -32, [[0, 1]])), span);
  t.strictSame(sounding(span, levels(3, -120, -120, [])), span);
});

t.test('sounding() detects a soft voice a second after a loud one', async (t) => {
  const found = Float32Array.from({ length: 6 * STEPS }, (_, i) => (i < 2 * STEPS ? -15 : i < 3 * STEPS ? -75 : -55));
  t.strictSame(sounding([{ start: 0, end: 6 }], found), [
    { start: 0, end: 2.05 },
    { start: 2.95, end: 6 },
  ]);
});

const WHOLE = [{ start: 0, end: 2.5 }];
const WITHOUT_PAUSE = [
  { start: 0, end: 0.85 },
  { start: 1.65, end: 2.5 },
];

t.test('sounding() takes for sound what is 8 dB above the quiet around it', async (t) => {
  const between = (level: number) => steady([0.8, -20], [0.1, -50], [0.7, level], [0.1, -50], [0.8, -20]);
  t.strictSame(sounding(WHOLE, between(-40)), WHOLE);
  t.strictSame(sounding(WHOLE, between(-44)), WITHOUT_PAUSE);
});

t.test('sounding() takes for silence what is 35 dB below the loud parts around it, however quiet the rest is', async (t) => {
  const between = (level: number) => steady([0.8, -20], [0.1, -90], [0.7, level], [0.1, -90], [0.8, -20]);
  t.strictSame(sounding(WHOLE, between(-53)), WHOLE);
  t.strictSame(sounding(WHOLE, between(-57)), WITHOUT_PAUSE);
});

t.test('sounding() estimates the quiet from 0.05 s on, not from a single step', async (t) => {
  const soft = (seconds: number) => steady([0.8, -20], [0.9 - seconds, -45], [seconds, -60], [0.8, -20]);
  t.strictSame(sounding(WHOLE, soft(0.08)), WHOLE, 'the soft voice is well above the pause');
  t.strictSame(sounding(WHOLE, soft(0.01)), WITHOUT_PAUSE, 'it is the quiet itself');
});
