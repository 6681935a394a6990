import t from 'tap';
import { claimReport, completeReport, failReport } from '../../../db/reports/work.ts';
import { faultsOf, findings, openConsole, shot, signIn } from '../../support/console/browser.ts';
import { visit } from '../../support/console/console.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const api = await openConsole(t, programs.chromium);
const { world, url, ann, key, browser, workspace, call, db, vault } = api;
const hers = await visit(api, { key });
const ENGINE = '00000000-0000-4000-8000-000000000001';

/** An engine claims the next report and completes or fails it. */
async function engineWrites(text: string | null): Promise<void> {
  const claim = (await claimReport(db, ENGINE))!;
  if (text === null) await failReport(db, claim, 'LLM_TIMEOUT');
  else await completeReport(db, vault, claim, text);
}

const results = async (id: string) => (await call(key, 'GET', `/v1/transcriptions/${id}`)).json.prompt_results;

t.test('regenerate() replaces the old report with a new one, and keeps the old one in the history', async (t) => {
  const id = await world.transcription(ann);
  const old = await world.report(id, 'summary', 'completed', 'The first.');
  const before = await call(key, 'GET', `/v1/transcriptions/${id}`);
  const made = await hers.ask('POST', `/transcriptions/${id}/reports/${old}/regenerate`);
  t.match(made, { status: 202, json: { id: /^[0-9a-f-]{36}$/, slug: 'summary', status: 'queued' } });
  t.not(made.json.id, old);
  t.match(await results(id), [{ id: made.json.id, slug: 'summary', status: 'queued' }]);
  t.equal((await results(id)).length, 1, 'one report per slug');
  t.not((await call(key, 'GET', `/v1/transcriptions/${id}`)).headers.etag, before.headers.etag);
  const twice = await hers.ask('POST', `/transcriptions/${id}/reports/${old}/regenerate`);
  t.strictSame(twice.json, made.json, 'a report in progress is not generated twice');
  const requested = await call(key, 'POST', `/v1/transcriptions/${id}/reports`, { body: { reports: ['summary'] } });
  t.match(requested.json.reports, [made.json], 'a request returns the new report');
  await engineWrites('The second.');
  t.match(await results(id), [{ id: made.json.id, status: 'completed', text: 'The second.' }]);
  const third = await hers.ask('POST', `/transcriptions/${id}/reports/${made.json.id}/regenerate`);
  await engineWrites('The third.');
  const { json } = await hers.ask('GET', `/transcriptions/${id}/reports/${third.json.id}/history`);
  t.match(json.items, [
    { id: made.json.id, text: 'The second.' },
    { id: old, text: 'The first.' },
  ]);
  const exported = (await call(key, 'GET', `/v1/transcriptions/${id}/export?format=md`)).text;
  t.match(exported, 'The third.');
  t.notMatch(exported, /The first|The second/);
});

t.test('regenerate() restores the old report when the new one fails', async (t) => {
  const id = await world.transcription(ann);
  const old = await world.report(id, 'tasks', 'completed', 'Call Bob.');
  const { json } = await hers.ask('POST', `/transcriptions/${id}/reports/${old}/regenerate`);
  await engineWrites(null);
  const shown = await results(id);
  t.match(
    shown.find((report: { id: string }) => report.id === old),
    { status: 'completed', text: 'Call Bob.' },
  );
  t.match(
    shown.find((report: { id: string }) => report.id === json.id),
    { status: 'failed', error_code: 'LLM_TIMEOUT' },
  );
  t.strictSame((await hers.ask('GET', `/transcriptions/${id}/reports/${old}/history`)).json.items, []);
  t.equal((await hers.ask('POST', `/transcriptions/${id}/reports/${old}/regenerate`)).status, 202, 'it can be tried again');
  await engineWrites('Call Bob today.');
});

t.test('regenerate() is counted, limited and refused like a report request', async (t) => {
  const id = await world.transcription(ann);
  const old = await world.report(id, 'bant', 'completed', 'Budget.');
  const path = `/transcriptions/${id}/reports/${old}/regenerate`;
  const used = async () =>
    (await db.acrossTenants((tx) =>
      tx.row<{ made: number; today: number }>(
        `select t.reports_made as made, (select count from counters c where c.workspace_id = t.workspace_id and c.name = 'reports') as today
         from transcriptions t where t.id = ?`,
        [id],
      ),
    ))!;
  const before = await used();
  await hers.ask('POST', path);
  t.strictSame(await used(), { made: before.made + 1, today: before.today + 1 });
  await engineWrites('More budget.');
  await db.acrossTenants((tx) => tx.rows('update transcriptions set reports_made = 30 where id = ?', [id]));
  t.match(await hers.ask('POST', path), { status: 429, json: { code: 'report_generation_limit' } });
  t.match(await results(id), [{ slug: 'bant', text: 'More budget.' }], 'a refusal changes nothing');
  const outsider = await visit(api, await world.key(await world.member(workspace, { name: 'Bob' })));
  t.equal((await outsider.ask('POST', path)).status, 404);
  t.equal((await outsider.ask('GET', `/transcriptions/${id}/reports/${old}/history`)).status, 404);
  const reader = await visit(api, await world.key(ann, ['read']));
  t.match(await reader.ask('POST', path), { status: 403, json: { code: 'reports_scope_required' } });
  t.equal((await hers.ask('POST', `/transcriptions/${id}/reports/${id}/regenerate`)).status, 404);
  const elsewhere = await world.transcription(ann);
  t.equal((await hers.ask('POST', `/transcriptions/${elsewhere}/reports/${old}/regenerate`)).status, 404, 'a report of another transcript');
  const own = await world.report(id, 'gone-template', 'completed', 'Of a template that is gone.');
  await db.acrossTenants((tx) => tx.rows('update transcriptions set reports_made = 0 where id = ?', [id]));
  t.match(await hers.ask('POST', `/transcriptions/${id}/reports/${own}/regenerate`), { json: { code: 'prompt_not_found' } });
});

t.test('a person regenerates a report and reads its earlier version, by keyboard', async (t) => {
  const id = await world.transcription(ann, { title: 'A call' });
  await world.report(id, 'summary', 'completed', 'They **agreed**.');
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const faults = faultsOf(page);
  await signIn(page, url, key);
  await page.goto(`${url}/#/t/${id}`);
  await page.click('role=tab[name=/Reports/]');
  await page.focus('button:text-is("Regenerate")');
  await page.keyboard.press('Enter');
  await page.waitForSelector('text=being written…');
  await engineWrites('They disagreed.');
  await page.waitForSelector('.report .prose:has-text("They disagreed.")');
  await page.focus('.earlier summary');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.earlier .prose:has-text("They agreed.")');
  t.strictSame(await findings(page), []);
  await shot(page, 'report-history');
  t.strictSame(faults, []);
  await page.close();
});
