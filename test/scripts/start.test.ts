/* How `up` is stopped: by a process manager, which signals only the process of npm; by closing its terminal; or by repeated Ctrl-C. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { addTiny, TINY } from '../support/engine/models.ts';
import { LONGHAND, type Running, start } from '../support/processes/processes.ts';
import { eventually } from '../support/processes/service.ts';

const home = join(t.testdir(), 'home');
await addTiny(home);

/** Process ids of the programs that use this state folder. */
function working(sources: readonly string[] = ['environ', 'cmdline']): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return sources.some((file) => readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(home));
      } catch {
        return false; // it has exited
      }
    });
}

/** Starts a program, and at teardown kills processes that are still running. */
async function begin(t: Test, file: string, ...args: string[]): Promise<Running> {
  const running = start(t, file, [...args, '--port', '0'], { LONGHAND_HOME: home, LONGHAND_MODEL: TINY, LONGHAND_THREADS: '1' });
  t.teardown(() => {
    for (const pid of working()) process.kill(Number(pid), 'SIGTERM');
  });
  await running.said(/listening on http:\S+$/m);
  t.ok(working().length > 3, 'up, PostgreSQL, api, engine');
  return running;
}

t.test('npm start stops everything that it started on SIGTERM', async (t) => {
  const npm = await begin(t, 'npm', 'start', '--');
  npm.child.kill('SIGTERM');
  t.strictSame(await npm.exited, [0, null]);
  t.strictSame(working(), []);
});

t.test('up stops everything that it started when its terminal is closed', async (t) => {
  const up = await begin(t, LONGHAND, 'up');
  up.child.stderr!.destroy(); // as in `up 2>&1 | tee`, when Ctrl-C ends both
  up.child.kill('SIGHUP');
  t.strictSame(await up.exited, [0, null]);
  t.strictSame(working(), []);
});

t.test('up stops immediately on a second signal, and leaves no process running', async (t) => {
  const up = await begin(t, LONGHAND, 'up');
  up.child.kill('SIGINT');
  await eventually(() => up.output.stderr.includes('stopping'), 'the first signal to be handled');
  up.child.kill('SIGINT');
  t.strictSame(await up.exited, [1, null]);
  await eventually(() => !working().length, 'the exit of all processes', 60);
});

t.test('up stops PostgreSQL at once, and exits, when a process on another machine has taken the folder over', async (t) => {
  const up = await begin(t, LONGHAND, 'up');
  const file = join(home, 'running.json');
  const text = JSON.stringify({ pid: 1, started: 'unknown here', where: 'on another machine', database: null, url: null });
  writeFileSync(file, text);
  await eventually(() => !working(['cmdline']).length, 'PostgreSQL, the only process with the folder in its arguments, gone');
  t.strictSame(await up.exited, [1, null]);
  t.match(up.output.stderr, /another process took it over while this one was suspended/);
  t.equal(readFileSync(file, 'utf8'), text);
  t.strictSame(working(), []);
  rmSync(file);
});

t.test('longhand commands that start PostgreSQL leave no PostgreSQL process when interrupted', async (t) => {
  const list = start(t, LONGHAND, ['admin', 'workspace', 'list'], { LONGHAND_HOME: home });
  await eventually(() => working(['cmdline']).length > 0, 'PostgreSQL, the only process with the folder in its arguments');
  list.child.kill('SIGTERM');
  await list.exited;
  await eventually(() => !working().length, 'PostgreSQL gone', 60);
});
