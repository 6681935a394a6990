import t from 'tap';
import { uncovered } from '../../../engine/asr/coverage.ts';

t.test('uncovered() counts the speech without words', async (t) => {
  const speech = [
    { start: 0, end: 4 },
    { start: 6, end: 10 },
  ];
  t.equal(uncovered([], speech), 8);
  t.equal(
    uncovered(
      [
        { start: 0, end: 2 },
        { start: 2.2, end: 4 },
        { start: 7, end: 10 },
      ],
      speech,
    ),
    1,
  );
});

t.test('uncovered() counts a gap between words only from 1 s on: a shorter one is a pause', async (t) => {
  const speech = [{ start: 0, end: 6 }];
  const after = (gap: number) =>
    uncovered(
      [
        { start: 0, end: 2 },
        { start: 2 + gap, end: 6 },
      ],
      speech,
    );
  t.equal(after(0.75), 0);
  t.equal(after(1.25), 1.25);
});
