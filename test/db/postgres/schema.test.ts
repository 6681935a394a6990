import t from 'tap';
import { migrate } from '../../../db/postgres/migrate.ts';
import { openDb } from '../../../db/postgres/orm.ts';
import { compareSchema } from '../../../db/postgres/schema.ts';
import { testDatabase } from '../../support/database.ts';
import { longhand } from '../../support/processes.ts';

t.test('the entities describe the migrated schema, column by column', async (t) => {
  const { db } = await testDatabase(t);
  t.strictSame(await compareSchema(db), []);
});

t.test('migrations take their time, whatever the server allows a transaction', async (t) => {
  const { db, url } = await testDatabase(t);
  const owner = await openDb({ url, pool: 1 });
  t.teardown(() => owner.close());
  const execute = (sql: string) => owner.direct(sql);
  for (const schema of ['public', 'graphile_worker']) await execute(`drop schema ${schema} cascade`);
  await execute('create schema public');
  await execute(`alter database ${new URL(url).pathname.slice(1)} set idle_in_transaction_session_timeout to '5ms'`);
  t.not((await migrate(db)).length, 0);
  t.strictSame(await compareSchema(db), []);
});

t.test('doctor names what is not as this version wants it, and does not mind what another version added', async (t) => {
  const { url } = await testDatabase(t);
  const owner = await openDb({ url, pool: 1 });
  const execute = (sql: string) => owner.direct(sql);
  const env = { DATABASE_URL: url, LONGHAND_HOME: t.testdir() };
  const tables = async () => {
    const { stdout } = await longhand(['doctor', '--json'], env);
    return JSON.parse(stdout).checks.find((check: { name: string }) => check.name === 'tables');
  };
  await execute('alter table transcriptions add column of_tomorrow text');
  t.match(await tables(), { ok: true });
  await execute('alter table workspaces drop column concurrency');
  await execute('alter table members alter column name set not null');
  await owner.close();
  t.match(await tables(), {
    ok: false,
    found: 'members.name is text, text null is wanted; workspaces.concurrency is missing, integer is wanted',
    remedy: /backup/,
  });
});
