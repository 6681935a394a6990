import { randomUUID } from 'node:crypto';
import t from 'tap';
import { databaseAway } from '../../../db/postgres/away.ts';
import { Project } from '../../../db/postgres/entities/member.ts';
import { entityMapping, openDb, type Tx } from '../../../db/postgres/orm.ts';
import { requirePolicies } from '../../../db/postgres/policies.ts';
import { Unwanted, whileWanted } from '../../../db/postgres/wanted.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { superuserPassword } from '../../support/databases/postgres.ts';

const { db, url } = await testDatabase(t);

async function workspace(name: string): Promise<string> {
  const row = await db.acrossTenants((tx) => tx.row<{ id: string }>('insert into workspaces (name) values (?) returning id', [name]));
  return row!.id;
}

t.test('transactions commit their changes, and roll back when they throw', async (t) => {
  const id = randomUUID();
  const insert = `insert into facts (name, value) values (?, '\\x00')`;
  await t.rejects(
    db.acrossTenants(async (tx) => {
      await tx.rows(insert, [id]);
      throw new Error('no');
    }),
    { message: 'no' },
  );
  t.equal((await db.query('*', 'select 1 from facts where name = ?', [id])).length, 0);
  await db.acrossTenants((tx) => tx.rows(insert, [id]));
  t.equal((await db.query('*', 'select 1 from facts where name = ?', [id])).length, 1);
});

t.test('transactions that swallow the error of a failed statement are not reported as committed', async (t) => {
  await t.rejects(
    db.acrossTenants(async (tx) => {
      await tx.rows('select 1 / 0').catch(() => {});
    }),
    /Cannot commit/,
  );
});

t.test('statements of one transaction run in the order of the calls', async (t) => {
  const rows = await db.acrossTenants((tx) => Promise.all([1, 2, 3].map((n) => tx.row<{ n: number }>('select ?::int as n', [n]))));
  t.strictSame(rows, [{ n: 1 }, { n: 2 }, { n: 3 }]);
});

t.test('parameters reach PostgreSQL unchanged', async (t) => {
  const values = ['it\'s "x", \\y ? $1', 12.5, true, null, Buffer.from([0, 255, 39]), ['a,"b\\', null], { a: [1, 'ü'] }, new Date(0)];
  const row = await db.acrossTenants((tx) =>
    tx.row(
      `select ?::text as a, ?::float8 as b, ?::boolean as c, ?::text as d, ?::bytea as e, ?::text[] as f, ?::jsonb as g,
         ?::timestamptz as h, '{"k":1}'::jsonb \\? 'k' as i`,
      values,
    ),
  );
  t.strictSame(row, {
    a: values[0],
    b: 12.5,
    c: true,
    d: null,
    e: values[4],
    f: values[5],
    g: values[6],
    h: '1970-01-01 00:00:00+00',
    i: true,
  });
});

t.test('read() can be repeated on prepared statements, also after an error', async (t) => {
  for (let i = 0; i < 10; i++) t.strictSame(await db.query('*', 'select ?::int + 1 as n', [i]), [{ n: i + 1 }]);
  await t.rejects(db.query('*', 'select 1 / ?::int as n', [0]), { code: '22012' });
  await t.rejects(db.query('*', 'select nonsense'), { code: '42703' });
  t.strictSame(await db.query('*', 'select 1 / ?::int as n', [1]), [{ n: 1 }]);
});

t.test('read() that fails repeatedly leaves no prepared statement on its connection', async (t) => {
  const kept = 'select count(*)::int as n from pg_prepared_statements';
  const count = () => db.acrossTenants(async (tx) => (await tx.row<{ n: number }>(kept))!.n);
  await count();
  const before = await count();
  for (let i = 0; i < 30; i++)
    await t.rejects(
      db.acrossTenants((tx) => tx.rows('select 2 / ?::int as never', [0])),
      { code: '22012' },
    );
  t.equal(await count(), before);
});

t.test('row-level security hides other workspaces from queries without a predicate', async (t) => {
  const [mine, other] = [await workspace('mine'), await workspace('other')];
  const insert = 'insert into projects (workspace_id, name) values (?, ?)';
  await db.workspace(mine, (tx) => tx.rows(insert, [mine, 'p']));
  await db.workspace(other, (tx) => tx.rows(insert, [other, 'q']));
  t.strictSame(await db.workspace(mine, (tx) => tx.rows('select name from projects')), [{ name: 'p' }]);
  t.strictSame(await db.query(other, 'select name from projects'), [{ name: 'q' }]);
  t.equal((await db.query('*', 'select name from projects')).length, 2);
  await t.rejects(
    db.workspace(mine, (tx) => tx.rows(insert, [other, 'smuggled'])),
    { code: '42501' },
  );
  t.equal((await db.workspace(mine, (tx) => tx.rows('delete from projects where workspace_id = ? returning 1', [other]))).length, 0);
});

t.test('Tx.em reads and writes entities within the transaction: commit, workspace and rollback', async (t) => {
  const [mine, other] = [await workspace('em mine'), await workspace('em other')];
  await db.workspace(mine, async (tx) => {
    tx.em.create(Project, { workspaceId: mine, name: 'by entity' });
    await tx.em.flush();
    t.strictSame(await tx.rows('select name from projects where workspace_id = ?', [mine]), [{ name: 'by entity' }], 'visible to SQL');
    await tx.em.createQueryBuilder(Project).update({ name: 'renamed' }).where({ workspaceId: mine, name: 'by entity' });
  });
  await db.workspace(other, (tx) => tx.rows('insert into projects (workspace_id, name) values (?, ?)', [other, 'theirs']));
  const seen = await db.workspace(mine, (tx) => tx.em.find(Project, {}));
  t.strictSame(
    seen.map(({ name }) => name),
    ['renamed'],
    'even without a predicate',
  );
  await t.rejects(
    db.workspace(mine, async (tx) => {
      tx.em.create(Project, { workspaceId: mine, name: 'undone' });
      await tx.em.flush();
      throw new Error('no');
    }),
    { message: 'no' },
  );
  t.equal(await db.workspace(mine, (tx) => tx.em.count(Project, { name: 'undone' })), 0);
  await t.rejects(
    db.workspace(mine, async (tx) => {
      tx.em.create(Project, { workspaceId: other, name: 'smuggled' });
    }),
    { code: '42501' },
    'pending changes are flushed before the commit',
  );
  await t.rejects(entityMapping().em.fork().find(Project, {}), /outside a transaction/);
});

t.test('requirePolicies() rejects a role that bypasses row-level security, and a table where it is disabled', async (t) => {
  const own = await testDatabase(t);
  await requirePolicies(own.db);
  await own.db.direct('alter table projects no force row level security');
  await t.rejects(requirePolicies(own.db), /not forced on projects/);
  await own.db.direct('alter table projects force row level security');
  const free = await freeRole(t, own.url);
  if (!free) return t.comment('the user of the test server cannot create a role that bypasses policies');
  const unsafe = await openDb({ url: free, pool: 1 });
  await t.rejects(
    requirePolicies(unsafe).finally(() => unsafe.close()),
    /bypasses row-level security/,
  );
});

t.test('whileWanted() cancels the query when its client disconnects, and starts no other', async (t) => {
  const leaving = new AbortController();
  const slow = whileWanted(leaving.signal, () => db.acrossTenants((tx) => tx.rows('select pg_sleep(60)')));
  setTimeout(() => leaving.abort(new Unwanted()), 200);
  await t.rejects(slow, { name: 'Unwanted' });
  const running = `select 1 from pg_stat_activity where datname = current_database() and query like '%pg_sleep(60)%' and pid <> pg_backend_pid() and state = 'active'`;
  t.strictSame(await db.direct(running), []);
  await t.rejects(
    whileWanted(leaving.signal, () => db.acrossTenants((tx) => tx.rows('select 1'))),
    { name: 'Unwanted' },
  );
  t.same(await db.query('*', 'select 1 as n'), [{ n: 1 }], 'the connections can still be used');
});

t.test('openDb() limits the wait for a connection, a statement or a lock to its timeout', async (t) => {
  const hasty = await openDb({ url, pool: 1, patience: 'request' });
  t.teardown(() => hasty.close());
  const id = await workspace('locked');
  await db.acrossTenants(async (tx) => {
    await tx.rows('select 1 from workspaces where id = ? for update', [id]);
    await t.rejects(
      hasty.acrossTenants((other) => other.rows(`update workspaces set name = 'x' where id = ?`, [id])),
      { code: '55P03' },
      'a lock',
    );
  });
  const slow = hasty.acrossTenants((tx) => tx.rows('select pg_sleep(30)'));
  await t.rejects(hasty.query('*', 'select 1'), { code: '08006' }, 'a connection');
  await t.rejects(slow, { code: /57014|08006/ }, 'a statement');
  t.same(await hasty.query('*', 'select 1 as n'), [{ n: 1 }]);
});

t.test('a connection to a former primary, which is read-only since a failover, is replaced after the first refused write', async (t) => {
  const own = await testDatabase(t);
  const name = new URL(own.url).pathname.slice(1);
  await own.db.query('*', 'select 1'); // on a connection that stays writable
  await own.db.direct(`alter database ${name} set default_transaction_read_only = on`);
  const client = await openDb({ url: own.url, pool: 1 });
  t.teardown(() => client.close());
  const write = () => client.query('*', `insert into facts (name, value) values ('x', '\\x00')`);
  const refused = await write().catch((error: unknown) => error);
  t.match(refused, { code: '25006' });
  t.ok(databaseAway(refused), 'the caller may retry');
  await own.db.direct(`alter database ${name} reset default_transaction_read_only`);
  await t.resolves(write());
});

t.test('a transaction that PostgreSQL ended while the program was suspended may be repeated', async (t) => {
  const suspended = db.acrossTenants(async (tx) => {
    await tx.rows(`set local idle_in_transaction_session_timeout = '100ms'`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    await tx.rows('select 1'); // sent before the end of the connection has been read
  });
  const ended = await suspended.catch((error: unknown) => error);
  t.match(ended, { code: '25P03' });
  t.ok(databaseAway(ended), 'the caller may retry');
  t.same(await db.query('*', 'select 1 as n'), [{ n: 1 }]);
});

t.test('row-level security is forced on every table with a workspace column', async (t) => {
  const open = await db.query(
    '*',
    `select c.table_name from information_schema.columns c join pg_class r on r.oid = c.table_name::regclass
     where c.table_schema = current_schema() and c.column_name = 'workspace_id' and not (r.relrowsecurity and r.relforcerowsecurity)`,
  );
  t.strictSame(open, []);
  const [role] = await db.query('*', 'select rolsuper, rolbypassrls from pg_roles where rolname = current_user');
  t.strictSame(role, { rolsuper: false, rolbypassrls: false });
});

t.test('reserved() works while every other connection is taken', async (t) => {
  let taken = 0;
  const answers = await Promise.all(
    Array.from({ length: 12 }, () =>
      db.acrossTenants(async (tx) => {
        await tx.rows('select 1');
        taken++;
        return db.reserved((other) => other.row('select 2 as n'));
      }),
    ),
  );
  t.equal(taken, 12);
  t.same(answers[11], { n: 2 });
});

t.test('openDb() opens the connections it was given and two reserved ones, and no more', async (t) => {
  const own = await openDb({ url, pool: 3, name: 'counted' });
  t.teardown(() => own.close());
  const select = (tx: Tx) => tx.row('select 1');
  await Promise.all(Array.from({ length: 12 }, () => [own.acrossTenants(select), own.reserved(select)]).flat());
  t.equal((await own.direct(`select from pg_stat_activity where application_name = 'counted'`)).length, 5);
});

t.test('openDb() applies every parameter of the URL and never connects without the requested TLS', async (t) => {
  const address = new URL(url);
  address.searchParams.set('options', '-c statement_timeout=12345');
  const bounded = await openDb({ url: address.href, pool: 1, name: 'bounded' });
  t.teardown(() => bounded.close());
  const query = `select current_setting('statement_timeout') as limit, current_setting('application_name') as name`;
  for (const run of [bounded.acrossTenants, bounded.reserved])
    t.strictSame(await run((tx) => tx.row(query)), { limit: '12345ms', name: 'bounded' });
  address.searchParams.set('sslmode', 'no-verify');
  const used = await openDb({ url: address.href, pool: 1 }).then(
    (secure) => secure.acrossTenants(encryption).finally(() => secure.close()),
    (error: Error) => error.message,
  );
  t.match(used, typeof used === 'string' ? 'The server does not support SSL connections' : { ssl: true });
});

/** Whether this connection is encrypted; PostgreSQL shows this to the connected user. */
async function encryption(tx: Tx) {
  await tx.rows('set local role none');
  return tx.row('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
}

/** URL of the database for a user that bypasses policies. Null on an external server. */
async function freeRole(t: { teardown(after: () => unknown): void }, own: string): Promise<string | null> {
  const password = superuserPassword();
  if (!password) return null;
  const url = new URL(own);
  Object.assign(url, { username: 'postgres', password });
  const superuser = await openDb({ url: url.href, pool: 1 });
  const name = `free_${process.pid}`;
  await superuser.direct(`create role ${name} login bypassrls password 'free'; grant select on all tables in schema public to ${name}`);
  t.teardown(async () => {
    await superuser.direct(`drop owned by ${name}; drop role ${name}`);
    await superuser.close();
  });
  Object.assign(url, { username: name, password: 'free' });
  return url.href;
}
