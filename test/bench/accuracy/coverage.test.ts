import t from 'tap';
import { coverageOf, coverageRows, readings, withoutPauses } from '../../../bench/accuracy/coverage.ts';
import { SAMPLE_RATE } from '../../../bench/recordings/sound.ts';

t.test('coverageOf() measures the speech covered by words, and the longest uncovered stretch', async (t) => {
  const speech = [
    { start: 0, end: 4 },
    { start: 5, end: 15 },
  ];
  const words = [
    { start: 0.2, end: 2 },
    { start: 2.2, end: 4 },
    { start: 9, end: 15 },
  ];
  t.match(coverageOf(words, speech), { seconds: 14, covered: 1 - 4 / 14, longestGap: 4 });
  t.match(coverageOf([], speech), { covered: 0, longestGap: 14 });
  t.match(coverageOf([], []), { seconds: 0, covered: 1, longestGap: 0 });
});

t.test('coverageOf() does not count silent pauses', async (t) => {
  const speech = [
    { start: 0, end: 1 },
    { start: 9, end: 10 },
  ];
  t.match(coverageOf(speech, speech), { covered: 1, longestGap: 0 });
});

t.test('withoutPauses() leaves out silence within detected speech', async (t) => {
  const samples = new Float32Array(5 * SAMPLE_RATE).map((_, i) => {
    const seconds = i / SAMPLE_RATE;
    return (seconds >= 1 && seconds < 2) || (seconds >= 2.1 && seconds < 3) || seconds >= 3.5 ? 0.1 : 0;
  });
  const whole = [{ start: 0.5, end: 4.5 }];
  t.strictSame(withoutPauses(whole, samples), [
    { start: 1, end: 3 },
    { start: 3.5, end: 4.5 },
  ]);
  t.strictSame(withoutPauses([{ start: 1.2, end: 3.2 }], samples), [{ start: 1.2, end: 3 }], 'also at the end');
  t.strictSame(withoutPauses([{ start: 0.1, end: 0.9 }], samples), []);
});

t.test('readings() has texts in many scripts, and rejects an unknown language with a list of them', async (t) => {
  t.ok(readings().length >= 30);
  t.strictSame(
    readings(['hi', 'ka']).map(({ language, voice }) => [language, voice]),
    [
      ['hi', 'hi'],
      ['ka', 'ka'],
    ],
  );
  t.throws(() => readings(['xx']), /'xx'.*am, ar/);
});

t.test('coverageRows() names the language with the lowest coverage', async (t) => {
  const found = ['hi', 'en'].map((language, i) => {
    return { language, detected: 'en', seconds: 50, covered: 0.4 + i / 2, longestGap: 9 - i, minutesPerHour: 1 };
  });
  const rows = [...coverageRows(found)];
  t.match(rows[0]![1], /^40\.0 % of 50\.0 s.*heard as en$/);
  t.match(rows.at(-1)!, [/2 languages/, /^40\.0 %, longest gap 9\.0 s/]);
});
