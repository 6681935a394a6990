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
