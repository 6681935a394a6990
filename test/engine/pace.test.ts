import { setImmediate as tick } from 'node:timers/promises';
import t from 'tap';
import { Pace } from '../../engine/pace.ts';

/** Units that ask to run; their numbers in the order in which they may. */
function asking(pace: Pace, count: number): number[] {
  const entered: number[] = [];
  for (let i = 0; i < count; i++) void pace.enter().then(() => entered.push(i));
  return entered;
}

t.test('other networks run at once while nothing is decoded', async (t) => {
  const entered = asking(new Pace(), 3);
  await tick();
  t.strictSame(entered, [0, 1, 2]);
});

t.test('while the decoder works, one unit runs every eight steps, in order, and none is forgotten when it rests', async (t) => {
  const pace = new Pace();
  pace.begin();
  const entered = asking(pace, 4);
  await tick();
  t.strictSame(entered, [0], 'the first need not wait');
  const after: number[] = [];
  for (let step = 1; step <= 17; step++) {
    pace.step();
    await tick();
    after.push(entered.length);
  }
  t.equal(after[6], 1);
  t.equal(after[7], 2);
  t.equal(after[14], 2);
  t.equal(after[15], 3);
  pace.rest();
  await tick();
  t.strictSame(entered, [0, 1, 2, 3]);
});
