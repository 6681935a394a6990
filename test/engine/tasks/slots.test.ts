import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Log } from '../../../db/ops/log.ts';
import { openSlots } from '../../../engine/tasks/slots.ts';

const said: string[] = [];
const say = (_fields: object, message: string) => void said.push(message);
const log: Log = { debug: say, info: say, warn: say, error: say };

/** Work that waits to be ended by hand. */
function piece() {
  let end!: (error?: Error) => void;
  const done = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  return { end, job: () => done };
}

t.test('openSlots() takes as much as fits, and more when a place becomes free', async (t) => {
  const pieces = [piece(), piece(), piece()];
  let taken = 0;
  const slots = openSlots('test', 2, async () => pieces[taken++]?.job ?? null, log);
  slots.wake();
  await sleep(5);
  t.equal(slots.running, 2);
  pieces[0]!.end();
  await sleep(5);
  t.equal(slots.running, 2);
  t.equal(taken, 3);
  pieces[1]!.end(new Error('unforeseen'));
  pieces[2]!.end();
  await slots.close();
  t.equal(slots.running, 0);
  t.match(said, ['unexpected failure of a job']);
});

t.test('a wake-up that comes while work is asked for is not lost', async (t) => {
  const waiting = [piece()];
  let asked = 0;
  const slots = openSlots(
    'test',
    2,
    async () => {
      asked++;
      const next = asked > 1 ? waiting.shift() : undefined; // it comes just after the first look
      await sleep(5);
      return next?.job ?? null;
    },
    log,
  );
  slots.wake();
  await sleep(1);
  slots.wake();
  await sleep(20);
  t.equal(slots.running, 1);
});

t.test('close() takes nothing more and waits for what runs; a failing look is tried again at the next wake-up', async (t) => {
  const only = piece();
  let asked = 0;
  const slots = openSlots(
    'test',
    2,
    async () => {
      if (++asked === 1) throw new Error('the database is away');
      return asked === 2 ? only.job : null;
    },
    log,
  );
  slots.wake();
  await sleep(5);
  t.equal(slots.running, 0);
  slots.wake();
  await sleep(5);
  t.equal(slots.running, 1);
  let closed = false;
  const closing = slots.close().then(() => {
    closed = true;
  });
  slots.wake();
  await sleep(5);
  t.equal(closed, false);
  only.end();
  await closing;
  t.equal(asked, 3);
});
