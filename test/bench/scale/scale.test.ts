import { randomBytes } from 'node:crypto';
import t from 'tap';
import { startApp } from '../../../api/app.ts';
import { readSettings } from '../../../api/contract/settings.ts';
import { latencyOf, listLatency } from '../../../bench/scale/api.ts';
import { claimsOf } from '../../../bench/scale/claims.ts';
import { addRows, makeWorkspaces, queueRows } from '../../../bench/scale/fill.ts';
import { openLog } from '../../../db/ops/log.ts';
import { openDb } from '../../../db/postgres/orm.ts';
import { openVault } from '../../../db/secrets/vault.ts';
import { openSpool } from '../../../db/spool/open.ts';
import { testDatabase } from '../../support/databases/database.ts';

t.test('latencyOf() returns percentiles of unsorted times', async (t) => {
  const times = Array.from({ length: 100 }, (_, i) => (37 * i) % 100);
  t.strictSame(latencyOf(times), { p50: 50, p95: 95, p99: 99 });
});

t.test('addRows() fills workspaces that can be listed, queueRows() gives claimsOf() work of all of them', async (t) => {
  const { db, url } = await testDatabase(t);
  const owner = await openDb({ url, pool: 1 });
  t.teardown(() => owner.close());
  const vault = await openVault(db, [randomBytes(32)]);
  const workspaces = await makeWorkspaces(db, vault);
  await addRows({ db, owner, vault }, workspaces, 3_000);
  await queueRows({ db, owner, vault }, workspaces, 1_000);
  const count = async (where: string) =>
    (await db.query<{ n: number }>('*', `select count(*)::int as n from transcriptions where ${where}`))[0]!.n;
  t.equal(await count('true'), 4_000);
  t.equal(await count(`workspace_id = '${workspaces.large[0]!.id}'`), 300);
  const [spread] = await db.query(
    '*',
    `select count(distinct created_at) > 2900 as times, count(distinct status) = 2 as statuses from transcriptions where status <> 'queued'`,
  );
  t.strictSame(spread, { times: true, statuses: true });
  const most = await db.query('*', 'select 1 from transcriptions group by workspace_id having count(*) > 250');
  t.ok(most.length >= 2 && most.length < 10, `${most.length} of 1,000 workspaces are large`);
  const settings = readSettings({
    LONGHAND_HOME: t.testdir(),
    PORT: '0',
    LONGHAND_RATE_LIMIT: '0',
    LONGHAND_METRICS: 'off',
    LOG_LEVEL: 'silent',
  });
  const app = await startApp({ db, vault, spool: await openSpool(settings), settings, log: openLog(settings, 'bench') });
  t.teardown(() => app.stop(1));
  t.equal(Object.keys(await listLatency(app.url, workspaces)).length, 5, 'every first page is answered');
  const { perSecond, latency } = await claimsOf(db, 1_000);
  t.ok(perSecond > 0 && latency.p50 > 0);
  t.equal(await count(`status = 'processing'`), 500);
});
