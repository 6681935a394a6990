/* The parts that `up` runs, without it: after it was killed, or started separately. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { testDatabase } from '../support/databases/database.ts';
import { addTiny, TINY } from '../support/engine/models.ts';
import { environment, finish, LONGHAND, ROOT } from '../support/processes/processes.ts';

const LAUNCH = join(ROOT, 'scripts/commands/launch.mjs');
const CLOSED_AT_ONCE = new URL('../support/processes/closed-at-once.mjs', import.meta.url).href;
const { url } = await testDatabase(t);
const home = t.testdir();
await addTiny(home);
const settings = { DATABASE_URL: url, LONGHAND_HOME: home, LONGHAND_MODEL: TINY, LONGHAND_THREADS: '1', PORT: '0' };

for (const part of ['api', 'engine', 'courier']) {
  t.test(`${part} ends if its parent up is killed while it loads`, async (t) => {
    const child = fork(LAUNCH, [part], { env: environment(settings), stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    t.teardown(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit').then(() => 'it ended');
    child.disconnect();
    t.equal(await Promise.race([ended, once(child.stdout!, 'data').then(String)]), 'it ended');
  });

  t.test(`${part} shuts down cleanly when its terminal is closed, even in the moment in which it is ready`, async (t) => {
    const { code, stdout } = await finish(LONGHAND, [part], { ...settings, NODE_OPTIONS: `--import=${CLOSED_AT_ONCE}` });
    t.match(stdout, /^(listening on|working on|delivering)/m);
    t.equal(code, 0);
  });
}

t.test('scripts/longhand and up start API and engine with the same flags of V8, which nothing changes later', async (t) => {
  const sources = ['api', 'db', 'engine', 'models', 'scripts', 'bench'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).flatMap((name) =>
      /\.ts$/.test(name) ? [join(folder, name)] : [],
    ),
  );
  t.ok(sources.length > 300);
  t.strictSame(
    sources.filter((name) => readFileSync(join(ROOT, name), 'utf8').includes('setFlagsFromString')),
    [],
    'a process that was collecting garbage when incremental marking was switched off crashed',
  );
  const launched = readFileSync(LONGHAND, 'utf8');
  const supervised = readFileSync(join(ROOT, 'scripts/commands/children.ts'), 'utf8');
  for (const part of ['api', 'engine']) {
    const flags = new RegExp(`^  ${part}\\b.*\\) runtime='?(--[^';]+?)'? ;;$`, 'm').exec(launched)?.[1]?.split(' ');
    const own = new RegExp(`^  ${part}: \\[(.*)\\],$`, 'm').exec(supervised)?.[1];
    t.strictSame(own?.replaceAll("'", '').split(', '), flags, part);
  }
});
