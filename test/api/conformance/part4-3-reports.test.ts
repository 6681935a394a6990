import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';

const api = await testApi(t);
const { world } = api;
const REPORTS = 'POST /transcriptions/{id}/reports';
const setUp = async () => {
  const workspace = await world.workspace();
  const anna = await world.member(workspace, { role: 'owner' });
  return { workspace, anna, key: (await world.key(anna)).key };
};
const ask = (key: string, id: string, reports: unknown) => api.call(key, 'POST', `/v1/transcriptions/${id}/reports`, { body: { reports } });
const { workspace, anna, key } = await setUp();

t.test('202 with tickets in the order of the request; names are trimmed, lower-cased and deduplicated', async (t) => {
  const id = await world.transcription(anna);
  const { status, json } = await ask(key, id, [' Tasks', 'summary', 'TASKS', '']);
  t.equal(status, 202);
  t.match(json, {
    reports: [
      { slug: 'tasks', status: 'queued' },
      { slug: 'summary', status: 'queued' },
    ],
  });
  t.strictSame(Object.keys(json.reports[0]), ['id', 'slug', 'status']);
  const record = (await api.call(key, 'GET', `/v1/transcriptions/${id}`)).json;
  t.match(record.prompt_results, [{ slug: 'tasks', name: 'Tasks', status: 'queued', text: null }, { slug: 'summary' }]);
});

t.test('a queued, processing or completed report is returned, not generated again; a failed one may be requested again', async (t) => {
  const id = await world.transcription(anna);
  const kept = [await world.report(id, 'summary', 'completed', 'Fine.'), await world.report(id, 'tasks', 'processing')];
  const failed = await world.report(id, 'quotes', 'failed');
  const { json } = await ask(key, id, ['summary', 'tasks', 'quotes']);
  t.match(json.reports, [
    { id: kept[0], status: 'completed' },
    { id: kept[1], status: 'processing' },
    { slug: 'quotes', status: 'queued' },
  ]);
  t.not(json.reports[2].id, failed);
  const [row] = await api.db.query<{ reports_made: number }>('*', 'select reports_made from transcriptions where id = ?', [id]);
  t.equal(row!.reports_made, 1);
});

t.test('a transcription that is queued or processing accepts requests, as a completed one does', async (t) => {
  const waiting = async () =>
    (await api.db.query<{ n: string }>('*', 'select count(*) as n from reports where status = ?', ['queued']))[0]!.n;
  const before = Number(await waiting());
  for (const status of ['queued', 'processing', 'completed'] as const)
    t.match(await ask(key, await world.transcription(anna, { status }), ['summary']), { status: 202 });
  t.equal(Number(await waiting()), before + 3);
});

t.test('a transcription that failed or had insufficient minutes refuses requests', async (t) => {
  for (const status of ['failed', 'insufficient_balance'] as const) {
    const id = await world.transcription(anna, { status });
    t.match(await ask(key, id, ['summary']), provokes(REPORTS, 409, 'transcription_failed'));
  }
});

t.test('refusals: scope before 404; more than 3 before unknown ones; the first unknown slug is named; nothing is queued', async (t) => {
  const id = await world.transcription(anna);
  const readOnly = (await world.key(anna, ['read'])).key;
  t.match(await ask(readOnly, 'none', ['summary']), provokes(REPORTS, 403, 'reports_scope_required'));
  t.match(await ask(key, 'none', 7), provokes(REPORTS, 404, null));
  t.match(await ask(key, id, ['a', 'b', 'c', 'd']), provokes(REPORTS, 422, 'too_many_reports'));
  const unknown = await ask(key, id, ['summary', 'nope', 'never']);
  t.match(unknown, provokes(REPORTS, 422, 'prompt_not_found'));
  t.strictSame(unknown.json.detail, { slug: 'nope' });
  for (const reports of [[], [' '], 'summary', [7], undefined])
    t.match(await ask(key, id, reports), provokes(REPORTS, 422, 'validation_error'));
  t.strictSame((await api.call(key, 'GET', `/v1/transcriptions/${id}`)).json.prompt_results, []);
});

t.test("templates: built-in ones, the workspace's and the caller's own published ones exist; drafts and others' do not", async (t) => {
  const bob = await world.member(workspace);
  const stranger = await setUp();
  await world.template(workspace, 'shared');
  await world.template(workspace, 'mine', { owner: anna });
  await world.template(workspace, 'his', { owner: bob });
  await world.template(workspace, 'draft', { draft: true });
  await world.template(workspace, 'my-draft', { owner: anna, draft: true });
  await world.template(stranger.workspace, 'foreign');
  const { json } = await api.call(key, 'GET', '/v1/prompts');
  t.strictSame(
    json.prompts
      .filter((template: { kind: string }) => template.kind === 'custom')
      .map(({ slug, scope }: Record<string, string>) => [slug, scope]),
    [
      ['shared', 'workspace'],
      ['mine', 'personal'],
    ],
  );
  const id = await world.transcription(anna);
  t.match(await ask(key, id, ['shared', 'mine']), { status: 202 });
  for (const slug of ['his', 'draft', 'my-draft', 'foreign'])
    t.match(await ask(key, id, [slug]), { status: 422, json: { code: 'prompt_not_found' } });
  t.match(
    await api.call((await world.key(anna, ['read'])).key, 'GET', '/v1/prompts'),
    provokes('GET /prompts', 403, 'reports_scope_required'),
  );
});

t.test('30 generations per transcription, including failed ones; then report_generation_limit with a day to wait', async (t) => {
  const id = await world.transcription(anna);
  await api.db.acrossTenants((tx) => tx.rows('update transcriptions set reports_made = 28 where id = ?', [id]));
  const answer = await ask(key, id, ['summary', 'tasks', 'quotes']);
  t.match(answer, provokes(REPORTS, 429, 'report_generation_limit'));
  t.equal(answer.headers['retry-after'], '86400');
  t.match(await ask(key, id, ['summary', 'tasks']), { status: 202 });
  t.match(await ask(key, id, ['summary', 'tasks']), { status: 202 }, 'existing ones do not count');
  t.match(await ask(key, id, ['quotes']), { status: 429 });
});

t.test('300 reports per workspace and UTC day; Retry-After gives the seconds until midnight', async (t) => {
  const other = await setUp();
  const id = await world.transcription(other.anna);
  await ask(other.key, id, ['summary']);
  await api.db.acrossTenants((tx) =>
    tx.rows(`update counters set count = 299 where workspace_id = ? and name = 'reports'`, [other.workspace]),
  );
  const answer = await ask(other.key, id, ['tasks', 'quotes']);
  t.match(answer, provokes(REPORTS, 429, 'daily_reports_quota_exceeded'));
  const midnight = 86_400 - ((Date.now() / 1000) % 86_400);
  t.ok(Math.abs(Number(answer.headers['retry-after']) - midnight) < 60);
  t.match(await ask(other.key, id, ['tasks', 'summary']), { status: 202 });
});

t.test('200 reports waiting per workspace; then too_many_queued_reports', async (t) => {
  const other = await setUp();
  const id = await world.transcription(other.anna);
  await api.db.acrossTenants((tx) =>
    tx.rows(
      `insert into reports (workspace_id, transcription_id, slug, name, status) select ?::uuid, ?::uuid, 's' || i, 's', 'queued' from generate_series(1, 199) i`,
      [other.workspace, id],
    ),
  );
  const answer = await ask(other.key, id, ['tasks', 'quotes']);
  t.match(answer, provokes(REPORTS, 429, 'too_many_queued_reports'));
  t.ok(Number(answer.headers['retry-after']) >= 1);
  t.match(await ask(other.key, id, ['tasks']), { status: 202 });
});

t.test('concurrent requests for one slug make one report; concurrent requests for the last places never exceed the limit', async (t) => {
  const other = await setUp();
  const id = await world.transcription(other.anna);
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(other.key, id, ['summary'])));
  t.strictSame([...new Set(answers.map(({ status, json }) => `${status} ${json.reports[0].id}`))].length, 1);
  await api.db.acrossTenants((tx) =>
    tx.rows(`update counters set count = 297 where workspace_id = ? and name = 'reports'`, [other.workspace]),
  );
  const ids = await Promise.all(Array.from({ length: 6 }, () => world.transcription(other.anna)));
  const raced = await Promise.all(ids.map((each) => ask(other.key, each, ['tasks'])));
  t.equal(raced.filter(({ status }) => status === 202).length, 3);
});
