import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type ClaimedTranscription, claimNext } from '../../../db/jobs/claim.ts';
import { correctTimes } from '../../../db/jobs/clock.ts';
import { complete, fail } from '../../../db/jobs/complete.ts';
import { enqueue } from '../../../db/jobs/queue.ts';
import { claimDelivery, type Delivery, settleDelivery } from '../../../db/webhooks/outbox.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { finished, openBench } from '../../support/engine/work.ts';
import { deliveriesIn } from './deliveries.ts';

const { db } = await testDatabase(t);
const bench = await openBench(db);
const { take, jobs, webhook, overdue } = deliveriesIn(db);
const next = async () => (await claimNext(db, { engineId: randomUUID(), shortOnly: false })) as ClaimedTranscription;

/** Seconds since the call, by which the database's clock has gone on: on a slow machine many. */
function stopwatch(): () => number {
  const start = performance.now();
  return () => (performance.now() - start) / 1000;
}

t.test('announce() writes one delivery per webhook and terminal status, with ids and status only, also for paused webhooks', async (t) => {
  const workspace = await bench.workspace();
  const hooks = [await webhook(workspace), await webhook(workspace, false)];
  await webhook(await bench.workspace());
  const [done, broken] = [await bench.transcription(workspace), await bench.transcription(workspace)];
  await complete(db, (await next()).lease, finished(60));
  await fail(db, (await next()).lease, 'FILE_CORRUPTED');
  const rows = await db.query<{ webhook_id: string; body: object }>('*', 'select webhook_id, body from deliveries order by created_at');
  t.strictSame(new Set(rows.map((row) => row.webhook_id)), new Set(hooks));
  const payload = { external_id: null, error_code: null };
  t.same(rows[0]!.body, { ...payload, event: 'transcription.completed', status: 'completed', transcription_id: done });
  t.same(rows[3]!.body, {
    ...payload,
    event: 'transcription.failed',
    status: 'failed',
    transcription_id: broken,
    error_code: 'FILE_CORRUPTED',
  });
  t.equal(rows.length, 4);
  t.equal(await bench.jobs('deliver'), 2, 'none for a paused webhook');
});

t.test('announce() includes a report that failed because its recording failed', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from deliveries'));
  const workspace = await bench.workspace();
  await webhook(workspace);
  const id = await bench.transcription(workspace, { reports: ['summary'] });
  const [report] = await db.query<{ id: string }>('*', 'select id from reports where transcription_id = ?', [id]);
  await fail(db, (await next()).lease, 'FILE_CORRUPTED');
  const [row] = await db.query<{ body: object }>('*', `select body from deliveries where event = 'report.failed'`);
  const payload = { status: 'failed', error_code: 'TRANSCRIPTION_FAILED', external_id: null };
  t.same(row!.body, { ...payload, event: 'report.failed', transcription_id: id, report_id: report!.id });
});

t.test(
  'claimDelivery() gives each delivery to one sender; failures back off for about a day, then are dead, with a job per attempt',
  async (t) => {
    await db.acrossTenants((tx) => tx.rows('delete from deliveries'));
    const workspace = await bench.workspace();
    await webhook(workspace);
    await bench.transcription(workspace);
    await complete(db, (await next()).lease, finished(60));
    const [job] = await db.query<{ id: string }>('*', 'select id from deliveries');
    t.ok((await jobs()).some(({ id }) => id === job!.id));
    const claims = await Promise.all(Array.from({ length: 5 }, () => db.acrossTenants((tx) => claimDelivery(tx, job!.id))));
    const [first, ...more] = claims.filter((claim) => claim !== null);
    t.equal(more.length, 0);
    let delivery: Delivery | null = first!;
    let waited = 0;
    for (let attempt = 1; delivery; attempt++) {
      t.equal(delivery.attempt, attempt);
      const { id } = delivery;
      const passed = stopwatch();
      await db.acrossTenants((tx) => settleDelivery(tx, delivery!, { ok: false, status: 500, error: null }));
      const [row] = await db.query<{ wait: number; status: string }>(
        '*',
        'select extract(epoch from next_at - now())::float8 as wait, status from deliveries',
      );
      if (row!.status === 'pending') {
        waited += row!.wait;
        const [again, ...others] = (await jobs()).filter((each) => each.id === id);
        t.equal(others.length, 0, 'one job, whose key is the id of the delivery');
        t.ok(Math.abs(again!.seconds - row!.wait) < 5 + passed(), 'the retry is a job of the queue, due at the documented time');
        t.match(again, { key: `deliver:${id}`, max_attempts: 5 });
      }
      await db.acrossTenants((tx) => tx.rows('update deliveries set next_at = now()'));
      delivery = await take();
    }
    t.match(await db.query('*', 'select status, attempt, last_status from deliveries'), [
      { status: 'dead', attempt: 11, last_status: 500 },
    ]);
    t.ok(waited > 22 * 3600 && waited < 26 * 3600, `${waited} s in total`);
  },
);

t.test(
  'claimDelivery() of a delivery held by another sender leaves a job for the time at which that sender is considered dead',
  async (t) => {
    await db.acrossTenants((tx) => tx.rows(`update deliveries set status = 'pending', attempt = 0, next_at = now()`));
    const passed = stopwatch();
    const held = (await take())!;
    t.equal(await db.acrossTenants((tx) => claimDelivery(tx, held.id)), null);
    const [job] = (await jobs()).filter(({ id }) => id === held.id);
    t.ok(job!.seconds > 115 - passed() && job!.seconds < 125, `${job!.seconds} s`);
  },
);

t.test('settleDelivery() with a stale lease changes nothing', async (t) => {
  await db.acrossTenants((tx) => tx.rows(`update deliveries set status = 'pending', attempt = 0, next_at = now()`));
  const stale = await take();
  await db.acrossTenants((tx) => tx.rows('update deliveries set next_at = now()'));
  const fresh = await take();
  await db.acrossTenants((tx) => settleDelivery(tx, stale!, { ok: false, status: null, error: 'late' }));
  await db.acrossTenants((tx) => settleDelivery(tx, fresh!, { ok: true, status: 204, error: null }));
  t.match(await db.query('*', 'select status, last_status, delivered_at from deliveries'), [
    { status: 'delivered', last_status: 204, delivered_at: String },
  ]);
});

t.test(
  'correctTimes() brings forward deliveries that a clock set back left further ahead than their attempts allow, with their jobs',
  async (t) => {
    await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
    const workspace = await bench.workspace();
    const [active, paused] = [await webhook(workspace), await webhook(workspace, false)];
    const HOUR = 3600;
    const cases = [
      { attempt: 0, ahead: HOUR, corrected: 0 },
      { attempt: 1, ahead: 100, corrected: null }, // held by a courier
      { attempt: 1, ahead: HOUR + 10, corrected: 120 },
      { attempt: 5, ahead: HOUR + 1800, corrected: 1800 },
      { attempt: 9, ahead: 8 * HOUR - 60, corrected: null }, // allowed
      { attempt: 10, ahead: 9 * HOUR, corrected: 8 * HOUR },
      { attempt: 11, ahead: HOUR + 120, corrected: 120 },
    ];
    const add = async (hook: string, attempt: number, ahead: number) => {
      const [row] = await db.query<{ id: string }>(
        '*',
        `insert into deliveries (workspace_id, webhook_id, event, body, attempt, next_at)
       values (?, ?, 'report.completed', '{}', ?, clock_timestamp() + ?::float8 * interval '1 second') returning id`,
        [workspace, hook, attempt, ahead],
      );
      return row!.id;
    };
    const passed = stopwatch();
    const ids: string[] = [];
    for (const { attempt, ahead } of cases) ids.push(await add(active, attempt, ahead));
    const silent = await add(paused, 0, HOUR);
    const enqueued = (id: string, seconds: number) =>
      db.acrossTenants((tx) => enqueue(tx, 'deliver', { id }, { key: `deliver:${id}`, runAfterSeconds: seconds }));
    for (const [i, id] of ids.entries()) await enqueued(id, cases[i]!.ahead);
    t.equal(await correctTimes(db), cases.filter(({ corrected }) => corrected !== null).length + 1);
    const waits = await db.query<{ id: string; seconds: number }>(
      '*',
      'select id, extract(epoch from next_at - now())::float8 as seconds from deliveries',
    );
    const found = await jobs();
    for (const [i, { attempt, ahead, corrected }] of cases.entries()) {
      const due = corrected ?? ahead;
      const row = waits.find(({ id }) => id === ids[i])!;
      const mine = found.filter(({ id }) => id === ids[i]);
      t.ok(Math.abs(row.seconds - due) < 5 + passed(), `attempt ${attempt}, ${ahead} s ahead: due in ${row.seconds} s`);
      t.equal(mine.length, 1);
      t.ok(Math.abs(mine[0]!.seconds - due) < 5 + passed(), `its job runs in ${mine[0]!.seconds} s`);
    }
    t.ok(waits.find(({ id }) => id === silent)!.seconds < 5);
    t.notOk(
      found.some(({ id }) => id === silent),
      'no job for a paused webhook',
    );
    t.ok(await db.acrossTenants((tx) => claimDelivery(tx, ids[0]!)));
    t.equal(await correctTimes(db), 0);
  },
);

t.test('correctTimes() corrects deliveries also where there are thousands', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
  const workspace = await bench.workspace();
  await overdue(workspace, await webhook(workspace, false), 2500);
  await db.query('*', `update deliveries set next_at = now() + interval '1 hour'`);
  t.equal(await correctTimes(db), 2500);
});
