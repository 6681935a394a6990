import { setImmediate as tick } from 'node:timers/promises';
import t from 'tap';
import { Pace } from '../../../engine/runtime/interleaver.ts';

const LONG = 1; // a file
const NOTE = 2; // and another
const NOBODY = new Set<number>();

/** Units that ask to run; their numbers in the order in which they may. */
function asking(pace: Pace, count: number): number[] {
  const entered: number[] = [];
  for (let i = 0; i < count; i++) void pace.enter(LONG, false).then(() => entered.push(i));
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
    pace.step(NOBODY);
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

t.test('while the decoder is in a hurry for a file, its units run as before, those of others every forty steps', async (t) => {
  const pace = new Pace();
  pace.begin();
  await pace.enter(LONG, false);
  const entered: string[] = [];
  void pace.enter(LONG, false).then(() => entered.push('long'));
  void pace.enter(NOTE, false).then(() => entered.push('note'));
  void pace.enter(NOTE, true).then(() => entered.push('first of the note'));
  await tick();
  t.strictSame(entered, ['first of the note'], 'which waits for nothing');
  const hurried = new Set([NOTE]);
  for (let step = 1; step <= 8; step++) pace.step(hurried);
  await tick();
  t.strictSame(entered, ['first of the note', 'note']);
  for (let step = 1; step <= 39; step++) pace.step(hurried);
  await tick();
  t.equal(entered.length, 2);
  pace.step(hurried);
  await tick();
  t.strictSame(entered, ['first of the note', 'note', 'long']);
});
