/**
 * `npm test [-- FILE_OR_FOLDER…] [--shuffle[=SEED]] [--jobs=N] [--strict] [--record] [--explain] [--long]`: runs the test files in a few processes and prints a line for each, then failures,
 * skips with their reasons, and the counts. --strict: a skip that is not on the list (support/run/skips.ts) fails.
 * --long: only files named `.long.test.ts`, and those whose number of cases is set by the environment, with many more cases and a new seed in
 * each run: `npm run test:long`.
 * --explain: as without FILE, the statements that the product sent in these files must not scan large tables (support/databases/explain.ts).
 * --record: writes the cost of each file to support/run/costs.json, by which the longest start first; requires an otherwise idle machine.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPrograms } from './support/run/build.ts';
import { allTests, isAlone, LONG, lanesOf, longTests, readCosts, recordCosts, shuffled, testsAt } from './support/run/plan.ts';
import { type Outcome, TestProcess } from './support/run/process.ts';
import { isAllowed } from './support/run/skips.ts';

const ROOT = new URL('../', import.meta.url);
const COSTLIEST = 40; // number of files listed at the end, where logs are not truncated
const FILES_EACH = 30; // per shared process, which is then restarted to release what they left in memory

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).map((argument) => (argument === '--shuffle' ? '--shuffle=' : argument)), // its seed may be left out
  allowPositionals: true,
  options: {
    shuffle: { type: 'string' },
    jobs: { type: 'string' },
    strict: { type: 'boolean', default: false },
    record: { type: 'boolean' },
    explain: { type: 'boolean' },
    long: { type: 'boolean' },
  },
});

/** Prints the result of a file. */
function say({ file, seconds, cpuSeconds, passed, skips, failures }: Outcome): void {
  const skipped = skips.length ? `, ${skips.length} skipped` : '';
  const mark = failures.length ? 'not ok' : 'ok';
  process.stdout.write(`${mark} ${file} # ${passed} passed${skipped}, ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s CPU\n`);
  for (const failure of failures) process.stdout.write(`${failure.replace(/^/gm, '    ')}\n`);
}

/** Runs files from the lists, in the order of the lists, until all are empty. */
async function work(lists: string[][], outcomes: Outcome[]): Promise<void> {
  let shared: TestProcess | null = null;
  let ran = 0;
  const next = () => lists.find((list) => list.length)?.shift();
  const finish = async (process: TestProcess, outcome: Outcome) => {
    const wrong = await process.end();
    if (wrong) outcome.failures.push(`${outcome.file}: ${wrong}`);
  };
  for (let file = next(); file !== undefined; file = next()) {
    const process: TestProcess = isAlone(file) ? new TestProcess() : (shared ?? new TestProcess());
    const outcome = await process.run(file);
    outcomes.push(outcome);
    const used = isAlone(file) || !process.sound || ++ran % FILES_EACH === 0 || lists.every((list) => !list.length);
    if (used) await finish(process, outcome);
    if (!isAlone(file)) shared = used ? null : process;
    say(outcome);
  }
  if (shared) await shared.end();
}

/** Plans of all statements that the product sent in these files. */
async function explain(folder: string): Promise<Outcome> {
  delete process.env.TEST_STATEMENTS;
  const { recordedStatements, refusedStatements } = await import('./support/databases/explain.ts'); // 0.7 s of CPU time
  const endings: (() => unknown)[] = [];
  const outcome = { file: 'plans of all statements', seconds: 0, cpuSeconds: 0, passed: recordedStatements(folder).length, skips: [] };
  try {
    const refused = await refusedStatements({ teardown: (end) => void endings.push(end) }, folder);
    const failures = refused.map((line) => `${outcome.file}: ${line}`);
    process.stdout.write(`${failures.length ? 'not ok' : 'ok'} ${outcome.file} # ${outcome.passed} statements\n`);
    return { ...outcome, failures };
  } finally {
    for (const end of endings.reverse()) await end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function summarise(outcomes: readonly Outcome[], seconds: number): boolean {
  const failed = outcomes.filter(({ failures }) => failures.length);
  const skips = outcomes.flatMap((outcome) => outcome.skips);
  const unlisted = skips.filter((skip) => !isAllowed(skip));
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
  const costly = outcomes.length > COSTLIEST ? [...outcomes].sort((a, b) => b.cpuSeconds - a.cpuSeconds).slice(0, COSTLIEST) : [];
  const lines = [
    ...(costly.length ? ['', 'Most CPU seconds:', ...costly.map(({ file, cpuSeconds }) => `${cpuSeconds.toFixed(0)} ${file}`)] : []),
    ...(failed.length ? ['', 'Failed:', ...failed.flatMap(({ failures }) => failures)] : []),
    ...(skips.length
      ? ['', 'Skipped:', ...skips.map((skip) => `${skip.test}: ${skip.reason}${isAllowed(skip) ? '' : ' (NOT ON THE LIST)'}`)]
      : []),
    '',
    `# ${outcomes.length} files in ${seconds.toFixed(0)} s, ${sum((outcome) => outcome.cpuSeconds).toFixed(0)} s CPU`,
    `# { total: ${sum(({ passed, failures, skips }) => passed + failures.length + skips.length)}, pass: ${sum(({ passed }) => passed)}, fail: ${sum(({ failures }) => failures.length)}, skip: ${skips.length} }`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (values.strict && unlisted.length)
    process.stdout.write(`# ${unlisted.length} skipped that are not on the list of test/support/run/skips.ts\n`);
  return !failed.length && !(values.strict && unlisted.length);
}

const all = values.long ? longTests : allTests;
const asked = positionals.length ? testsAt(ROOT, positionals) : all(ROOT);
const seed = values.shuffle === undefined ? null : Number(values.shuffle) || Date.now() % 1e9;
if (seed !== null) process.stdout.write(`# --shuffle=${seed} repeats this order\n`);
if (values.long) {
  process.env.SEED ??= String(Date.now() % 1e9);
  Object.assign(process.env, { ...LONG, ...process.env });
  process.stdout.write(`# SEED=${process.env.SEED} npm run test:long repeats these cases\n`);
}
const files = seed === null ? [...asked] : shuffled(asked, seed);
const started = performance.now();
process.env.TEST_PROGRAMS ??= await buildPrograms();
const statements = values.explain || !positionals.length ? mkdtempSync(join(tmpdir(), 'longhand-statements-')) : null;
if (statements) process.env.TEST_STATEMENTS = statements;
const outcomes: Outcome[] = [];
const lanes = values.jobs
  ? Array.from({ length: Number(values.jobs) }, () => [files])
  : lanesOf(files, availableParallelism(), readCosts());
await Promise.all(lanes.map((lists) => work(lists, outcomes)));
if (statements) outcomes.push(await explain(statements));
process.exitCode = summarise(outcomes, (performance.now() - started) / 1000) ? 0 : 1;
if (values.record)
  recordCosts(
    outcomes.filter(({ failures }) => !failures.length),
    ROOT,
  );
