import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Log } from '../../../db/ops/log.ts';
import { openSlots } from '../../../engine/tasks/slots.ts';

const logged: string[] = [];
const push = (_fields: object, message: string) => void logged.push(message);
const log: Log = { debug: push, info: push, warn: push, error: push };

/** Waits until a condition holds; no time limit, so that slow machines pass. */
async function until(so: () => boolean): Promise<void> {
  while (!so()) await sleep(1);
}

/** Work that ends when `end` is called. */
function piece() {
  let end!: (error?: Error) => void;
  const done = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  return { end, job: () => done };
}

t.test('openSlots() takes as much work as there are slots, and more when a slot becomes free', async (t) => {
  const pieces = [piece(), piece(), piece()];
  let taken = 0;
  const slots = openSlots('test', 2, async () => pieces[taken++]?.job ?? null, log);
  slots.wake();
  await until(() => slots.running === 2);
  await sleep(5);
  t.equal(taken, 2, 'no more than there are slots');
  pieces[0]!.end();
  await until(() => taken === 3 && slots.running === 2);
  await sleep(5);
  t.equal(slots.running, 2);
  t.equal(taken, 3);
  pieces[1]!.end(new Error('unforeseen'));
  pieces[2]!.end();
  await slots.close();
  t.equal(slots.running, 0);
  t.match(logged, ['unexpected failure of a job']);
});

t.test('wake() during a request for work is not lost', async (t) => {
  const waiting = [piece()];
  let requests = 0;
  let answer = () => {};
  const slots = openSlots(
    'test',
    2,
    async () => {
      requests++;
      const next = requests > 1 ? waiting.shift() : undefined; // it arrives just after the first request
      if (requests === 1) await new Promise<void>((resolve) => (answer = resolve));
      return next?.job ?? null;
    },
    log,
  );
  slots.wake();
  await until(() => requests === 1);
  slots.wake();
  answer();
  await until(() => slots.running === 1);
  t.ok(requests > 1);
});

t.test('wake() is not lost, however soon after a request found no work it comes', async (t) => {
  for (let microtasks = 0; microtasks <= 10; microtasks++) {
    const only = piece();
    let requests = 0;
    let answer = () => {};
    const nothing = new Promise<null>((resolve) => (answer = () => resolve(null)));
    const jobs = [nothing, Promise.resolve(only.job)];
    const slots = openSlots('test', 2, () => jobs[requests++] ?? Promise.resolve(null), log);
    slots.wake();
    answer();
    for (let i = 0; i < microtasks; i++) await null;
    slots.wake();
    await sleep(5);
    t.equal(slots.running, 1, `${microtasks} microtasks later`);
    only.end();
    await slots.close();
  }
});

t.test('close() takes no more work and waits for running work; a failed request for work is retried at the next wake-up', async (t) => {
  const only = piece();
  let requests = 0;
  const slots = openSlots(
    'test',
    2,
    async () => {
      if (++requests === 1) throw new Error('the database is unavailable');
      return requests === 2 ? only.job : null;
    },
    log,
  );
  slots.wake();
  await until(() => requests === 1);
  await sleep(5);
  t.equal(slots.running, 0);
  slots.wake();
  await until(() => slots.running === 1 && requests === 3);
  let closed = false;
  const closing = slots.close().then(() => {
    closed = true;
  });
  slots.wake();
  await sleep(5);
  t.equal(closed, false);
  only.end();
  await closing;
  t.equal(requests, 3);
});
