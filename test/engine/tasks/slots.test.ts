import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Log } from '../../../db/ops/log.ts';
import { openSlots } from '../../../engine/tasks/slots.ts';

const said: string[] = [];
const say = (_fields: object, message: string) => void said.push(message);
const log: Log = { debug: say, info: say, warn: say, error: say };

/** Waits until a condition holds, however slow the machine is. */
async function until(so: () => boolean): Promise<void> {
  while (!so()) await sleep(1);
}

/** Work that ends when the test says so. */
function piece() {
  let end!: (error?: Error) => void;
  const done = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  return { end, job: () => done };
}

t.test('openSlots() takes as much work as fits, and more when a slot becomes free', async (t) => {
  const pieces = [piece(), piece(), piece()];
  let taken = 0;
  const slots = openSlots('test', 2, async () => pieces[taken++]?.job ?? null, log);
  slots.wake();
  await until(() => slots.running === 2);
  await sleep(5);
  t.equal(taken, 2, 'no more than fits');
  pieces[0]!.end();
  await until(() => taken === 3 && slots.running === 2);
  await sleep(5);
  t.equal(slots.running, 2);
  t.equal(taken, 3);
  pieces[1]!.end(new Error('unforeseen'));
  pieces[2]!.end();
  await slots.close();
  t.equal(slots.running, 0);
  t.match(said, ['unexpected failure of a job']);
});

t.test('wake() during a request for work is not lost', async (t) => {
  const waiting = [piece()];
  let asked = 0;
  let answer = () => {};
  const slots = openSlots(
    'test',
    2,
    async () => {
      asked++;
      const next = asked > 1 ? waiting.shift() : undefined; // it arrives just after the first request
      if (asked === 1) await new Promise<void>((resolve) => (answer = resolve));
      return next?.job ?? null;
    },
    log,
  );
  slots.wake();
  await until(() => asked === 1);
  slots.wake();
  answer();
  await until(() => slots.running === 1);
  t.ok(asked > 1);
});

t.test('close() takes no more work and waits for running work; a failed request for work is retried at the next wake-up', async (t) => {
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
  await until(() => asked === 1);
  await sleep(5);
  t.equal(slots.running, 0);
  slots.wake();
  await until(() => slots.running === 1 && asked === 3);
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
