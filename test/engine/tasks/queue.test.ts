import t from 'tap';
import { pollMs } from '../../../engine/tasks/queue.ts';

t.test('pollMs() keeps the polls of a fleet rare, and those of a few processes at 5 s', async (t) => {
  t.strictSame([1, 4, 8, 24, 200].map(pollMs), [5_000, 5_000, 10_000, 30_000, 30_000]);
});
