import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Wall-clock seconds of a file alone on two cores, and its CPU seconds: `npm test -- --record` writes them. */
export type Costs = Record<string, readonly [seconds: number, cpuSeconds: number]>;

const COSTS = new URL('costs.json', import.meta.url);
const UNKNOWN: Costs[string] = [3600, 3600]; // of a new file: it starts first, because it may be long
const MOST_BUSY = 0.35; // of a core, by a waiting file
const WAITERS = 3;

/**
 * Files share a few processes, because loading the sources takes up to 6 s of CPU time. These run in separate processes, because they do
 * not restore the state of the process.
 */
const ALONE: [place: string, reason: string][] = [
  ['test/crash/leap.test.ts', 'it changes the environment of the process'],
  ['test/db/spool/s3.test.ts', 'it changes the environment of the process'],
  ['test/deploy/s3.test.ts', 'it changes the environment of the process'],
  ['test/engine/tasks/scratch.test.ts', 'it changes the environment of the process'],
  ['test/engine/hostile/', 'they change the environment of the process, and measure its memory'],
  ['test/engine/reports/model.test.ts', 'it replaces `fetch`'],
  ['test/bench/accuracy/accuracy.test.ts', 'it opens a pool, whose memory is never released'],
  ['test/engine/runtime/', 'they open pools and sessions, whose memory is never released'],
  ['test/engine/transcribe.test.ts', 'it opens a pool'],
  ['test/models/build/build.test.ts', 'it opens sessions of many models'],
  ['test/models/build/decoder.test.ts', 'it opens sessions of many models'],
];

export function isAlone(file: string): boolean {
  return ALONE.some(([place]) => file.startsWith(place));
}

/** Whether a file mostly waits, for leases, disks, clients and back-offs: then it runs beside CPU-bound files. */
export function isWaiting(file: string, costs: Costs): boolean {
  const [seconds, cpuSeconds] = costs[file] ?? UNKNOWN;
  return cpuSeconds < MOST_BUSY * seconds;
}

/**
 * The lists from which each lane of the runner takes its next file: some lanes prefer CPU-bound files, the others waiting files. The lists
 * are shared, so every file is taken once. With 2 and 2 lanes, two cores were idle for 26 % of the time.
 */
export function lanesOf(files: readonly string[], cores: number, costs: Costs): string[][][] {
  const waiting = files.filter((file) => isWaiting(file, costs));
  const computing = files.filter((file) => !isWaiting(file, costs));
  return [...Array.from({ length: cores + 1 }, () => [computing, waiting]), ...Array.from({ length: WAITERS }, () => [waiting, computing])];
}

/** Every test file under `root`, in the order in which they start: the longest first, so that none runs alone at the end. */
function everyTest(root: URL): string[] {
  const files = readdirSync(new URL('test/', root), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
  return longestFirst(
    files.map((file) => `test/${file}`),
    readCosts(),
  );
}

/** The files of `npm test`. */
export function allTests(root: URL): string[] {
  return everyTest(root).filter((file) => !file.endsWith('.long.test.ts'));
}

/** The files of `npm run test:long`: those that are too slow for `npm test`, and those whose number of cases is set by the environment. */
export function longTests(root: URL): string[] {
  return everyTest(root).filter((file) => file.endsWith('.long.test.ts') || isLong(readFileSync(new URL(file, root), 'utf8')));
}

/** The test files that paths name, folders by all within, in that order. Throws if a path names none. */
export function testsAt(root: URL, paths: readonly string[]): string[] {
  const every = everyTest(root);
  return paths.flatMap((path) => {
    const clean = path.replace(/\/$/, '');
    const found = every.filter((file) => file.startsWith(`${clean}/`));
    if (!found.length && existsSync(new URL(path, root))) return path;
    if (!found.length) throw new Error(`There is no test file ${path}`);
    return found;
  });
}

/** Orders waiting files by wall-clock time, the others by CPU time. */
export function longestFirst(files: readonly string[], costs: Costs): string[] {
  const cost = (file: string) => (costs[file] ?? UNKNOWN)[isWaiting(file, costs) ? 0 : 1];
  return [...files].sort((a, b) => cost(b) - cost(a) || a.localeCompare(b));
}

export function readCosts(): Costs {
  return JSON.parse(readFileSync(COSTS, 'utf8')) as Costs;
}

/** Stores the costs of files, and removes those of deleted files. */
export function recordCosts(outcomes: readonly { file: string; seconds: number; cpuSeconds: number }[], root: URL): void {
  const all = { ...readCosts(), ...Object.fromEntries(outcomes.map(({ file, seconds, cpuSeconds }) => [file, [seconds, cpuSeconds]])) };
  const lines = Object.entries(all as Costs)
    .filter(([file]) => existsSync(new URL(file, root)))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, cost]) => `  ${JSON.stringify(file)}: [${cost.map((seconds) => Math.round(seconds * 10) / 10).join(', ')}]`);
  writeFileSync(COSTS, `{\n${lines.join(',\n')}\n}\n`);
}

/** Numbers of cases of `npm run test:long` in tests that read them from the environment, 5 to 40 times those of `npm test`, and its time limit for a file. */
export const LONG = { ROUNDS: '5', RUNS: '2000', SCHEDULES: '800', LAYOUTS: '800', TEST_PATIENCE_MS: '14400000' };

/** Whether a test file reads the number of its cases from the environment, directly or through test/support. */
export function isLong(text: string): boolean {
  return new RegExp(`process\\.env\\.(${Object.keys(LONG).join('|')})\\b|/support/(property|api/fuzz)\\.ts'`).test(text);
}

/** The same files in an order determined by a seed. */
export function shuffled(files: readonly string[], seed: number): string[] {
  const all = [...files];
  let state = seed >>> 0 || 1;
  for (let i = all.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0; // Numerical Recipes
    const j = Math.floor((state / 2 ** 32) * (i + 1));
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}
