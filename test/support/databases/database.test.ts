import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { installationId } from '../../../db/jobs/engines.ts';
import { openDb } from '../../../db/postgres/orm.ts';
import { pendingMigrations } from '../../../db/postgres/pending.ts';
import { openScratch } from '../../../engine/tasks/scratch.ts';
import { testDatabase } from './database.ts';
import { MEMORY, superuserPassword } from './postgres.ts';

t.test('testDatabase() gives every caller its own empty, migrated database', async (t) => {
  const [first, second] = await Promise.all([testDatabase(t), testDatabase(t)]);
  t.not(first.url, second.url);
  t.strictSame(await pendingMigrations(first.db), []);
  await first.db.acrossTenants((tx) => tx.rows(`insert into workspaces (name) values ('one')`));
  t.equal((await second.db.acrossTenants((tx) => tx.rows('select * from workspaces'))).length, 0);
});

const given = process.env.TEST_DATABASE_URL || process.env.DATABASE_URL;
t.test(
  'testDatabase() connects as a role subject to row-level security',
  { skip: given && 'the role is determined by the given URL' },
  async (t) => {
    const { db } = await testDatabase(t);
    const role = await db.acrossTenants((tx) => tx.row('select rolsuper, rolbypassrls from pg_roles where rolname = current_user'));
    t.strictSame(role, { rolsuper: false, rolbypassrls: false });
  },
);

t.test('testDatabase() drops the database at teardown while a backend of a superuser is still exiting', async (t) => {
  const password = superuserPassword();
  if (!password) return t.comment('the password of the superuser is not known');
  const teardowns: (() => unknown)[] = [];
  const { url } = await testDatabase({ teardown: (after) => teardowns.push(after) });
  const name = new URL(url).pathname.slice(1);
  const superuser = await openDb({ url: Object.assign(new URL(url), { username: 'postgres', password }).href, pool: 1 });
  await superuser.direct('select 1');
  const dropped = Promise.all(teardowns.map((teardown) => teardown()));
  await sleep(500);
  await superuser.close();
  await dropped;
  const { db: other } = await testDatabase(t);
  t.strictSame(await other.direct(`select 1 from pg_database where datname = '${name}'`), []);
});

t.test(
  'testDatabase() removes the recordings that killed engines left in memory',
  { skip: !existsSync(MEMORY) && 'no Linux' },
  async (t) => {
    const teardowns: (() => unknown)[] = [];
    const { db } = await testDatabase({ teardown: (after) => teardowns.push(after) });
    const scratch = await openScratch(await installationId(db), randomUUID(), t.testdir());
    const path = await scratch.place(1000);
    t.ok(path.startsWith(MEMORY), path);
    writeFileSync(path, 'recording');
    for (const teardown of teardowns) await teardown();
    t.notOk(existsSync(path));
    await scratch.close();
  },
);
