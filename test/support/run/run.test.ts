import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import t from 'tap';
import { finish, ROOT, RUN } from '../processes/processes.ts';
import { allTests, type Costs, isLong, isWaiting, LONG, lanesOf, longestFirst, longTests, shuffled, testsAt } from './plan.ts';
import { busyMs } from './process.ts';
import { isAllowed } from './skips.ts';

const FILES = {
  'passing.test.ts': `import t from 'tap'; t.equal(1, 1); t.test('within', async (t) => { t.ok(true); t.equal(t.testdir() === '', false); });`,
  'failing.test.ts': `import t from 'tap'; t.test('one is two', async (t) => t.equal(1, 2, 'no')); t.test('goes on', async (t) => t.ok(true));`,
  'throwing.test.ts': `import t from 'tap'; t.ok(true); throw new Error('thrown at the top');`,
  'late.test.ts': `import t from 'tap'; const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    t.test('before', async (t) => t.ok(true)); t.test('one throws', async () => { setTimeout(() => { throw new Error('thrown late'); }, 1); await wait(20); });`,
  'rejecting.test.ts': `import t from 'tap'; const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    t.test('one rejects', async () => { wait(1).then(() => { throw new Error('rejected late'); }); await wait(20); });`,
  'after.test.ts': `import t from 'tap'; t.ok(true); setTimeout(() => t.equal(1, 1, 'later than the end'), 100);`,
  'slow.test.ts': `import t from 'tap'; t.test('waits', () => new Promise((resolve) => setTimeout(resolve, 1000)));`,
  'ending.test.ts': `import t from 'tap'; t.ok(true); process.exit(7);`,
  'waiting.test.ts': `import t from 'tap'; t.test('waits', { timeout: 50 }, () => new Promise(() => setInterval(() => {}, 1000)));`,
  'skipping.test.ts': `import t from 'tap'; t.test('needs a sea', { skip: 'no ship' }, async (t) => t.ok(true)); t.pass('but this');`,
  'lacking.test.ts': `import t from 'tap'; import { needPrograms } from '${join(ROOT, 'test/support/processes/programs.ts')}'; needPrograms(t, 'no-such-program'); t.fail('never');`,
};

const folder = relative(ROOT, t.testdir(FILES));
const run = (names: string[], ...options: string[]) =>
  finish(process.execPath, [...RUN, 'test/run.ts', '--jobs=1', ...options, ...names.map((name) => join(folder, `${name}.test.ts`))]);

t.test('run.ts names files that failed, threw, hung or ended their process, and continues with the others', async (t) => {
  const { code, stdout, stderr } = await run(['failing', 'throwing', 'ending', 'waiting', 'passing']);
  t.equal(stderr, '');
  t.equal(code, 1);
  const failed = stdout.slice(stdout.indexOf('Failed:'));
  t.match(failed, /failing\.test\.ts > one is two > no\n/);
  t.match(failed, /throwing\.test\.ts > .*thrown at the top/);
  t.match(failed, /ending\.test\.ts: the process ended with code \d+ before the file did/);
  t.match(failed, /waiting\.test\.ts > .*timeout/);
  t.match(stdout, /^ok \S+passing\.test\.ts # 3 passed/m);
  t.match(stdout, /^# \{ total: 11, pass: 6, fail: 5, skip: 0 \}$/m);
});

t.test('run.ts --long lets a file run for hours before it kills its process', async (t) => {
  t.intercept(process, 'env', { value: { ...process.env, ...LONG } }); // as run.ts does after loading everything
  t.ok(busyMs() > 3_600_000, `${busyMs()} ms`);
});

t.test('run.ts reports an uncaught error in the test that caused it', async (t) => {
  const { stdout, stderr } = await run(['late', 'rejecting', 'passing']);
  t.equal(stderr, '');
  const failed = stdout.slice(stdout.indexOf('Failed:'));
  t.match(failed, /late\.test\.ts > one throws > thrown late\n/);
  t.match(failed, /rejecting\.test\.ts > one rejects > rejected late\n/);
  t.match(stdout, /^ok \S+passing\.test\.ts # 3 passed/m);
});

t.test('run.ts reports an assertion that comes after the end of its file', async (t) => {
  const { code, stdout } = await run(['after', 'slow']);
  t.equal(code, 1);
  t.match(stdout, /^after the last test of a file: .*\n[\s\S]*later than the end/m);
});

t.test(
  'run.ts counts skips with their reason; under --strict an unlisted skip fails; --shuffle takes a seed, or picks one and prints it',
  async (t) => {
    const cases: [options: string[], exit: number, order: RegExp][] = [
      [['--shuffle'], 0, /^# --shuffle=[1-9]\d* repeats this order$/m],
      [['--strict', '--shuffle=7'], 1, /^# --shuffle=7 repeats this order$/m],
    ];
    for (const [options, exit, order] of cases) {
      const { code, stdout } = await run(['skipping', 'lacking', 'passing'], ...options);
      t.equal(code, exit);
      t.match(stdout, order);
      t.match(stdout, /^\S+skipping\.test\.ts > needs a sea: no ship \(NOT ON THE LIST\)$/m);
      t.match(stdout, /^\S+lacking\.test\.ts: needs no-such-program, .* \(NOT ON THE LIST\)$/m);
      t.match(stdout, /^# \{ total: 6, pass: 4, fail: 0, skip: 2 \}$/m);
    }
  },
);

t.test('isAllowed() accepts the other kind of processor, a real language model, and what the host may lack or forbid', async (t) => {
  t.ok(isAllowed({ test: 'x', reason: 'LLM_BASE_URL is not set' }));
  t.ok(isAllowed({ test: 'x', reason: 'helm is not installed' }), 'the host may lack it; it is named in the last lines');
  t.ok(isAllowed({ test: 'x', reason: 'needs permission to mount a file system: run as root' }), 'few containers allow it');
  t.notOk(isAllowed({ test: 'x', reason: 'needs no-such-program' }));
  t.notOk(isAllowed({ test: 'x', reason: '' }));
});

t.test('shuffled() keeps every file and gives the same order for the same seed', async (t) => {
  const files = Array.from({ length: 20 }, (_, i) => `${i}`);
  t.strictSame(shuffled(files, 7), shuffled(files, 7));
  t.not(shuffled(files, 7).join(), files.join());
  t.strictSame([...shuffled(files, 7)].sort(), [...files].sort());
});

const COSTS: Costs = { 'waits.test.ts': [90, 1], 'b.test.ts': [3, 3], 'c.test.ts': [50, 50], 'dozes.test.ts': [60, 2] };

t.test('lanesOf() assigns every file once, and runs waiting files beside computing ones', async (t) => {
  const files = ['b.test.ts', 'waits.test.ts', 'c.test.ts', 'dozes.test.ts', 'new.test.ts'];
  const lanes = lanesOf(files, 2, COSTS);
  t.equal(lanes.length, 6);
  const first = lanes.flatMap((lists) => lists.find((list) => list.length)?.shift() ?? []);
  t.strictSame(
    first.map((file) => isWaiting(file, COSTS)),
    [false, false, false, true, true],
  );
  t.strictSame(first.sort(), [...files].sort());
  t.ok(
    lanes.flat().every((list) => !list.length),
    'a file taken by one lane is not taken by another',
  );
});

t.test('longestFirst() orders files by their CPU time, or by wall-clock time if they mostly wait; unknown ones come first', async (t) => {
  const files = ['b.test.ts', 'dozes.test.ts', 'new.test.ts', 'c.test.ts', 'waits.test.ts'];
  t.strictSame(longestFirst(files, COSTS), ['new.test.ts', 'waits.test.ts', 'dozes.test.ts', 'c.test.ts', 'b.test.ts']);
});

t.test('testsAt() takes files and folders', async (t) => {
  const root = new URL('../../../', import.meta.url);
  const folder = testsAt(root, ['test/support/run/']);
  t.ok(folder.includes('test/support/run/run.test.ts'));
  t.ok(folder.every((file) => file.startsWith('test/support/run/')));
  t.strictSame(testsAt(root, ['test/house.test.ts', 'test/words.test.ts']), ['test/house.test.ts', 'test/words.test.ts']);
  t.throws(() => testsAt(root, ['test/support/ru']), /There is no test file test\/support\/ru/);
});

t.test('allTests() and longTests() find every test file', async (t) => {
  const root = new URL('../../../', import.meta.url);
  const [files, long] = [allTests(root), longTests(root)];
  t.equal(new Set(files).size, files.length);
  for (const file of ['test/flow.test.ts', 'test/support/run/run.test.ts']) {
    t.ok(files.includes(file), file);
    t.notOk(long.includes(file), file);
  }
  t.ok(long.includes('test/deno-types.long.test.ts') && !files.includes('test/deno-types.long.test.ts'));
  t.ok(long.includes('test/crash/disk.test.ts'));
});

t.test('isLong() finds the tests whose number of cases is set from outside', async (t) => {
  const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  for (const file of ['crash/disk', 'db/protocol', 'engine/audio/channels/layouts', 'api/export/names', 'api/fuzz/wire'])
    t.ok(isLong(text(`${file}.test.ts`)), file);
  t.notOk(isLong(text('flow.test.ts')));
});
