/* `npm start` as a process manager runs it: it knows npm's process alone, and tells that one to end. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { start } from '../support/processes.ts';

const home = join(t.testdir(), 'home');

/** Process numbers of the programs that work on this state folder. */
function working(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return ['environ', 'cmdline'].some((file) => readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(home));
      } catch {
        return false; // it ended meanwhile
      }
    });
}

t.test('npm start ends with everything that it started when it is told SIGTERM', async (t) => {
  const npm = start(t, 'npm', ['start', '--', '--port', '0'], { LONGHAND_HOME: home });
  await npm.said(/listening on http:\S+$/m);
  t.ok(working().length > 3, 'npm, up, PostgreSQL, api, engine');
  t.teardown(() => {
    for (const pid of working()) process.kill(Number(pid), 'SIGTERM');
  });
  npm.child.kill('SIGTERM');
  t.strictSame(await once(npm.child, 'exit'), [0, null]);
  t.strictSame(working(), []);
});
