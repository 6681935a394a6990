import t from 'tap';
import { pendingMigrations } from '../../db/postgres/migrate.ts';
import { testDatabase } from './database.ts';

t.test('testDatabase() gives every caller an empty, migrated database of its own', async (t) => {
  const [first, second] = await Promise.all([testDatabase(t), testDatabase(t)]);
  t.not(first.url, second.url);
  t.strictSame(await pendingMigrations(first.db), []);
  await first.db.acrossTenants((tx) => tx.rows(`insert into workspaces (name) values ('one')`));
  t.equal((await second.db.acrossTenants((tx) => tx.rows('select * from workspaces'))).length, 0);
});

const given = process.env.TEST_DATABASE_URL || process.env.DATABASE_URL;
t.test(
  'testDatabase() connects as a role subject to row-level security',
  { skip: given && 'the role was chosen with the address' },
  async (t) => {
    const { db } = await testDatabase(t);
    const role = await db.acrossTenants((tx) => tx.row('select rolsuper, rolbypassrls from pg_roles where rolname = current_user'));
    t.strictSame(role, { rolsuper: false, rolbypassrls: false });
  },
);
