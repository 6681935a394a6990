import { randomUUID } from 'node:crypto';
import t from 'tap';
import { claimNext, claimProbe } from '../../../db/jobs/claim.ts';
import { hasTimesAhead } from '../../../db/jobs/clock.ts';
import { beat } from '../../../db/jobs/heartbeat.ts';
import { expiredMedia } from '../../../db/jobs/kept.ts';
import { abandoned, deletedMedia, noteOrphans } from '../../../db/jobs/orphans.ts';
import { expireTranscripts, forgetExpired, leftoverMedia, reclaimReports, reclaimTranscriptions } from '../../../db/jobs/sweep.ts';
import type { Db, Tx } from '../../../db/postgres/orm.ts';
import { numbered } from '../../../db/postgres/transaction.ts';
import { claimPreview } from '../../../db/reports/previews.ts';
import { claimReport } from '../../../db/reports/work.ts';
import { deletedWorkspaces, purgeNext } from '../../../db/tenants/purge.ts';
import { claimDelivery, requeueDeliveries } from '../../../db/webhooks/outbox.ts';
import { testDatabase } from '../../support/database.ts';
import { openBench } from '../../support/work.ts';

/* Plans of the periodic and hot statements of engines and couriers, on filled and analysed tables: none may scan a large one. */

const { db } = await testDatabase(t);
const bench = await openBench(db);
const LARGE = ['transcriptions', 'reports', 'deliveries', 'notifications'];
const ROWS = 20_000;
const VITALS = {
  ...{ polled: true, trouble: null, memoryBytes: 1, working: 0, finished: 0 },
  ...{ failedDiarizations: 0, uncoveredSeconds: 0, recognised: {}, writing: null },
};

/** A proxy of `db` that records every statement. */
function recorded(): { watched: Db; statements: Set<string> } {
  const statements = new Set<string>();
  const watch = (tx: Tx): Tx =>
    new Proxy(tx, {
      get(target, name: keyof Tx) {
        if (name === 'em') return target.em;
        return (sql: string, parameters: unknown[]) => {
          statements.add(sql);
          return (target[name] as (sql: string, parameters: unknown[]) => unknown)(sql, parameters);
        };
      },
    });
  const watched = {
    ...db,
    acrossTenants: (work) => db.acrossTenants((tx) => work(watch(tx))),
    workspace: (id, work) => db.workspace(id, (tx) => work(watch(tx))),
    query: (scope, sql, parameters) => {
      statements.add(sql);
      return db.query(scope, sql, parameters);
    },
  } as Db;
  return { watched, statements };
}

const workspaces = await Promise.all(Array.from({ length: 20 }, () => bench.workspace()));
await bench.transcription(workspaces[0]!);
const send = (sql: string, parameters: unknown[] = []) => db.query('*', sql, parameters);
await send(
  `insert into transcriptions (id, workspace_id, author_id, author_email, status, filename_sealed, extension, duration_seconds, media_type, created_at, completed_at)
   select gen_random_uuid(), (?::uuid[])[1 + i % 20], gen_random_uuid(), 'a@example.org', 'completed', '\\x00', 'mp3', 60, 'audio',
     now() - i * interval '1 minute', now() - i * interval '1 minute' from generate_series(1, ${ROWS}) i`,
  [workspaces],
);
await send(
  `insert into reports (workspace_id, transcription_id, slug, name, status) select workspace_id, id, 'tasks', 'Tasks', 'completed' from transcriptions`,
);
await send(`insert into notifications (workspace_id, member_id, transcription_id) select workspace_id, author_id, id from transcriptions`);
await send(`insert into webhooks (workspace_id, url, secret_sealed) select unnest(?::uuid[]), 'https://example.org/', '\\x00'`, [
  workspaces,
]);
await send(
  `insert into deliveries (workspace_id, webhook_id, event, body, status) select t.workspace_id, w.id, 'x', '{}', 'delivered'
   from transcriptions t join webhooks w on w.workspace_id = t.workspace_id`,
);
await db.direct('analyze');

/** Large tables that the plan of a statement scans. */
async function scansOf(sql: string): Promise<string[]> {
  if (!/^\s*(select|update|delete|insert|with)/i.test(sql)) return [];
  const rows = await db.direct(`explain (generic_plan, costs off) ${numbered(sql)}`);
  const plan = rows.map((row) => String(row['QUERY PLAN'])).join('\n');
  return [...plan.matchAll(/Seq Scan on (\w+)/g)].flatMap(([, table]) =>
    LARGE.includes(table!) ? [`${table}: ${sql.slice(0, 120)}`] : [],
  );
}

t.test('scansOf() detects a scan', async (t) => {
  t.equal((await scansOf(`select 1 from transcriptions where media_type = 'video'`)).length, 1);
});

t.test('no periodic or hot statement of engines and couriers scans a large table', async (t) => {
  const { watched, statements } = recorded();
  const engineId = randomUUID();
  await beat(watched, engineId, VITALS);
  await hasTimesAhead(watched);
  await claimProbe(watched, engineId);
  await claimNext(watched, { engineId, shortOnly: true });
  await claimNext(watched, { engineId, shortOnly: false });
  await claimReport(watched, engineId);
  await claimPreview(watched, engineId);
  await reclaimTranscriptions(watched);
  await reclaimReports(watched);
  await leftoverMedia(watched);
  await expiredMedia(watched, 7);
  await deletedMedia(watched);
  await noteOrphans(watched, [{ id: randomUUID(), extension: 'mp3' }]);
  await abandoned(watched, 0);
  await expireTranscripts(watched, null);
  await forgetExpired(watched);
  await requeueDeliveries(watched);
  await deletedWorkspaces(watched);
  await purgeNext(watched, workspaces[19]!);
  await watched.acrossTenants((tx) => claimDelivery(tx, randomUUID()));
  t.ok(statements.size > 25, `${statements.size} statements`);
  const scans: string[] = [];
  for (const sql of statements) scans.push(...(await scansOf(sql)));
  t.strictSame(scans, []);
});
