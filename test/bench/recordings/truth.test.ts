import t, { type Test } from 'tap';
import { seeded } from '../../../bench/random.ts';
import { SAMPLE_RATE } from '../../../bench/recordings/sound.ts';
import { speechSpans } from '../../../bench/recordings/truth.ts';

/** A clip with constant hiss, and voice-like sound within the given spans. */
function clip(seconds: number, hiss: number, spans: readonly [number, number][]): Float32Array {
  const random = seeded(1);
  const out = new Float32Array(seconds * SAMPLE_RATE).map(() => hiss * random.normal());
  for (const [start, end] of spans)
    for (let i = Math.round(start * SAMPLE_RATE); i < end * SAMPLE_RATE; i++)
      out[i] = out[i]! + 0.2 * Math.sin((2 * Math.PI * 180 * i) / SAMPLE_RATE);
  return out;
}

function near(t: Test, found: { start: number; end: number }[], wanted: readonly [number, number][]): void {
  t.equal(found.length, wanted.length, JSON.stringify(found));
  for (const [i, [start, end]] of wanted.entries())
    t.ok(Math.abs(found[i]!.start - start) <= 0.02 && Math.abs(found[i]!.end - end) <= 0.02, JSON.stringify(found[i]));
}

for (const [name, hiss] of [
  ['a clean clip', 1e-5],
  ['a clip with hiss 23 dB below the voice', 0.01],
] as const) {
  t.test(`speechSpans() excludes the pauses of ${name}`, async (t) => {
    const spoken: [number, number][] = [
      [0.5, 1.5],
      [2.1, 3],
    ];
    near(t, speechSpans(clip(4, hiss, spoken)), spoken);
  });
}

t.test('speechSpans() excludes breaths and knocks, and includes unvoiced starts and ends of words', async (t) => {
  const random = seeded(3);
  const sound = clip(6, 1e-5, [[2, 3]]);
  const breathe = (start: number, end: number) => {
    for (let i = start * SAMPLE_RATE; i < end * SAMPLE_RATE; i++) sound[i] = sound[i]! + 0.02 * random.normal();
  };
  breathe(0.5, 0.9); // a breath before the word
  breathe(1.85, 1.92); // a consonant, 80 ms before the vowel
  breathe(3.1, 3.25); // a breath after it
  for (let i = 5 * SAMPLE_RATE; i < 5.3 * SAMPLE_RATE; i++) sound[i] = sound[i]! + 0.2 * Math.sin((2 * Math.PI * 40 * i) / SAMPLE_RATE); // a knock on the table
  near(t, speechSpans(sound), [[1.85, 3.25]]);
});

t.test('speechSpans() includes a voice that is hoarse throughout', async (t) => {
  const random = seeded(4);
  const sound = clip(6, 1e-5, [[0.5, 1]]); // a single clear word
  const whisper = (start: number, end: number) => {
    for (let i = start * SAMPLE_RATE; i < end * SAMPLE_RATE; i++) sound[i] = sound[i]! + 0.1 * random.normal();
  };
  whisper(1.5, 3);
  whisper(4, 5.5);
  near(t, speechSpans(sound), [
    [0.5, 1],
    [1.5, 3],
    [4, 5.5],
  ]);
});

t.test('speechSpans() includes pauses of up to 0.3 s, and excludes a click', async (t) => {
  near(
    t,
    speechSpans(
      clip(4, 1e-5, [
        [0.5, 1.5],
        [1.75, 2.5],
        [3.4, 3.43],
      ]),
    ),
    [[0.5, 2.5]],
  );
});

t.test('speechSpans() treats a clip without pauses as speech from start to end', async (t) => {
  const random = seeded(2);
  const noisy = new Float32Array(2 * SAMPLE_RATE).map(() => 0.1 * random.normal());
  t.strictSame(speechSpans(noisy), [{ start: 0, end: 2 }]);
});
