import t from 'tap';
import { type ClaimedTranscription, claimNext } from '../../../db/jobs/claim.ts';
import { complete, fail } from '../../../db/jobs/complete.ts';
import { claimReport, completeReport, failReport } from '../../../db/reports/work.ts';
import { testApi } from '../../support/api/client.ts';
import { send } from '../../support/api/uploads.ts';
import { openByHand } from '../../support/engine/byhand.ts';

const api = await testApi(t);
const { db, vault, world } = api;
const { engineId, probe, take, result } = openByHand(api);

/** One uploaded file, with the API responses after each step of an engine; `minutes` is the balance of the workspace. */
async function begin(minutes = 100, query = '', headers: Record<string, string> = {}) {
  const workspace = await world.workspace({ minutes });
  const owner = await world.member(workspace, { role: 'owner' });
  const { key } = await world.key(owner);
  const answer = await send(api.url, key, headers, query);
  const id: string = answer.json.uuid;
  const get = async () => (await api.call(key, 'GET', `/v1/transcriptions/${id}`)).json;
  const available = async () => (await api.call(key, 'GET', '/v1/workspace')).json.balance.available_minutes;
  const remove = async () => (await api.call(key, 'DELETE', `/v1/transcriptions/${id}`)).status;
  return { workspace, key, id, answer, get, available, remove };
}
t.afterEach(() => db.acrossTenants((tx) => tx.rows('delete from transcriptions')));
const UNFINISHED = { text: null, segments: [], error_code: null, required_minutes: null, available_minutes: null };

t.test(
  '3.1 POST is answered 201 with queued; a free slot makes it processing and reserves minutes; success makes it completed',
  async (t) => {
    const { workspace, id, answer, get, available } = await begin(10, '?reports=summary');
    t.match(answer, { status: 201, json: { uuid: id, status: 'queued', reports: [{ slug: 'summary', status: 'queued' }] } });
    t.match(await get(), { status: 'queued', ...UNFINISHED });
    await probe(90);
    t.match(await get(), { status: 'queued', ...UNFINISHED, duration_seconds: 90, media_type: 'audio' });
    t.equal(await available(), 10, 'queued files reserve no minutes');
    const { lease } = await take();
    t.match(await get(), { status: 'processing', ...UNFINISHED });
    t.equal(await available(), 8.5, 'minutes are reserved when processing starts');
    t.equal(await complete(db, lease, await result(workspace, id, 60)), 'completed');
    t.match(await get(), {
      status: 'completed',
      text: /Hello there\./,
      segments: [{ id: 1 }, { id: 2 }],
      prompt_results: [{ status: 'queued' }],
    });
    t.equal(await available(), 9, 'the decoded length is charged');
  },
);

t.test('3.1 a file that cannot be processed fails with its error_code, is not charged, and its reports fail with it', async (t) => {
  const { get, available, key, id } = await begin(10, '?reports=summary');
  await probe();
  const { lease } = await take();
  t.equal(await fail(db, lease, 'FILE_CORRUPTED'), true);
  t.match(await get(), {
    ...{ status: 'failed', ...UNFINISHED, error_code: 'FILE_CORRUPTED' },
    prompt_results: [{ status: 'failed', error_code: 'TRANSCRIPTION_FAILED', text: null }],
  });
  t.equal(await available(), 10);
  const body = { reports: ['tasks'] };
  t.match(await api.call(key, 'POST', `/v1/transcriptions/${id}/reports`, { body }), {
    status: 409,
    json: { code: 'transcription_failed' },
  });
});

t.test('3.1 too few minutes when processing starts give insufficient_balance with both numbers and free the Idempotency-Key', async (t) => {
  const { get, available, key, id } = await begin(1, '', { 'Idempotency-Key': 'short' });
  await probe(100.2);
  await take();
  t.match(await get(), { ...{ status: 'insufficient_balance', ...UNFINISHED }, required_minutes: 1.67, available_minutes: 1 });
  t.equal(await available(), 1);
  const again = await send(api.url, key, { 'Idempotency-Key': 'short' });
  t.equal(again.status, 201);
  t.not(again.json.uuid, id);
});

t.test('3.1 files beyond the parallelism of the plan wait as queued', async (t) => {
  const { workspace, key, get } = await begin();
  await db.acrossTenants((tx) => tx.rows('update workspaces set concurrency = 1 where id = ?', [workspace]));
  const second = await send(api.url, key);
  await probe();
  await probe();
  await take();
  t.equal(await claimNext(db, { engineId, shortOnly: false }), null);
  const statuses = [(await get()).status, (await api.call(key, 'GET', `/v1/transcriptions/${second.json.uuid}`)).json.status];
  t.strictSame(statuses.sort(), ['processing', 'queued']);
});

t.test(
  '3.1 DELETE removes it in every status: reads give 404, reserved minutes are released, a running engine changes nothing',
  async (t) => {
    for (const until of ['queued', 'probed', 'processing', 'completed', 'failed', 'insufficient_balance']) {
      const { workspace, id, key, get, available, remove } = await begin(until === 'insufficient_balance' ? 0.5 : 10);
      let claim: ClaimedTranscription | null = null;
      if (until !== 'queued') await probe();
      if (until !== 'queued' && until !== 'probed') claim = await take();
      if (until === 'completed') await complete(db, claim!.lease, await result(workspace, id, 60));
      if (until === 'failed') await fail(db, claim!.lease, 'ENGINE_ERROR');
      t.equal((await get()).status, until === 'probed' ? 'queued' : until);
      t.equal(await remove(), 204, until);
      for (const path of ['', '/export', '/subtitles'])
        t.equal((await api.call(key, 'GET', `/v1/transcriptions/${id}${path}`)).status, 404);
      t.equal((await api.call(key, 'GET', `/v1/transcriptions?status=${until}`)).json.total, 0);
      t.equal(await remove(), 404);
      if (until === 'processing') t.equal(await complete(db, claim!.lease, await result(workspace, id, 60)), 'lost');
      t.equal((await get()).code, null);
      t.equal(
        await available(),
        until === 'completed' ? 9 : until === 'insufficient_balance' ? 0.5 : 10,
        `${until}: a charge stays, a reservation does not`,
      );
      t.strictSame(await db.query('*', 'select 1 from reports where transcription_id = ?', [id]), []);
    }
  },
);

t.test('3.2 a report goes from queued to processing to completed or failed, after the transcription is completed', async (t) => {
  const { workspace, id, get } = await begin(10, '?reports=summary,tasks');
  const reports = async () =>
    (await get()).prompt_results as { slug: string; status: string; text: string | null; error_code: string | null }[];
  t.equal(await claimReport(db, engineId), null, 'reports wait for the text');
  await probe();
  await complete(db, (await take()).lease, await result(workspace, id, 60));
  t.match(await get(), { status: 'completed', prompt_results: [{ status: 'queued' }, { status: 'queued' }] });
  const first = (await claimReport(db, engineId))!;
  t.match(await reports(), [
    { slug: 'summary', status: 'processing', text: null },
    { slug: 'tasks', status: 'queued' },
  ]);
  t.equal(await completeReport(db, vault, first, 'They said hello.'), true);
  t.match(await reports(), [{ status: 'completed', text: 'They said hello.', error_code: null, completed_at: /Z$/ }, { status: 'queued' }]);
  t.equal(await failReport(db, (await claimReport(db, engineId))!, 'LLM_TIMEOUT'), true);
  t.match(await reports(), [{ status: 'completed' }, { status: 'failed', text: null, error_code: 'LLM_TIMEOUT', completed_at: null }]);
});
