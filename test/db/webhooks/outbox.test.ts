import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type ClaimedTranscription, claimNext } from '../../../db/jobs/claim.ts';
import { complete, fail } from '../../../db/jobs/complete.ts';
import { claimDeliveries, settleDelivery } from '../../../db/webhooks/outbox.ts';
import type { Courier } from '../../../engine/courier/courier.ts';
import { nextDelivery } from '../../../engine/courier/deliver.ts';
import { testDatabase } from '../../support/database.ts';
import { finished, openBench } from '../../support/work.ts';

const { db } = await testDatabase(t);
const bench = await openBench(db);
const next = async () => (await claimNext(db, { engineId: randomUUID(), shortOnly: false })) as ClaimedTranscription;

async function webhook(workspace: string, active = true): Promise<string> {
  const row = await db.acrossTenants((tx) =>
    tx.row<{ id: string }>(
      `insert into webhooks (workspace_id, url, secret_sealed, active) values (?, 'https://example.org/', '\\x00', ?) returning id`,
      [workspace, active],
    ),
  );
  return row!.id;
}

t.test('announce() writes one delivery per webhook, paused ones too, with each terminal status, ids and status only', async (t) => {
  const workspace = await bench.workspace();
  const hooks = [await webhook(workspace), await webhook(workspace, false)];
  await webhook(await bench.workspace());
  const [done, broken] = [await bench.transcription(workspace), await bench.transcription(workspace)];
  await complete(db, (await next()).lease, finished(60));
  await fail(db, (await next()).lease, 'FILE_CORRUPTED');
  const rows = await db.query<{ webhook_id: string; body: object }>('*', 'select webhook_id, body from deliveries order by created_at');
  t.strictSame(new Set(rows.map((row) => row.webhook_id)), new Set(hooks));
  const told = { external_id: null, error_code: null };
  t.same(rows[0]!.body, { ...told, event: 'transcription.completed', status: 'completed', transcription_id: done });
  t.same(rows[3]!.body, {
    ...told,
    event: 'transcription.failed',
    status: 'failed',
    transcription_id: broken,
    error_code: 'FILE_CORRUPTED',
  });
  t.equal(rows.length, 4);
  t.ok(await bench.jobs('deliver'));
});

t.test('announce() tells of a report that fails because its recording did', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from deliveries'));
  const workspace = await bench.workspace();
  await webhook(workspace);
  const id = await bench.transcription(workspace, { reports: ['summary'] });
  const [report] = await db.query<{ id: string }>('*', 'select id from reports where transcription_id = ?', [id]);
  await fail(db, (await next()).lease, 'FILE_CORRUPTED');
  const [row] = await db.query<{ body: object }>('*', `select body from deliveries where event = 'report.failed'`);
  const told = { status: 'failed', error_code: 'TRANSCRIPTION_FAILED', external_id: null };
  t.same(row!.body, { ...told, event: 'report.failed', transcription_id: id, report_id: report!.id });
});

t.test('claimDeliveries() gives each to one sender; failures wait ever longer for about a day and then are dead', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from deliveries'));
  const workspace = await bench.workspace();
  await webhook(workspace);
  await bench.transcription(workspace);
  await complete(db, (await next()).lease, finished(60));
  const claims = (await Promise.all(Array.from({ length: 5 }, () => db.acrossTenants((tx) => claimDeliveries(tx, 5))))).flat();
  t.equal(claims.length, 1);
  let [delivery] = claims;
  let waited = 0;
  for (let attempt = 1; delivery; attempt++) {
    t.equal(delivery.attempt, attempt);
    await db.acrossTenants((tx) => settleDelivery(tx, delivery!, { ok: false, status: 500, error: null }));
    const [row] = await db.query<{ wait: number; status: string }>(
      '*',
      'select extract(epoch from next_at - now())::float8 as wait, status from deliveries',
    );
    if (row!.status === 'pending') waited += row!.wait;
    await db.acrossTenants((tx) => tx.rows('update deliveries set next_at = now()'));
    [delivery] = await db.acrossTenants((tx) => claimDeliveries(tx, 1));
  }
  t.match(await db.query('*', 'select status, attempt, last_status from deliveries'), [{ status: 'dead', attempt: 11, last_status: 500 }]);
  t.ok(waited > 22 * 3600 && waited < 26 * 3600, `${waited} s in all`);
});

t.test('settleDelivery() of a sender that was overtaken changes nothing', async (t) => {
  await db.acrossTenants((tx) => tx.rows(`update deliveries set status = 'pending', attempt = 0, next_at = now()`));
  const [stale] = await db.acrossTenants((tx) => claimDeliveries(tx, 1));
  await db.acrossTenants((tx) => tx.rows('update deliveries set next_at = now()'));
  const [fresh] = await db.acrossTenants((tx) => claimDeliveries(tx, 1));
  await db.acrossTenants((tx) => settleDelivery(tx, stale!, { ok: false, status: null, error: 'late' }));
  await db.acrossTenants((tx) => settleDelivery(tx, fresh!, { ok: true, status: 204, error: null }));
  t.match(await db.query('*', 'select status, last_status, delivered_at from deliveries'), [
    { status: 'delivered', last_status: 204, delivered_at: String },
  ]);
});

t.test('nextDelivery() serves workspaces and their webhooks in turn, so that one that is slow does not hold up the others', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
  const [slow, quick] = [await bench.workspace(), await bench.workspace()];
  const hooks = { a: await webhook(slow), b: await webhook(slow), c: await webhook(quick) };
  const add = (workspace: string, hook: string, count: number, age: string) =>
    db.acrossTenants((tx) =>
      tx.rows(
        `insert into deliveries (workspace_id, webhook_id, event, body, next_at)
         select ?, ?, 'report.completed', '{}', now() - ?::interval from generate_series(1, ?::int)`,
        [workspace, hook, age, count],
      ),
    );
  await add(slow, hooks.a, 5, '1 hour');
  await add(slow, hooks.b, 1, '1 minute');
  await add(quick, hooks.c, 2, '1 second');
  const order: string[] = [];
  const courier = {
    db,
    vault: { text: async () => 's' },
    log: { info: () => {} },
    privateWebhooks: false,
  } as unknown as Courier;
  const turns: string[] = [];
  for (let job = await nextDelivery(courier, turns); job; job = await nextDelivery(courier, turns)) {
    const [row] = await db.query<{ webhook_id: string }>(
      '*',
      'select webhook_id from deliveries where attempt = 1 order by next_at desc limit 1',
    );
    order.push(Object.entries(hooks).find(([, id]) => id === row!.webhook_id)![0]);
  }
  t.equal(order.join(' '), 'a c b c a a a a');
  t.equal(turns.length, 5);
});
