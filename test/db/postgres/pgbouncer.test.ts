import { randomUUID } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { claimNext } from '../../../db/jobs/claim.ts';
import { complete } from '../../../db/jobs/complete.ts';
import { databaseAway } from '../../../db/postgres/away.ts';
import { startEmbedded } from '../../../db/postgres/embedded.ts';
import { migrate } from '../../../db/postgres/migrate.ts';
import { type Db, openDb } from '../../../db/postgres/orm.ts';
import { openPool } from '../../../db/postgres/pool.ts';
import { send } from '../../support/api/uploads.ts';
import { startBouncer } from '../../support/databases/bouncer.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { conversation } from '../../support/engine/engine.ts';
import { TINY } from '../../support/engine/models.ts';
import { finished, openBench } from '../../support/engine/work.ts';
import { needPrograms } from '../../support/processes/programs.ts';
import { openService } from '../../support/processes/service.ts';

/* A real PgBouncer in transaction mode: each transaction of a client may run on a different server connection. */

const { pgbouncer } = needPrograms(t, 'pgbouncer');
const SERVERS = 12; // connections to PostgreSQL
const CLIENTS = 12; // connections of a host to PgBouncer
const direct = await testDatabase(t);
const { url } = await startBouncer(t, pgbouncer, direct.url, SERVERS);
const bench = await openBench(direct.db);
const database = new URL(url).pathname.slice(1);

async function hosts(count: number, pool: number, through = url): Promise<Db[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => openDb({ url: through, pool, name: 'longhand-client' })));
  t.teardown(() => Promise.all(opened.map((db) => db.close())));
  return opened;
}

/** Number of server connections that PgBouncer uses. */
async function serverConnections(): Promise<number> {
  const [row] = await direct.db.query<{ n: number }>(
    '*',
    `select count(*)::int as n from pg_stat_activity where datname = '${database}' and pid <> pg_backend_pid() and application_name = 'longhand-client'`,
  );
  return row!.n;
}

t.test(
  'PgBouncer: 120 connections share a few server connections, and no transaction sees the workspace, role or limits of another',
  async (t) => {
    const workspaces = await Promise.all(Array.from({ length: 10 }, () => bench.workspace()));
    for (const workspace of workspaces) await bench.transcription(workspace);
    const fleet = (await hosts(10, CLIENTS)).flatMap((db) => Array.from({ length: CLIENTS }, () => db));
    const seen = `select current_setting('longhand.workspace') as scope, current_user as role, current_setting('lock_timeout') as lock,
    (select array_agg(distinct workspace_id::text) from transcriptions) as visible`;
    let most = 0;
    const wrong: unknown[] = [];
    for (let round = 0; round < 4; round++) {
      await Promise.all(
        fleet.map(async (db, i) => {
          const workspace = workspaces[(i + round) % workspaces.length]!;
          if (i % 5 === 0) await db.workspace(workspace, (tx) => tx.rows('select 1 / 0')).catch(() => {}); // a failed transaction must leave no settings behind
          const rows = i % 2 ? await db.query(workspace, seen) : await db.workspace(workspace, (tx) => tx.rows(seen));
          const [row] = rows as { scope: string; role: string; lock: string; visible: string[] }[];
          if (row!.scope !== workspace || row!.role !== 'longhand_app' || row!.lock !== '20s' || row!.visible.join() !== workspace)
            wrong.push(row);
        }),
      );
      most = Math.max(most, await serverConnections());
    }
    t.strictSame(wrong, []);
    t.ok(most > 0 && most <= SERVERS, `${most} connections`);
  },
);

t.test('startBouncer() waits for a PgBouncer that is slow to listen', async (t) => {
  const slow = join(t.testdir({ slow: `#!/bin/sh\nsleep 2\nexec ${pgbouncer} "$@"\n` }), 'slow');
  chmodSync(slow, 0o755);
  const [client] = await hosts(1, 1, (await startBouncer(t, slow, direct.url, 1)).url);
  t.equal((await client!.query('*', 'select 1')).length, 1);
});

t.test('a call waits for its turn in PgBouncer until its own limit, also on a new connection', async (t) => {
  const { url: narrow } = await startBouncer(t, pgbouncer, direct.url, 1);
  const [busy] = await hosts(1, 1, narrow);
  const pool = openPool(narrow, 'longhand-client', 1, { acquireMs: 500, callMs: 60_000, statementMs: 0, lockMs: 0 });
  t.teardown(() => pool.close());
  let waiting: Promise<unknown> | undefined;
  await busy!.acrossTenants(async (tx) => {
    await tx.rows('select 1'); // has the only connection to the server
    waiting = pool.borrow((connection) => connection.query('select 1'));
    waiting.catch(() => {}); // rejects before it is awaited if it does not wait
    await sleep(1500);
  });
  await t.resolves(waiting!);
});

t.test('migrate() refuses to run through PgBouncer, where it would see no rows', async (t) => {
  const [through] = await hosts(1, 1);
  await t.rejects(migrate(through!), /Cannot migrate through PgBouncer/);
});

t.test('an error of PgBouncer itself, here that its server is gone, is one of an unavailable database', async (t) => {
  const server = await startEmbedded(join(t.testdir(), 'postgres'), { durable: false });
  const { url: through } = await startBouncer(t, pgbouncer, server.url, 1);
  const [client] = await hosts(1, 1, through);
  const running = client!.query('*', 'select pg_sleep(60)').catch((error: unknown) => error);
  await sleep(500);
  server.process.kill('SIGKILL');
  const lost = await running;
  t.ok(databaseAway(lost), String(lost));
});

t.test('claimNext() through PgBouncer gives each transcription to one of 20 engines, and charges each once', async (t) => {
  const workspace = await bench.workspace({ concurrency: 100, minutes: 1000 });
  const ids = await Promise.all(Array.from({ length: 60 }, () => bench.transcription(workspace)));
  const engines = (await hosts(4, 5)).flatMap((db) => Array.from({ length: 5 }, () => db));
  const claimed: string[] = [];
  await Promise.all(
    engines.map(async (db) => {
      const engineId = randomUUID();
      for (let misses = 0; misses < 20; ) {
        const claim = await claimNext(db, { engineId, shortOnly: false });
        if (!claim || !('lease' in claim) || claim.lease.workspaceId !== workspace) {
          misses++;
          continue;
        }
        claimed.push(claim.lease.id);
        await complete(db, claim.lease, finished(60));
      }
    }),
  );
  t.strictSame([...claimed].sort(), [...ids].sort());
  t.equal(await bench.balance(workspace), 940);
});

t.test('PgBouncer: an upload through it is transcribed and charged once, by an engine with an entry of its own', async (t) => {
  const other = await testDatabase(t);
  const through = await startBouncer(t, pgbouncer, other.url, SERVERS, 4);
  const service = await openService(t, { database: { db: other.db, url: through.url }, model: TINY });
  const [api] = await Promise.all([service.api(), service.engine({ DATABASE_URL: through.enginesUrl })]);
  const wav = await conversation(1);
  const answer = await send(
    api.url,
    service.key,
    { 'Content-Disposition': 'attachment; filename="call.wav"', 'Idempotency-Key': 'one' },
    '',
    wav,
  );
  t.equal(answer.status, 201);
  await service.until<{ status: string }>(String(answer.json.uuid), ({ status }) => status === 'completed', 300);
  t.match(await service.record(api, String(answer.json.uuid)), { status: 'completed' });
  const charges = await other.db.query('*', `select 1 from ledger where workspace_id = '${service.workspaceId}' and minutes < 0`);
  t.equal(charges.length, 1);
});
