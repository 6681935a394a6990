import t from 'tap';
import { bench } from '../../../bench/bench.ts';
import { table } from '../../../bench/report.ts';
import { underLoad } from '../../../bench/speed/speed.ts';
import type { Transcript } from '../../../engine/types.ts';
import { wordless } from '../../support/engine/pools.ts';

const PATHS = { long: 'long', call: 'call', note: 'note' };
const SECONDS: Record<string, number> = { long: 600, call: 60, note: 5 };

/** Runs of `underLoad` in order, if `n` long files take as long as `after` short ones. */
async function ran(n: number, after: number) {
  const order: string[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const run = async (path: string) => {
    order.push(path);
    if (path === 'long') await ended;
    else if (order.filter((each) => each !== 'long').length === after) end();
    if (path !== 'long') await new Promise((resolve) => setImmediate(resolve));
    return { durationSeconds: SECONDS[path], segments: [] } as unknown as Transcript;
  };
  const began = performance.now();
  const found = await underLoad(run, PATHS, n);
  return { order, found, minutes: (performance.now() - began) / 60_000 };
}

t.test('underLoad() submits notes and calls only while the long files run, and counts what it submitted', async (t) => {
  const { order, found, minutes } = await ran(2, 4);
  t.strictSame(order, ['long', 'long', 'note', 'call', 'note', 'call']);
  t.match(found, { files: 2, call: { count: 2, p50: Number, p95: Number }, note: { count: 2, p50: Number, p95: Number } });
  t.ok(found.minutesPerHour <= minutes / ((2 * 600 + 2 * 60 + 2 * 5) / 3600), 'over all audio, in the time of all of it');
});

t.test('underLoad() submits at least one note and one call, and at most six', async (t) => {
  t.strictSame((await ran(1, 1)).order, ['long', 'note', 'call']);
  t.strictSame((await ran(1, 12)).order, ['long', ...Array.from({ length: 6 }, () => ['note', 'call'])].flat());
});

t.test('bench() measures speed by beam search if requested, and says so', async (t) => {
  const { asked, pool } = wordless();
  for (const accurate of [true, false]) {
    const { report } = await bench(pool, {
      ...{ minutes: 0.2, files: 0, accuracy: false, speed: true, accurate, split: 'test', seed: 1, peers: [], meanMinutes: 10 },
      ...{ model: 'none', log: () => {} },
    });
    t.ok(asked.length >= 4 && asked.splice(0).every((each) => each === accurate), `accurate: ${accurate}`);
    t.equal(/beam search/.test(table(report)), accurate);
  }
});
