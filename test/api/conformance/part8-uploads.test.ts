import t from 'tap';
import { startApp } from '../../../api/app.ts';
import { openLog } from '../../../db/ops/log.ts';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';
import { connectRaw, head, type RawConnection } from '../../support/api/raw.ts';
import { FILE, knock, send, uploadHeaders } from '../../support/api/uploads.ts';

const POST = 'POST /transcriptions';
const api = await testApi(t, {
  LONGHAND_LIMIT_UPLOADS_PER_KEY: '2',
  LONGHAND_LIMIT_UPLOADS_PER_WORKSPACE: '3',
  LONGHAND_LIMIT_QUEUED_FILES: '6',
  LONGHAND_LIMIT_UPLOADS_PER_DAY: '8',
  LONGHAND_LIMIT_REPORTS_PER_DAY: '4',
});
const second = await startApp({ ...api, log: openLog(api.settings, 'api') }); // another host on the same database
t.teardown(() => second.stop(1));

async function newcomer() {
  const workspace = await api.world.workspace();
  const owner = await api.world.member(workspace, { role: 'owner' });
  const keys = await Promise.all([1, 2].map(async () => (await api.world.key(owner)).key));
  return { workspace, one: keys[0]!, two: keys[1]! };
}
/** An upload that stays in flight: the head was accepted, the body is held back. */
async function openUpload(url: string, key: string, query = ''): Promise<RawConnection> {
  const connection = await connectRaw(url);
  connection.write(head('POST', `/v1/transcriptions${query}`, uploadHeaders(key)));
  connection.write(FILE.subarray(0, 8));
  return connection;
}
const places = async (workspace: string) =>
  (await api.db.acrossTenants((tx) => tx.rows('select id from upload_leases where workspace_id = ?', [workspace]))).length;
const until = async (met: () => Promise<boolean>) => {
  while (!(await met())) await new Promise((resolve) => setTimeout(resolve, 25));
};

t.test('uploads in flight are counted per key and per workspace, across both hosts', async (t) => {
  const { workspace, one, two } = await newcomer();
  const held = [await openUpload(api.url, one), await openUpload(second.url, one)];
  await until(async () => (await places(workspace)) === 2);
  const refused = await knock(api.url, one);
  t.match(refused, provokes(POST, 429, 'too_many_concurrent_uploads'), 'of the key');
  t.match(refused.headers.get('retry-after'), /^[1-9]\d*$/);
  held.push(await openUpload(api.url, two));
  await until(async () => (await places(workspace)) === 3);
  t.match(await knock(second.url, two), provokes(POST, 429, 'too_many_concurrent_uploads'), 'of the workspace');
  for (const connection of held) connection.write(FILE.subarray(8));
  for (const connection of held) t.equal((await connection.answer()).status, 201);
  t.equal(await places(workspace), 0);
  t.equal((await send(api.url, one)).status, 201);
});

t.test('the upload slot of a host that died is free after its lease', async (t) => {
  const { workspace, one } = await newcomer();
  const lease = (seconds: number) =>
    api.db.acrossTenants((tx) =>
      tx.rows(
        `insert into upload_leases (id, workspace_id, key_id, node_id, lease_until)
         select gen_random_uuid(), ?, gen_random_uuid(), gen_random_uuid(), now() + ? * interval '1 second' from generate_series(1, 3)`,
        [workspace, seconds],
      ),
    );
  await lease(-1);
  t.equal((await send(api.url, one)).status, 201);
  await lease(60);
  t.match(await knock(api.url, one), provokes(POST, 429, 'too_many_concurrent_uploads'));
});

t.test('queued files and uploads per day are limited', async (t) => {
  const { workspace, one } = await newcomer();
  for (let n = 0; n < 6; n++) t.equal((await send(api.url, one)).status, 201);
  t.match(await knock(api.url, one), provokes(POST, 429, 'too_many_queued_files'));
  await api.db.acrossTenants((tx) => tx.rows(`update transcriptions set status = 'processing' where workspace_id = ?`, [workspace]));
  for (let n = 0; n < 2; n++) t.equal((await send(api.url, one)).status, 201);
  const refused = await knock(api.url, one);
  t.match(refused, provokes(POST, 429, 'upload_quota_exceeded'));
  const midnight = (86_400_000 - (Date.now() % 86_400_000)) / 1000;
  t.ok(Math.abs(Number(refused.headers.get('retry-after')) - midnight) < 60, 'until 00:00 UTC');
});

t.test('uploads that break off count towards the limit per day', async (t) => {
  const { workspace, one } = await newcomer();
  for (let n = 0; n < 8; n++) {
    const connection = await openUpload(api.url, one);
    await until(async () => (await places(workspace)) === 1);
    connection.end(true);
    await until(async () => (await places(workspace)) === 0);
  }
  t.match(await knock(api.url, one), provokes(POST, 429, 'upload_quota_exceeded'));
});

t.test('parallel uploads never exceed the limit of queued files', async (t) => {
  const { one, two } = await newcomer();
  for (let n = 0; n < 4; n++) await send(api.url, one);
  const answers = await Promise.all(Array.from({ length: 4 }, (_, i) => send(i % 2 ? second.url : api.url, i < 2 ? one : two)));
  t.equal(answers.filter(({ status }) => status === 201).length, 2);
});

t.test('reports requested by uploads in flight count towards the daily limit', async (t) => {
  const { workspace, one } = await newcomer();
  const held = await openUpload(api.url, one, '?reports=summary,tasks,quotes');
  await until(async () => (await places(workspace)) === 1);
  t.match(await knock(second.url, one, {}, '?reports=summary,tasks'), provokes(POST, 429, 'daily_reports_quota_exceeded'));
  held.write(FILE.subarray(8));
  t.equal((await held.answer()).json.reports.length, 3);
  t.equal((await send(api.url, one, {}, '?reports=summary')).status, 201);
  t.match(await knock(api.url, one, {}, '?reports=summary'), provokes(POST, 429, 'daily_reports_quota_exceeded'));
  t.equal((await send(api.url, one)).status, 201);
});

t.test('queued reports are limited', async (t) => {
  const { workspace, one } = await newcomer();
  const { json } = await send(api.url, one);
  await api.db.acrossTenants((tx) =>
    tx.rows(
      `insert into reports (workspace_id, transcription_id, slug, name, status) select ?, ?, 'r' || n, 'R', 'queued' from generate_series(1, 200) n`,
      [workspace, json.uuid],
    ),
  );
  t.match(await knock(api.url, one, {}, '?reports=summary'), provokes(POST, 429, 'too_many_queued_reports'));
});

t.test('the first limit in the published order answers if several are reached: 402, in flight, queued, day, reports a day', async (t) => {
  const { workspace, one } = await newcomer();
  for (let n = 0; n < 6; n++) await send(api.url, one);
  const set = (sql: string) => api.db.acrossTenants((tx) => tx.rows(sql, [workspace]));
  await set(`update counters set count = 8 where workspace_id = ? and name = 'uploads'`);
  await set(`insert into counters (workspace_id, name, day, count) values (?, 'reports', (now() at time zone 'utc')::date, 4)`);
  await set(`insert into upload_leases (id, workspace_id, node_id, lease_until)
    select gen_random_uuid(), ?, gen_random_uuid(), now() + interval '1 hour' from generate_series(1, 3)`);
  await set('update workspaces set balance_minutes = 0 where id = ?');
  const code = async () => (await knock(api.url, one, {}, '?reports=summary')).json.code;
  t.equal(await code(), 'insufficient_balance');
  await set('update workspaces set balance_minutes = 10 where id = ?');
  t.equal(await code(), 'too_many_concurrent_uploads');
  await set('delete from upload_leases where workspace_id = ?');
  t.equal(await code(), 'too_many_queued_files');
  await set(`update transcriptions set status = 'processing' where workspace_id = ?`);
  t.equal(await code(), 'upload_quota_exceeded');
  await set(`update counters set count = 0 where workspace_id = ? and name = 'uploads'`);
  t.equal(await code(), 'daily_reports_quota_exceeded');
});

t.test('a refused upload releases its slot', async (t) => {
  const { workspace, one } = await newcomer();
  await api.db.acrossTenants((tx) => tx.rows('update workspaces set balance_minutes = 0 where id = ?', [workspace]));
  t.match(await knock(api.url, one), provokes(POST, 402, 'insufficient_balance'));
  t.equal(await places(workspace), 0);
});

t.test('a full spool gives 503 with Retry-After and leaves nothing behind', async (t) => {
  const { workspace, one } = await newcomer();
  const full = {
    ...api.spool,
    create: async () => ({
      write: () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })),
      finish: () => Promise.reject(new Error('not reached')),
      abort: async () => {},
    }),
  };
  const host = await startApp({ ...api, spool: full, log: openLog(api.settings, 'api') });
  t.teardown(() => host.stop(1));
  const answer = await send(host.url, one, { 'Idempotency-Key': 'full' });
  t.match(answer, provokes(POST, 503, 'service_unavailable'));
  t.match(answer.headers.get('retry-after'), /^[1-9]\d*$/);
  t.equal(await places(workspace), 0);
  t.equal((await api.call(one, 'GET', '/v1/transcriptions?status=failed')).json.total, 0);
  t.equal((await send(api.url, one, { 'Idempotency-Key': 'full' })).status, 201);
});
