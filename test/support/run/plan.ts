import { readdirSync } from 'node:fs';

/** These begin first, because they take longest or mostly wait; the others follow by name. */
const FIRST = [
  'test/crash/',
  'test/engine/tasks/crash.test.ts',
  'test/engine/tasks/engine.test.ts',
  'test/deploy/',
  'test/scripts/',
  'test/flow.test.ts',
  'test/engine/runtime/',
  'test/bench/accuracy.test.ts',
  'test/db/protocol.test.ts',
];

/** Files of these folders share a few processes: they are short, and leave the process as they found it. */
const SHARED = [
  'test/api/conformance/',
  'test/api/contract/',
  'test/api/export/',
  'test/bench/',
  'test/db/',
  'test/engine/asr/',
  'test/engine/diarization/',
  'test/engine/reports/',
  'test/engine/transcript/',
  'test/models/',
];

/** Those of them that have a process of their own all the same, and why. */
const ALONE: [place: string, reason: string][] = [
  ['test/bench/accuracy.test.ts', 'it takes a minute'],
  ['test/db/protocol.test.ts', 'it takes a minute'],
  ['test/db/spool/s3.test.ts', 'it changes the environment of the process'],
  ['test/engine/reports/model.test.ts', 'it replaces `fetch`'],
  ['test/models/build.test.ts', 'it takes half a minute'],
];

export function isAlone(file: string): boolean {
  return !SHARED.some((place) => file.startsWith(place)) || ALONE.some(([place]) => file.startsWith(place));
}

/** Every test file under `root`, in the order in which they begin. */
export function allTests(root: URL): string[] {
  const files = readdirSync(new URL('test/', root), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
  const rank = (file: string) => (FIRST.findIndex((place) => file.startsWith(place)) + FIRST.length + 1) % (FIRST.length + 1);
  return files.map((file) => `test/${file}`).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** The same files in an order that a seed gives. */
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
