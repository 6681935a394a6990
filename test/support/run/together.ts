/**
 * Runs test files in one process, one after another, each as a subtest with its name. The files are its arguments, or are requested by its
 * parent (test/run.ts), which receives the cost of each.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { Lacking } from '../processes/programs.ts';
import { type Done, END, patienceMs } from './protocol.ts';

const TICKS = 100; // per second, in /proc

const tests: Test[] = [];
Object.assign(globalThis, { [Symbol.for('longhand.together')]: tests }); // tap-of-file.mjs
t.setTimeout(0);
if (process.env.TEST_STATEMENTS) await import(new URL('../recorder.mjs', import.meta.url).href);

async function run(file: string): Promise<void> {
  const number = tests.length;
  await t.test(file, { timeout: patienceMs() }, async (test) => {
    tests[number] = test;
    try {
      await import(`${pathToFileURL(file).href}?together=${number}`);
    } catch (error) {
      if (!(error instanceof Lacking)) throw error;
    }
  });
}

function cpuSeconds(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
  } catch {
    return process.cpuUsage().user / 1e6; // not Linux
  }
}

const [...given] = process.argv.slice(2);
if (process.send && !given.length) {
  let before = 0;
  const orphaned = () => process.exit(1);
  process.once('disconnect', orphaned);
  const awake = setInterval(() => {}, 1000); // tap unreferences the IPC channel
  for (;;) {
    const [file] = (await once(process, 'message')) as [string];
    if (file === END) break;
    await run(file);
    const now = cpuSeconds();
    process.send({ cpuSeconds: now - before } satisfies Done);
    before = now;
  }
  clearInterval(awake);
  process.off('disconnect', orphaned).disconnect?.();
} else for (const file of given) await run(file);
