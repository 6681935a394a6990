/**
 * `npm run mutate [-- --only=TEXT] [--from=N] [--count=N]`: applies each change of test/mutate/changes to a copy of the checkout, runs the closest
 * tests, and prints the changes that no test detected. Exits with 1 if more than 5 % survive or a change could not be tested.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Change, testsOf } from './mutate/changes/change.ts';
import { CHANGES } from './mutate/changes/changes.ts';
import { finish, ROOT, RUN } from './support/processes.ts';

const MOST_SURVIVORS = 0.05;
const BUILT = ['api/console/dist', '.tap']; // ignored by git, required by tests
const CONSOLE = 'api/console/app/'; // what browsers load is built from it

type Verdict = 'noticed' | 'SURVIVED' | 'NOT TRIED';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, from: { type: 'string', default: '0' }, count: { type: 'string' } },
});
const from = Number(values.from);
const chosen = CHANGES.filter((change) => change.flat().join(' ').includes(values.only)).slice(
  from,
  values.count ? from + Number(values.count) : undefined,
);
const scratch = mkdtempSync(join(tmpdir(), 'longhand-mutate-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

/** Copies the checkout, including uncommitted changes; packages are shared. */
function copy(): void {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
  for (const file of [...files, ...BUILT].filter((file) => existsSync(join(ROOT, file)))) {
    mkdirSync(dirname(join(scratch, file)), { recursive: true });
    cpSync(join(ROOT, file), join(scratch, file), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(scratch, 'node_modules'));
  execFileSync('sh', ['-c', 'git init -q && git add -A'], { cwd: scratch });
}

/** Writes a file of the copy. */
function write(file: string, text: string): void {
  writeFileSync(join(scratch, file), text);
  if (!file.startsWith(CONSOLE)) return;
  execFileSync(process.execPath, ['node_modules/vite/bin/vite.js', 'build', '--config', `${CONSOLE}vite.config.ts`], { cwd: scratch });
}

async function passes(tests: readonly string[]): Promise<boolean> {
  return (await finish(process.execPath, [...RUN, 'test/run.ts', '--jobs=1', ...tests], {}, scratch)).code === 0;
}

const sound = new Map<string, Promise<boolean>>();

/** Whether tests pass without any change: otherwise they would appear to detect every change. */
function pass(tests: readonly string[]): Promise<boolean> {
  const key = tests.join(' ');
  if (!sound.has(key)) sound.set(key, passes(tests));
  return sound.get(key)!;
}

async function attempt(change: Change): Promise<Verdict> {
  const [file, text, instead] = change;
  const tests = testsOf(change);
  const original = readFileSync(join(scratch, file), 'utf8');
  if (original.split(text).length !== 2 || !(await pass(tests))) return 'NOT TRIED';
  write(
    file,
    original.replace(text, () => instead),
  );
  try {
    return (await passes(tests)) ? 'SURVIVED' : 'noticed';
  } finally {
    write(file, original);
  }
}

copy();
const verdicts: Verdict[] = [];
for (const [number, change] of chosen.entries()) {
  const verdict = await attempt(change);
  verdicts.push(verdict);
  const [file, text, instead] = change;
  process.stdout.write(`${from + number} ${verdict} ${file}: ${JSON.stringify(text)} -> ${JSON.stringify(instead)}\n`);
}
const count = (wanted: Verdict) => verdicts.filter((verdict) => verdict === wanted).length;
process.stdout.write(
  `# ${verdicts.length} changes: ${count('noticed')} noticed, ${count('SURVIVED')} survived, ${count('NOT TRIED')} not tried\n`,
);
process.exitCode = count('NOT TRIED') || count('SURVIVED') > MOST_SURVIVORS * verdicts.length ? 1 : 0;
