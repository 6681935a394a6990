/* A report that is written again after corrections, with the built-in writer of a courier and a real browser. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Courier } from '../../../engine/courier/courier.ts';
import { nextReport } from '../../../engine/courier/report.ts';
import { openWriter } from '../../../engine/reports/writer.ts';
import { openHoldings } from '../../../engine/tasks/holdings.ts';
import { faultsOf, openConsole, shot, signIn } from '../../support/console/browser.ts';
import { visit } from '../../support/console/console.ts';
import { SPEAKERS } from '../../support/databases/world.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const api = await openConsole(t, programs.chromium);
const { world, url, ann, key, browser, workspace, call, db, vault } = api;
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const holdings = openHoldings(db, silent);
t.teardown(() => holdings.close());
const courier: Courier = { id: randomUUID(), db, vault, log: silent, holdings, writer: openWriter({}), privateWebhooks: false };
const write = async () => (await nextReport(courier))!();

t.test('corrections of a person reach the second report, and outlive their membership', async (t) => {
  const bob = await world.member(workspace, { name: 'Bob', role: 'owner' });
  const hers = await visit(api, { key });
  const turns = [
    { start: 0, end: 6, speaker: 'speaker_1', text: 'We decided to paint the fridge green before the first of May.' },
    { start: 7, end: 12, speaker: 'speaker_2', text: 'The invoice for the paint is paid by the city, and the work begins on Monday.' },
  ];
  const id = await world.transcription(ann, { title: 'A call', turns, speakers: SPEAKERS, language: 'en' });
  const first = await world.report(id, 'summary', 'queued');
  await write();
  const text = async () => (await call(key, 'GET', `/v1/transcriptions/${id}`)).json.prompt_results[0].text as string;
  t.match(await text(), /fridge/);

  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const faults = faultsOf(page);
  await signIn(page, url, (await world.key(bob)).key);
  await page.goto(`${url}/#/t/${id}`);
  await page.click('#turn-1 .edit');
  await page.fill('textarea[aria-label="Text of the turn"]', turns[0]!.text.replace('fridge', 'bridge'));
  await page.selectOption('select[aria-label="Speaker of the turn"]', 'speaker_2');
  await page.click('.turn-editor >> text=Save');
  await page.waitForSelector('#turn-1 p:has-text("bridge")');
  await page.click('role=tab[name=/Reports/]');
  await page.click('button:text-is("Regenerate")');
  await page.waitForSelector('text=being written…');
  await write();
  await page.waitForSelector('.report .prose:has-text("bridge")');
  await page.click('.earlier summary');
  await page.waitForSelector('.earlier .prose:has-text("fridge")');
  await shot(page, 'second-report');
  t.strictSame(faults, []);
  await page.close();
  const second = await text();
  t.notMatch(second, /fridge/);

  t.equal((await hers.ask('DELETE', `/members/${bob.id}`)).status, 204);
  t.equal(await text(), second);
  const { segments } = (await call(key, 'GET', `/v1/transcriptions/${id}/export?format=json`)).json;
  t.match(segments, [{ text: /bridge/ }, {}]);
  t.equal(segments[0].speaker_id, segments[1].speaker_id, 'both turns are of one speaker');
  const exported = (await call(key, 'GET', `/v1/transcriptions/${id}/export?format=md`)).text;
  t.match(exported, /bridge/);
  t.notMatch(exported, /fridge/);
  const [report] = (await call(key, 'GET', `/v1/transcriptions/${id}`)).json.prompt_results;
  const history = await hers.ask('GET', `/transcriptions/${id}/reports/${report.id}/history`);
  t.match(history.json.items, [{ id: first, text: /fridge/ }]);
});
