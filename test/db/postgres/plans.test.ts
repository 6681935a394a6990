import { randomUUID } from 'node:crypto';
import t from 'tap';
import { findDoors } from '../../../db/access/sign-in.ts';
import { claimNext, claimProbe } from '../../../db/jobs/claim.ts';
import { correctTimes, hasTimesAhead } from '../../../db/jobs/clock.ts';
import { beat } from '../../../db/jobs/heartbeat.ts';
import { expiredMedia } from '../../../db/jobs/kept.ts';
import { abandoned, deletedMedia, noteOrphans } from '../../../db/jobs/orphans.ts';
import { expireTranscripts, forgetExpired, leftoverMedia, reclaimReports, reclaimTranscriptions } from '../../../db/jobs/sweep.ts';
import type { Db, Tx } from '../../../db/postgres/orm.ts';
import { claimPreview } from '../../../db/reports/previews.ts';
import { claimReport } from '../../../db/reports/work.ts';
import { deletedWorkspaces, purgeNext } from '../../../db/tenants/purge.ts';
import { claimDelivery, requeueDeliveries } from '../../../db/webhooks/outbox.ts';
import { filledDatabase } from '../../support/databases/explain.ts';

/*
 * Plans of the periodic and hot statements of engines and couriers, on filled and analysed tables: none may scan a large one. Those of all
 * statements that the product sends in the tests are checked at the end of `npm test` (test/run.ts).
 */

const { db, workspaces, scansOf } = await filledDatabase(t);
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

t.test('scansOf() detects a scan', async (t) => {
  t.equal((await scansOf(`select 1 from transcriptions where media_type = 'video'`)).length, 1);
});

t.test('no periodic or hot statement of engines and couriers scans a large table', async (t) => {
  const { watched, statements } = recorded();
  const engineId = randomUUID();
  await beat(watched, engineId, VITALS);
  await hasTimesAhead(watched);
  await correctTimes(watched);
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
  await forgetExpired(watched, null);
  await requeueDeliveries(watched);
  await deletedWorkspaces(watched);
  await purgeNext(watched, workspaces[19]!);
  await watched.acrossTenants((tx) => claimDelivery(tx, randomUUID()));
  t.ok(statements.size > 25, `${statements.size} statements`);
  const scans: string[] = [];
  for (const sql of statements) scans.push(...(await scansOf(sql)));
  t.strictSame(scans, []);
});

t.test('sign-in scans no large table', async (t) => {
  const { watched, statements } = recorded();
  await watched.acrossTenants((tx) => findDoors(tx, { issuer: 'https://id.example', subject: '1', email: 'A@example.org' }));
  for (const sql of statements) t.strictSame(await scansOf(sql), []);
});
