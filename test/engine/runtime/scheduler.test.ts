import { setImmediate as tick } from 'node:timers/promises';
import t from 'tap';
import { type Decodable, DecodeQueue, FairQueue, Interleaver, placesOn } from '../../../engine/runtime/scheduler.ts';

const never = new AbortController().signal;

t.test('placesOn() gives each thread its rows plus two windows, and linking one slot in total', async (t) => {
  t.strictSame(placesOn(3, 10), { recognise: 36, segment: 6, embed: 6, link: 1 });
});

t.test('FairQueue admits files round-robin, and always a file without work in progress', async (t) => {
  const queue = new FairQueue(2);
  const order: string[] = [];
  const enter = (job: number, name: string) =>
    queue.enter(job, never).then((leave) => {
      order.push(name);
      return leave;
    });
  const long = ['a1', 'a2', 'a3', 'a4'].map((name) => enter(1, name));
  const [leave] = await Promise.all(long.slice(0, 2));
  t.strictSame(order, ['a1', 'a2'], 'two slots');
  const leaveShort = await enter(2, 'b1');
  t.strictSame(order, ['a1', 'a2', 'b1'], 'a second file does not wait');
  const second = enter(2, 'b2');
  leave!();
  leaveShort();
  await second;
  t.strictSame(order, ['a1', 'a2', 'b1', 'b2'], 'the file with fewer units in progress goes first');
});

t.test('FairQueue.enter() rejects with the reason of the abort signal', async (t) => {
  const queue = new FairQueue(1);
  await queue.enter(1, never);
  const stop = new AbortController();
  const waiting = queue.enter(1, stop.signal);
  stop.abort(new Error('deleted'));
  await t.rejects(waiting, { message: 'deleted' });
  await t.rejects(queue.enter(1, stop.signal), { message: 'deleted' });
});

const LONG = 1; // id of one file
const NOTE = 2; // id of another
const NOBODY = new Set<number>();

/** Enqueues units. Returns an array that receives their numbers in the order in which they start. */
function enqueued(interleaver: Interleaver, count: number): number[] {
  const entered: number[] = [];
  for (let i = 0; i < count; i++) void interleaver.enter(LONG, false).then(() => entered.push(i));
  return entered;
}

t.test('Interleaver.enter() lets other models run immediately while nothing is decoded', async (t) => {
  const entered = enqueued(new Interleaver(), 3);
  await tick();
  t.strictSame(entered, [0, 1, 2]);
});

t.test('Interleaver.step() runs one unit every eight steps while the decoder works, in order, and rest() runs the others', async (t) => {
  const interleaver = new Interleaver();
  interleaver.begin();
  const entered = enqueued(interleaver, 4);
  await tick();
  t.strictSame(entered, [0], 'the first starts immediately');
  const after: number[] = [];
  for (let step = 1; step <= 17; step++) {
    interleaver.step(NOBODY);
    await tick();
    after.push(entered.length);
  }
  t.equal(after[6], 1);
  t.equal(after[7], 2);
  t.equal(after[14], 2);
  t.equal(after[15], 3);
  interleaver.rest();
  await tick();
  t.strictSame(entered, [0, 1, 2, 3]);
});

t.test('Interleaver.step() lets units of other files run every forty steps while the decoder prioritises one file', async (t) => {
  const interleaver = new Interleaver();
  interleaver.begin();
  await interleaver.enter(LONG, false);
  const entered: string[] = [];
  void interleaver.enter(LONG, false).then(() => entered.push('long'));
  void interleaver.enter(NOTE, false).then(() => entered.push('note'));
  void interleaver.enter(NOTE, true).then(() => entered.push('first of the note'));
  await tick();
  t.strictSame(entered, ['first of the note'], 'which starts immediately');
  const hurried = new Set([NOTE]);
  for (let step = 1; step <= 8; step++) interleaver.step(hurried);
  await tick();
  t.strictSame(entered, ['first of the note', 'note']);
  for (let step = 1; step <= 39; step++) interleaver.step(hurried);
  await tick();
  t.equal(entered.length, 2);
  interleaver.step(hurried);
  await tick();
  t.strictSame(entered, ['first of the note', 'note', 'long']);
});

const OTHER = 3;

interface Window extends Decodable {
  beamSize: number;
}

function order(file: number, more: Partial<Window> = {}): Window {
  return { file, beamSize: 1, ...more };
}

function queue(windows: Window[], interleaver?: Interleaver): DecodeQueue<Window> {
  const made = new DecodeQueue<Window>(interleaver);
  for (const each of windows) made.add(each);
  return made;
}

const fits = () => true;

t.test('DecodeQueue.next() takes first windows, then encoded ones, then the rest by the number of rows of their file', (t) => {
  const [long, other, encoded, first] = [order(LONG), order(OTHER), order(LONG, { urgent: true }), order(NOTE, { first: true })];
  const waiting = queue([long, other, encoded, first]);
  const decoding = [order(LONG)];
  const served = Array.from({ length: 4 }, () => waiting.next(decoding, fits));
  t.strictSame(
    served.map((each) => [first, encoded, other, long].indexOf(each!)),
    [0, 1, 2, 3],
  );
  t.equal(waiting.next(decoding, fits), null);
  t.end();
});

t.test('DecodeQueue.next() delays a window whose beam does not fit', (t) => {
  const waiting = queue([order(LONG, { beamSize: 3 })]);
  t.equal(
    waiting.next([], ({ beamSize }) => beamSize <= 2),
    null,
  );
  t.ok(waiting.next([], ({ beamSize }) => beamSize <= 3));
  t.end();
});

t.test('DecodeQueue.next() beside a first window takes windows of other files every forty steps, of its own file immediately', (t) => {
  const interleaver = new Interleaver();
  interleaver.begin();
  const decoding = [order(NOTE, { first: true })];
  const hurried = new Set([NOTE]);
  const [one, two, own] = [order(LONG), order(LONG), order(NOTE)];
  const waiting = queue([one, two, own], interleaver);
  t.strictSame(waiting.hurried(decoding), hurried);
  interleaver.step(hurried);
  interleaver.ran();
  t.equal(waiting.next(decoding, fits), own);
  for (let step = 1; step < 40; step++) interleaver.step(hurried);
  t.equal(waiting.next(decoding, fits), null);
  interleaver.step(hurried);
  t.equal(waiting.next(decoding, fits), one);
  t.equal(waiting.next(decoding, fits), null, 'nor the other one right after');
  t.equal(waiting.next([], fits), two, 'but it is taken once no file is prioritised');
  t.end();
});
