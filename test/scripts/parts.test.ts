/* The parts that `up` runs, without it: `up` was killed. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { testDatabase } from '../support/database.ts';
import { environment, ROOT } from '../support/processes.ts';

const LAUNCH = join(ROOT, 'scripts/commands/launch.mjs');
const { url } = await testDatabase(t);
const env = environment({ DATABASE_URL: url, LONGHAND_HOME: t.testdir(), PORT: '0' });

for (const part of ['api', 'engine']) {
  t.test(`${part} does not outlive an up that is killed while it loads`, async (t) => {
    const child = fork(LAUNCH, [part], { env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    t.teardown(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit').then(() => 'it ended');
    child.disconnect();
    t.equal(await Promise.race([ended, once(child.stdout!, 'data').then(String)]), 'it ended');
  });
}
