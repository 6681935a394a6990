import t from 'tap';
import { testDatabase } from '../support/databases/database.ts';
import { addTiny, TINY } from '../support/engine/models.ts';
import { longhand, program, start } from '../support/processes/processes.ts';

const { db, url } = await testDatabase(t);
await db.direct('alter table projects no force row level security');
const home = t.testdir();
await addTiny(home);
const env = { DATABASE_URL: url, LONGHAND_HOME: home, LONGHAND_MODEL: TINY, LONGHAND_THREADS: '1', PORT: '0' };
const READY = /^(listening|working|delivering)/m; // a program that starts prints one of these, and would run for ever

for (const part of ['api/main.ts', 'engine/main.ts', 'engine/courier/main.ts'])
  t.test(`${part} does not start while row-level security does not isolate workspaces`, async (t) => {
    const running = start(t, process.execPath, program(part), env);
    await t.rejects(running.said(READY), /exited/);
    t.equal(await running.stop(), 1);
    t.match(running.output.stderr, /^Cannot isolate workspaces: row-level security is not forced on projects\. Undo the manual change/m);
  });

t.test('doctor reports that row-level security does not isolate workspaces', async (t) => {
  const { code, stdout } = await longhand(['doctor', '--json'], env);
  const failed = JSON.parse(stdout).checks.filter(({ found }: { found: string }) =>
    /row-level security is not forced on projects/.test(found),
  );
  t.match(failed, [{ ok: false }]);
  t.equal(code, 1);
});
