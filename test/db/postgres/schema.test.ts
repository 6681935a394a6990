import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { migrate } from '../../../db/postgres/migrate.ts';
import { MIGRATIONS } from '../../../db/postgres/migrations/index.ts';
import { type Db, openDb } from '../../../db/postgres/orm.ts';
import { MIGRATION_NAMES } from '../../../db/postgres/pending.ts';
import { compareSchema, generateSchema } from '../../../db/postgres/schema.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { longhand } from '../../support/processes/processes.ts';

t.test('every migration is in a file of its name', async (t) => {
  t.strictSame(
    MIGRATION_NAMES,
    MIGRATIONS.map(({ name }) => name),
  );
});

t.test('the entities describe the migrated schema, column by column', async (t) => {
  const { db } = await testDatabase(t);
  t.strictSame(await compareSchema(db), []);
});

/*
 * Not in the entities, because MikroORM cannot express it: row-level security (002), triggers and their functions (turns, totals of lists, terms
 * of metadata), the property of `rates` to be unlogged, and the fill factor of `leases`.
 */
t.test('the entities match the schema: MikroORM finds no difference', async (t) => {
  const { db, url } = await testDatabase(t);
  const { create, update } = await generateSchema(url);
  t.equal(update.trim(), '');
  const migrated = await shape(db);
  await db.direct('drop schema public cascade; create schema public');
  await db.direct(create);
  t.strictSame(await shape(db), migrated, 'indexes, of which MikroORM compares only the names, and constraints');
});

/** Definitions of indexes and constraints in PostgreSQL's notation. */
function shape(db: Db) {
  return db.direct(
    `select pg_get_indexdef(indexrelid) as definition from pg_index join pg_class c on c.oid = indrelid
       where c.relnamespace = 'public'::regnamespace and c.relname <> 'longhand_migrations'
     union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
       where connamespace = 'public'::regnamespace and contype in ('c', 'f') order by 1`,
  );
}

t.test('every foreign key has an index, so that the referenced row can be deleted without a scan', async (t) => {
  const { db } = await testDatabase(t);
  const bare = await db.direct(
    `select c.conrelid::regclass || '.' || a.attname as key from pg_constraint c
     join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where c.contype = 'f' and c.connamespace = 'public'::regnamespace and not exists (select from pg_index x
       where x.indrelid = c.conrelid and x.indisvalid and x.indkey[0] = c.conkey[1]
         and (x.indpred is null or pg_get_expr(x.indpred, x.indrelid) = '(' || a.attname || ' IS NOT NULL)'))`,
  );
  t.strictSame(bare, []);
});

const WAITING = `select from pg_locks where not granted and locktype = 'relation'
  and database = (select oid from pg_database where datname = current_database())`;

t.test('migrations wait only briefly for a locked table, let other queries pass, and retry', async (t) => {
  const { db, url } = await testDatabase(t);
  await db.direct(`delete from longhand_migrations where name = '020_turns_and_leases'`);
  await db.direct(
    `drop table leases, turns; drop function note_turn, free_turn, widen_turn cascade; alter table workspaces drop column deleted_at`,
  );
  const other = await openDb({ url, pool: 1 });
  let migrating: Promise<string[]> | undefined;
  await db.acrossTenants(async (dump) => {
    await dump.rows('lock table workspaces in access share mode'); // as pg_dump does
    migrating = migrate(db);
    for (let behind = 0; behind < 2; await sleep(20)) {
      if (!(await other.query('*', WAITING)).length) continue;
      const passed = await Promise.race([other.query('*', 'select count(*) from workspaces'), sleep(60_000)]);
      if (!t.ok(passed, 'a query behind the migration passes while the table is still locked')) break;
      behind++;
    }
  });
  t.strictSame(await migrating, ['020_turns_and_leases']);
  await other.close();
});

t.test('migrations are not ended by a transaction timeout of the server', async (t) => {
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

t.test('doctor reports differences from the schema of this version, and ignores additions of other versions', async (t) => {
  const { url } = await testDatabase(t);
  const owner = await openDb({ url, pool: 1 });
  const execute = (sql: string) => owner.direct(sql);
  const env = { DATABASE_URL: url, LONGHAND_HOME: t.testdir(), LONGHAND_MODEL: 'none' }; // no models are opened
  const tables = async () => {
    const { stdout } = await longhand(['doctor', '--json'], env);
    return JSON.parse(stdout).checks.find((check: { name: string }) => check.name === 'tables');
  };
  await execute('alter table transcriptions add column of_tomorrow text');
  t.match(await tables(), { ok: true });
  await execute('alter table workspaces drop column concurrency cascade');
  await execute('alter table members alter column name set not null');
  await owner.close();
  t.match(await tables(), {
    ok: false,
    found: 'members.name is text, expected text null; workspaces.concurrency is missing, expected integer',
    remedy: /backup/,
  });
});
