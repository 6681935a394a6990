import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { openDb } from '../../../db/postgres/orm.ts';
import { openPool } from '../../../db/postgres/pool.ts';
import { transact } from '../../../db/postgres/transaction.ts';
import { Unwanted, whileWanted } from '../../../db/postgres/wanted.ts';
import { testDatabase } from '../../support/databases/database.ts';

const CANCEL_BYTES = 16; // of a request to cancel; one to begin a session is longer
const unused = () => {
  throw new Error('not needed');
};
const LATE_MS = 400; // for requests to cancel, behind lateLink()

t.test('openDb() treats a server that accepts connections but never responds as unavailable', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  t.teardown(() => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const url = `postgres://a:b@127.0.0.1:${port}/x`;
  await t.rejects(openDb({ url, pool: 1, patience: 'request' }), { code: '08006', message: /no connection within/ });
});

t.test('borrow() replaces a connection on which the server did not respond in time', async (t) => {
  const { url } = await testDatabase(t);
  const pool = openPool(url, 'longhand-test', 1, { acquireMs: 60_000, callMs: 2000, statementMs: 0, lockMs: 0 });
  t.teardown(() => pool.close());
  await t.rejects(
    pool.borrow((connection) => connection.query('select pg_sleep(600)')),
    { code: '08006', message: /no answer within 2000 ms/ },
  );
  t.match(await pool.borrow((connection) => connection.query('select 1 as n')), { rows: [{ n: 1 }] });
});

t.test('borrow() replaces a connection whose transaction could not be rolled back', async (t) => {
  const { url } = await testDatabase(t);
  const patience = { acquireMs: 60_000, callMs: 0, statementMs: 0, lockMs: 0 };
  const pool = openPool(url, 'longhand-test', 1, patience);
  t.teardown(() => pool.close());
  const acting = { scope: '*', role: 'none', patience, ownLimit: false };
  const run = (statement: string, ending?: 'rollback') =>
    pool.borrow((connection) => {
      const query = connection.query.bind(connection) as (text: unknown) => Promise<never>;
      if (ending)
        connection.query = (async (text) => (text === ending ? Promise.reject(new Error('it is lost')) : query(text))) as typeof query;
      return transact(connection, acting, unused, (tx) => tx.row(statement));
    });
  await t.resolves(run('select 1'));
  await t.rejects(run('select 1 / 0', 'rollback'), { code: '22012' });
  await t.resolves(run('select 1'), 'not in the transaction that failed');
});

/** URL of the database behind a network on which requests to cancel take long, or get lost. */
async function lateLink(t: Test, database: string, isLost = false): Promise<string> {
  const { hostname, port } = new URL(database);
  const server = createServer(async (near) => {
    const [first] = (await once(near, 'data')) as [Buffer];
    near.pause();
    if (first.length === CANCEL_BYTES && isLost) return;
    if (first.length === CANCEL_BYTES) await sleep(LATE_MS);
    const far = connect(Number(port), hostname);
    far.write(first);
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return Object.assign(new URL(database), { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }).href;
}

t.test('borrow() lends a connection again only after PostgreSQL has been told to cancel its last query', async (t) => {
  const { url } = await testDatabase(t);
  const db = await openDb({ url: await lateLink(t, url), pool: 1 });
  t.teardown(() => db.close());
  const leaving = new AbortController();
  const left = whileWanted(leaving.signal, () => db.acrossTenants((tx) => tx.rows('select pg_sleep(0.2)')));
  const next = db.acrossTenants((tx) => tx.rows('select pg_sleep(0.6)'));
  setTimeout(() => leaving.abort(new Unwanted()), LATE_MS / 4);
  await Promise.all([left.catch(() => {}), t.resolves(next, 'the query of another client')]);
});

t.test('borrow() lends a connection again although a request to cancel its last query was lost', async (t) => {
  const { url } = await testDatabase(t);
  const db = await openDb({ url: await lateLink(t, url, true), pool: 1 });
  t.teardown(() => db.close());
  const leaving = new AbortController();
  const left = whileWanted(leaving.signal, () => db.acrossTenants((tx) => tx.rows('select pg_sleep(0.2)')));
  const next = db.acrossTenants((tx) => tx.rows('select 1'));
  setTimeout(() => leaving.abort(new Unwanted()), LATE_MS / 4);
  await Promise.all([left.catch(() => {}), t.resolves(next, 'the query of another client')]);
});

t.test('borrow() cancels nothing for a client that leaves after its query', async (t) => {
  const { url } = await testDatabase(t);
  const db = await openDb({ url, pool: 1 });
  t.teardown(() => db.close());
  const leaving = new AbortController();
  await whileWanted(leaving.signal, () => db.acrossTenants((tx) => tx.rows('select 1')));
  const next = db.acrossTenants((tx) => tx.rows('select pg_sleep(0.6)'));
  setTimeout(() => leaving.abort(new Unwanted()), LATE_MS / 2);
  await t.resolves(next, 'the query of another client');
});

t.test('borrow() begins nothing for a client that left while it waited for a connection', async (t) => {
  const { url } = await testDatabase(t);
  const db = await openDb({ url, pool: 1 });
  t.teardown(() => db.close());
  const leaving = new AbortController();
  const busy = db.acrossTenants((tx) => tx.rows('select pg_sleep(0.2)'));
  let begun = false;
  const waits = whileWanted(leaving.signal, () =>
    db.acrossTenants(async () => {
      begun = true;
    }),
  );
  setTimeout(() => leaving.abort(new Unwanted()), 50);
  await t.rejects(waits, { name: 'Unwanted' });
  t.equal(begun, false);
  await busy;
});

t.test('openDb() looks up its role for all requests, although the client of the first one has left', async (t) => {
  const { url } = await testDatabase(t);
  const db = await openDb({ url });
  t.teardown(() => db.close());
  db.renew();
  const leaving = new AbortController();
  const first = whileWanted(leaving.signal, () => db.query('*', 'select 1 as n'));
  const second = db.query('*', 'select 1 as n');
  leaving.abort(new Unwanted());
  await t.rejects(first, { name: 'Unwanted' });
  t.same(await second, [{ n: 1 }]);
});
