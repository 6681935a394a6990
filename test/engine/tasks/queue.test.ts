import t from 'tap';
import { pollMs, reacts } from '../../../engine/tasks/queue.ts';

t.test('pollMs() keeps the polls of a fleet rare, and those of a few processes at 5 s', async (t) => {
  t.strictSame([1, 4, 8, 24, 200, 1000].map(pollMs), [5_000, 5_000, 10_000, 30_000, 250_000, 300_000]);
});

t.test('reacts() lets every process of a small fleet query the queue after a notification, and eight of a large one', async (t) => {
  const reacting = (similar: number) => Array.from({ length: 1000 }, (_, i) => i / 1000).filter((chance) => reacts(similar, chance)).length;
  t.strictSame([0, 1, 8, 16, 200].map(reacting), [1000, 1000, 1000, 500, 40]);
});
