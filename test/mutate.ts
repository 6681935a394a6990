/**
 * `npm run mutate [-- --only=TEXT] [--from=N] [--count=N] [--jobs=N]`: applies each change of test/mutate/changes to a copy of the checkout, runs the
 * closest tests, and prints the changes that no test detected. Exits with 1 if more than 5 % survive, a change could not be tested, or none was chosen.
 * --jobs: number of copies that are tested at once; as many as there are processors by default.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Change, testsOf } from './mutate/changes/change.ts';
import { CHANGES } from './mutate/changes/changes.ts';
import { finish, ROOT, RUN } from './support/processes/processes.ts';

const MOST_SURVIVORS = 0.05;
const PATIENCE = 5; // times the usual duration, after which a change that makes tests hang is noticed
const MIN_PATIENCE_MS = 60_000;
const BUILT = ['api/console/dist', '.tap']; // ignored by git, required by tests
const CONSOLE = 'api/console/app/'; // what browsers load is built from it

type Verdict = 'noticed' | 'SURVIVED' | 'NOT TRIED';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    from: { type: 'string', default: '0' },
    count: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const from = Number(values.from);
const chosen = CHANGES.filter((change) => change.flat().join(' ').includes(values.only)).slice(
  from,
  values.count ? from + Number(values.count) : undefined,
);
const copies = Array.from({ length: Number(values.jobs) }, () => mkdtempSync(join(tmpdir(), 'longhand-mutate-')));
process.once('exit', () => copies.forEach((scratch) => void rmSync(scratch, { recursive: true, force: true })));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

/** Copies the checkout, including uncommitted changes; packages are shared. */
function copy(scratch: string): void {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
  for (const file of [...files, ...BUILT].filter((file) => existsSync(join(ROOT, file)))) {
    mkdirSync(dirname(join(scratch, file)), { recursive: true });
    cpSync(join(ROOT, file), join(scratch, file), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(scratch, 'node_modules'));
  execFileSync('sh', ['-c', 'git init -q && git add -A'], { cwd: scratch });
}

/** Writes a file of the copy. */
function write(scratch: string, file: string, text: string): void {
  writeFileSync(join(scratch, file), text);
  if (!file.startsWith(CONSOLE)) return;
  execFileSync(process.execPath, ['node_modules/vite/bin/vite.js', 'build', '--config', `${CONSOLE}vite.config.ts`], { cwd: scratch });
}

/** Whether tests pass, each file within `patienceMs` if given. */
async function passes(scratch: string, tests: readonly string[], patienceMs?: number): Promise<boolean> {
  const env: Record<string, string> = { TEST_PROGRAMS_CACHE: join(scratch, '.tap/programs') };
  if (patienceMs) env.TEST_PATIENCE_MS = String(Math.round(patienceMs));
  return (await finish(process.execPath, [...RUN, 'test/run.ts', '--jobs=1', ...tests], env, scratch)).code === 0;
}

const durations = new Map<string, Promise<number | null>>();

/** Milliseconds that tests take without any change, or null if they fail: then they would appear to detect every change. */
function unchanged(scratch: string, tests: readonly string[]): Promise<number | null> {
  const key = tests.join(' ');
  const measure = async () => {
    const started = performance.now();
    return (await passes(scratch, tests)) ? performance.now() - started : null;
  };
  if (!durations.has(key)) durations.set(key, measure());
  return durations.get(key)!;
}

async function attempt(scratch: string, change: Change): Promise<Verdict> {
  const [file, text, instead] = change;
  const tests = testsOf(change);
  const original = readFileSync(join(scratch, file), 'utf8');
  const usual = original.split(text).length === 2 ? await unchanged(scratch, tests) : null;
  if (usual === null) return 'NOT TRIED';
  write(
    scratch,
    file,
    original.replace(text, () => instead),
  );
  try {
    return (await passes(scratch, tests, PATIENCE * usual + MIN_PATIENCE_MS)) ? 'SURVIVED' : 'noticed';
  } finally {
    write(scratch, file, original);
  }
}

const verdicts: Verdict[] = [];
const numbered = chosen.entries(); // the copies take from it in turn

async function work(scratch: string): Promise<void> {
  copy(scratch);
  for (const [number, change] of numbered) {
    const verdict = await attempt(scratch, change);
    verdicts.push(verdict);
    const [file, text, instead] = change;
    process.stdout.write(`${from + number} ${verdict} ${file}: ${JSON.stringify(text)} -> ${JSON.stringify(instead)}\n`);
  }
}

await Promise.all(copies.map(work));
const count = (wanted: Verdict) => verdicts.filter((verdict) => verdict === wanted).length;
process.stdout.write(
  `# ${verdicts.length} changes: ${count('noticed')} noticed, ${count('SURVIVED')} survived, ${count('NOT TRIED')} not tried\n`,
);
const complete = chosen.length > 0 && count('NOT TRIED') === 0 && verdicts.length === chosen.length;
process.exitCode = complete && count('SURVIVED') <= MOST_SURVIVORS * verdicts.length ? 0 : 1;
