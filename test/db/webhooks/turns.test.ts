import t from 'tap';
import { requeueDeliveries, settleDelivery } from '../../../db/webhooks/outbox.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openBench } from '../../support/engine/work.ts';
import { deliveriesIn } from './deliveries.ts';

/* The order of deliveries: no receiver may delay those of others. */

const { db } = await testDatabase(t);
const bench = await openBench(db);
const { take, jobs, webhook, reported, overdue } = deliveriesIn(db);

t.test('announce() serves workspaces and their webhooks round-robin, so that a slow one does not delay the others', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
  const [slow, quick] = [await bench.workspace(), await bench.workspace()];
  const hooks: Record<string, string> = { a: await webhook(slow) };
  await reported(slow, 4);
  hooks.b = await webhook(slow);
  await reported(slow, 1); // to both
  hooks.c = await webhook(quick);
  await reported(quick, 2);
  const rows = await db.query<{ id: string; webhook_id: string }>('*', 'select id, webhook_id from deliveries');
  const nameOf = new Map(rows.map(({ id, webhook_id }) => [id, Object.entries(hooks).find(([, hook]) => hook === webhook_id)![0]]));
  const order = (await jobs()).flatMap(({ id }) => nameOf.get(id) ?? []);
  t.equal(order.join(' '), 'a c a c a b a a', 'c after one of a; b after two of a, because webhooks of a workspace share its turns');
});

t.test('settleDelivery() lets a retry wait behind the deliveries of all webhooks that respond', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
  const [slow, quick] = [await bench.workspace(), await bench.workspace()];
  await webhook(slow);
  await reported(slow, 5);
  const failed = (await take())!;
  await db.acrossTenants((tx) => settleDelivery(tx, failed, { ok: false, status: null, error: 'no response within 10 s' }));
  await webhook(quick);
  await reported(quick, 2);
  const rows = await db.query<{ id: string; workspace_id: string }>('*', 'select id, workspace_id from deliveries');
  const names = new Map(rows.map(({ id, workspace_id }) => [id, id === failed.id ? 'again' : workspace_id === slow ? 'slow' : 'quick']));
  const order = (await jobs()).flatMap(({ id }) => names.get(id) ?? []);
  t.equal(order.join(' '), 'quick slow quick slow slow slow again');
});

t.test('requeueDeliveries() adds a job to overdue deliveries without one, except for paused webhooks', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
  const workspace = await bench.workspace();
  const [active, paused] = [await webhook(workspace), await webhook(workspace, false)];
  const ids = await db.query<{ id: string; webhook_id: string }>(
    '*',
    `insert into deliveries (workspace_id, webhook_id, event, body, next_at)
     select ?, h, 'report.completed', '{}', now() - interval '2 minutes' from unnest(?::uuid[]) h returning id, webhook_id`,
    [workspace, [active, paused]],
  );
  t.equal(await requeueDeliveries(db), 1);
  const found = new Set((await jobs()).map(({ id }) => id));
  t.strictSame(
    ids.filter(({ id }) => found.has(id)).map(({ webhook_id }) => webhook_id),
    [active],
  );
});

t.test('announce() counts up to a hundred waiting deliveries of a webhook', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
  const workspace = await bench.workspace();
  await overdue(workspace, await webhook(workspace), 98);
  await reported(workspace, 4);
  const waiting = new Set((await db.query<{ id: string }>('*', 'select id from deliveries')).map(({ id }) => id));
  const [first, ...later] = (await jobs()).flatMap(({ id, priority }) => (waiting.has(id) ? [priority] : []));
  t.strictSame(
    later.map((priority) => priority - first!),
    [1, 2, 2],
  );
});

t.test('requeueDeliveries() puts overdue deliveries behind new ones, and webhooks in turn', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
  const [one, other] = [await bench.workspace(), await bench.workspace()];
  const names = new Map<string, string>();
  for (const name of ['a', 'b']) for (const id of await overdue(one, await webhook(one), 3)) names.set(id, name);
  t.equal(await requeueDeliveries(db), 6);
  await webhook(other);
  await reported(other, 2);
  for (const { id } of await db.query<{ id: string }>('*', 'select id from deliveries')) if (!names.has(id)) names.set(id, 'new');
  const order = (await jobs()).flatMap(({ id }) => names.get(id) ?? []).join('');
  t.match(order, /^newnew(ab|ba){3}$/);
});

t.test('requeueDeliveries() adds jobs for every webhook, however many are unreachable', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
  const workspace = await bench.workspace();
  for (let k = 0; k < 10; k++) await overdue(workspace, await webhook(workspace), 100);
  const [last] = await overdue(workspace, await webhook(workspace), 1);
  await requeueDeliveries(db);
  t.ok((await jobs()).some(({ id }) => id === last));
});

t.test('requeueDeliveries() adds jobs for the hundred deliveries of a webhook that have been overdue for the longest', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
  const workspace = await bench.workspace();
  const [latest, ...others] = await overdue(workspace, await webhook(workspace), 101);
  t.equal(await requeueDeliveries(db), 100);
  const found = new Set((await jobs()).map(({ id }) => id));
  t.ok(others.every((id) => found.has(id)));
  t.notOk(found.has(latest!));
});
