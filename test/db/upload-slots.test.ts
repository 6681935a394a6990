import { randomUUID } from 'node:crypto';
import t from 'tap';
import { LIMITS } from '../../api/contract/limits.ts';
import { reportTarget, requestReports } from '../../db/reports/request.ts';
import { accept, recordIncomplete, releaseSlot, sweepUploads, takeSlot, type UploadRequest } from '../../db/uploads/accept.ts';
import { claimKey, keepAnswer } from '../../db/uploads/idempotency.ts';
import { tokenOf } from '../support/api/actors.ts';
import { testDatabase } from '../support/databases/database.ts';
import { openBench } from '../support/engine/work.ts';
import { seeded } from '../support/seeded.ts';
import { requestOf, SUMMARY, TASKS } from './protocol/clients.ts';

const { db } = await testDatabase(t);
const bench = await openBench(db);
const chance = seeded();
const caps = { ...LIMITS, UPLOADS_PER_WORKSPACE: 1, UPLOADS_PER_DAY: 1, REPORTS_PER_DAY: 1 };
const file = { bytes: 2048, key: Buffer.alloc(32) };

/** An upload in flight with one report, whose lease has expired. */
async function silent(workspaceId: string): Promise<UploadRequest> {
  const wish = { ...requestOf(workspaceId, null, chance), templates: [SUMMARY] };
  await db.workspace(workspaceId, (tx) => takeSlot(tx, wish, randomUUID(), caps, null));
  await db.query('*', `update upload_leases set lease_until = clock_timestamp() - interval '1 second' where id = ?::uuid`, [wish.id]);
  return wish;
}

const accepted = (wish: UploadRequest) => db.workspace(wish.actor.workspaceId, (tx) => accept(tx, bench.vault, wish, file));

t.test('accept() accepts an upload whose slot has expired while no other upload has taken it', async (t) => {
  const wish = await silent(await bench.workspace());
  t.equal((await accepted(wish)).length, 1);
});

t.test('accept() rejects an upload whose slot was given to another, so that no daily limit is exceeded', async (t) => {
  const workspace = await bench.workspace();
  const late = await silent(workspace);
  const other = { ...requestOf(workspace, null, chance), templates: [SUMMARY] };
  await db.workspace(workspace, (tx) => takeSlot(tx, other, randomUUID(), caps, null));
  await t.rejects(accepted(late), { code: 'service_unavailable' });
  t.equal((await accepted(other)).length, 1);
});

t.test('accept() rejects an upload whose report quota was used by another request', async (t) => {
  const workspace = await bench.workspace();
  const late = await silent(workspace);
  const viewer = tokenOf({ workspaceId: workspace, id: randomUUID() });
  const id = await bench.transcription(workspace);
  const made = await db.workspace(workspace, async (tx) =>
    requestReports(tx, viewer, (await reportTarget(tx, viewer, id))!, [TASKS], caps, null),
  );
  t.equal(made.length, 1);
  await t.rejects(accepted(late), { code: 'service_unavailable' });
});

t.test('no upload in progress loses its slot or its key when the clock is set ahead by more than a lease', async (t) => {
  const workspace = await bench.workspace();
  const alive = await silent(workspace); // as it looks after the leap
  const before = Date.now() / 1000 - 300;
  const key = { workspaceId: workspace, key: 'leap', token: randomUUID() };
  await db.workspace(workspace, (tx) => claimKey(tx, key, alive.id, randomUUID(), null));
  await db.query('*', `update idempotency_keys set lease_until = clock_timestamp() - interval '1 second' where key = 'leap'`);
  const retry = { ...key, token: randomUUID() };
  t.strictSame(await db.workspace(workspace, (tx) => claimKey(tx, retry, randomUUID(), randomUUID(), before)), { state: 'busy' });
  const other = requestOf(workspace, null, chance);
  const take = (latest: number | null) => db.workspace(workspace, (tx) => takeSlot(tx, other, randomUUID(), caps, latest));
  await t.rejects(take(before), { code: 'too_many_concurrent_uploads' });
  const viewer = tokenOf({ workspaceId: workspace, id: randomUUID() });
  const id = await bench.transcription(workspace);
  const report = db.workspace(workspace, async (tx) =>
    requestReports(tx, viewer, (await reportTarget(tx, viewer, id))!, [TASKS], caps, before),
  );
  await t.rejects(report, { code: 'daily_reports_quota_exceeded' }, 'its report still counts');
  await sweepUploads(db, before);
  t.equal((await accepted(alive)).length, 1);
  t.ok(await db.workspace(workspace, (tx) => keepAnswer(tx, key, { uuid: alive.id, status: 'queued', reports: [] })));
});

t.test('takeSlot() counts an interrupted upload towards the daily limit, because its record stays', async (t) => {
  const workspace = await bench.workspace();
  const broken = requestOf(workspace, null, chance);
  const day = { ...caps, UPLOADS_PER_DAY: 1 };
  const take = (request: UploadRequest) => db.workspace(workspace, (tx) => takeSlot(tx, request, randomUUID(), day, null));
  await take(broken);
  await db.workspace(workspace, (tx) => recordIncomplete(tx, bench.vault, broken, 100));
  await db.workspace(workspace, (tx) => releaseSlot(tx, broken));
  await t.rejects(take(requestOf(workspace, null, chance)), { code: 'upload_quota_exceeded' });
});
