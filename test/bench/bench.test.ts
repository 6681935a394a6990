import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type BenchOptions, bench } from '../../bench/bench.ts';
import type { Pool } from '../../engine/runtime/pool.ts';

const nothing: BenchOptions = {
  ...{ minutes: 1, files: 1, accuracy: false, speed: false, accurate: false, split: 'test', seed: 1, peers: [], meanMinutes: 10 },
  ...{ model: 'none', log: () => {} },
};

/** A pool without threads. */
function idle(): Pool {
  const job = () => t.fail('nothing is measured') as never;
  return { threads: 1, memoryBytes: 0, concurrency: 1, windowSeconds: 30, device: 'cpu', job, close: async () => {} };
}

t.test('bench() says before it measures that it cannot write a file or compare with one', async (t) => {
  const folder = t.testdir({ inside: {}, 'other.json': '[]', 'broken.json': '{' });
  let log = '';
  const measuring = { ...nothing, speed: true, log: (line: string) => void (log += line) };
  for (const [more, message] of [
    [{ save: join(folder, 'missing', 'a.json') }, /Cannot save to .*a\.json: there is no folder .*missing; create it/],
    [{ chart: join(folder, 'other.json', 'a.svg') }, /Cannot save to .*a\.svg: there is no folder .*other\.json/],
    [{ chart: join(folder, 'inside') }, /Cannot save to .*inside: it is a folder; name a file in it/],
    [{ save: '/proc/longhand.json' }, /Cannot save to \/proc\/longhand\.json/],
    [
      { compare: join(folder, 'other.json') },
      /Cannot compare with .*other\.json: it has no figures; expected a file that bench --save wrote/,
    ],
    [{ compare: join(folder, 'broken.json') }, /Cannot compare with .*broken\.json/],
  ] as const)
    await t.rejects(bench(idle(), { ...measuring, ...more }), message);
  t.equal(log, '');
});

const noFull = existsSync('/dev/full') ? false : 'this system has no /dev/full';
t.test('bench() returns the figures if they cannot be saved after all', { skip: noFull }, async (t) => {
  const chart = join(t.testdir(), 'chart.svg');
  const { report, text, problems } = await bench(idle(), { ...nothing, save: '/dev/full', chart });
  t.match(text, `1 threads, cpu, none`);
  t.equal(report.model, 'none');
  t.match(problems, [/^Cannot save to \/dev\/full: ENOSPC/]);
  t.match(readFileSync(chart, 'utf8'), /^<svg/, 'the other file is written');
});

t.test('bench() replaces a file that it saved before', async (t) => {
  const folder = t.testdir();
  mkdirSync(join(folder, 'results'));
  const save = join(folder, 'results', 'a.json');
  writeFileSync(save, 'before');
  const { report, problems } = await bench(idle(), { ...nothing, save });
  t.strictSame(problems, []);
  t.strictSame(JSON.parse(readFileSync(save, 'utf8')), JSON.parse(JSON.stringify(report)));
  const again = await bench(idle(), { ...nothing, compare: save });
  t.match(again.text, `Against ${report.at}`);
});
