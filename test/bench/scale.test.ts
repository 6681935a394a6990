import { randomBytes } from 'node:crypto';
import t from 'tap';
import { latencyOf } from '../../bench/scale/api.ts';
import { claimsOf } from '../../bench/scale/claims.ts';
import { addRows, makeWorkspaces, queueRows } from '../../bench/scale/fill.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { openVault } from '../../db/secrets/vault.ts';
import { testDatabase } from '../support/database.ts';

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
  const unsealed = `workspace_id = any ('{${workspaces.callers.map(({ id }) => id)}}') and status <> 'queued' and filename_sealed = '\\x00'`;
  t.equal(await count(unsealed), 0);
  const { perSecond, latency } = await claimsOf(db, 1_000);
  t.ok(perSecond > 0 && latency.p50 > 0);
  t.equal(await count(`status = 'processing'`), 500);
});
