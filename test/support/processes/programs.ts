import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type t from 'tap';

const FETCHED = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'longhand-tests', 'bin'); // by scripts/testing.mjs

/** Programs that do the same at less cost: the headless shell takes 63 % of Chromium's CPU time. */
const PREFERRED: Record<string, string> = { chromium: 'chromium-headless-shell' };

/** Path of a program, or null. Debian has servers in /usr/sbin, which may not be on the PATH. */
export function findProgram(name: string): string | null {
  const preferred = PREFERRED[name] && findProgram(PREFERRED[name]);
  if (preferred) return preferred;
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/sbin', FETCHED];
  for (const folder of folders.filter(Boolean)) {
    try {
      accessSync(path.join(folder, name), constants.X_OK);
      return path.join(folder, name);
    } catch {}
  }
  return null;
}

/** Thrown to end a skipped test file. */
export class Lacking extends Error {}

/** Paths of programs that a test file requires; if one is missing, the file is skipped with a message that names it. */
export function needPrograms<N extends string>(test: typeof t, ...names: N[]): Record<N, string> {
  const found = Object.fromEntries(names.map((name) => [name, findProgram(name)]));
  const missing = names.filter((name) => !found[name]);
  if (missing.length) {
    test.plan(0, `needs ${missing.join(', ')}, which this system lacks and \`npm test\` could not install`);
    if (Symbol.for('longhand.together') in globalThis) throw new Lacking(missing.join()); // the other files of this process continue
    process.exit();
  }
  return found as Record<N, string>;
}
