import type { Route } from 'playwright-core';
import t from 'tap';
import { faultsOf, findings, openConsole, shot, signIn } from '../../support/console/browser.ts';
import { SPEAKERS } from '../../support/databases/world.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const { world, db, url, ann, key, browser } = await openConsole(t, programs.chromium);

const HOSTILE = `# <img src=x onerror="document.title='owned'"> Minutes

<script>document.title = 'owned'</script>
<form action="/v1/app/keys" method="post"><button>Press</button></form>

- [ ] Call **Ann** [00:02]
- [x] [Press here](javascript:document.title='owned') or [here](https://evil.example/)

| Who | What |
|---|---|
| ![x](https://evil.example/pixel.png) | <svg/onload=alert(1)> |
`;

t.test('a report in hostile Markdown does no harm: it is shown as text, and its times link to their turns', async (t) => {
  const turns = [
    { start: 0, end: 1.5, speaker: 'speaker_1', text: 'Good morning.' },
    { start: 2, end: 4, speaker: 'speaker_2', text: 'Please call Ann.' },
  ];
  const id = await world.transcription(ann, { title: 'A call', duration: 5, turns, speakers: SPEAKERS });
  await world.report(id, 'minutes', 'completed', HOSTILE);
  const page = await browser.newPage();
  const faults = faultsOf(page);
  const external: string[] = [];
  const renderer: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) external.push(request.url());
    if (/\/render-[^/]*\.js$/.test(request.url())) renderer.push(request.url());
  });
  await signIn(page, url, key);
  t.strictSame(renderer, [], 'the renderer is not part of the first load');
  await page.goto(`${url}/#/t/${id}`);
  await page.click('role=tab[name=/Reports/]');
  await page.waitForSelector('div.prose h3');
  t.equal(renderer.length, 1, 'it is loaded with the first report');
  const prose = page.locator('div.prose');
  t.equal(await prose.locator('script, img, svg, form, button, iframe, input').count(), 0);
  t.match(await prose.textContent(), /<script>document.title = 'owned'<\/script>/);
  t.match(await prose.locator('li').allTextContents(), [
    /☐ Call Ann \[00:02\]/,
    /☑ Press here \(javascript:.*\) or here \(https:\/\/evil.example\/\)/,
  ]);
  t.strictSame(await prose.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href'))), [`#/t/${id}?turn=2`]);
  t.equal(await prose.locator('table td').count(), 2);
  t.notMatch(await page.title(), /owned/);
  t.strictSame(external, []);
  t.strictSame(faults, []);
});

t.test(
  'a checklist is a scored table whose evidence links to its moment; a report and a summary without a language model have a notice',
  async (t) => {
    const turns = [
      { start: 0, end: 1.5, speaker: 'speaker_1', text: 'Good morning.' },
      { start: 72, end: 74, speaker: 'speaker_2', text: 'Thank you.' },
    ];
    const id = await world.transcription(ann, { title: 'A call', summary: 'Good morning.', duration: 80, turns, speakers: SPEAKERS });
    const checklist =
      '**Checklist**\n\n- ✓ Greeting: [00:00] Speaker 1: Good morning.\n- ✗ Name | role: not heard\n- ~ Farewell: partly\n- ✓ Thanks: [01:12] Speaker 2: Thank you.';
    const report = await world.report(id, 'call-quality-checklist', 'completed', checklist);
    await world.report(id, 'minutes', 'completed', 'By a model.');
    await db.query('*', `update reports set writer = case when id = ?::uuid then 'extractive' else 'model' end`, [report]);
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await signIn(page, url, key);
    await page.goto(`${url}/#/t/${id}`);
    await page.click('role=tab[name=/Reports/]');
    const one = page.locator('.report:has-text("call-quality-checklist")');
    await one.locator('text=Extractive, no language model configured').waitFor();
    t.equal(await page.locator('text=Extractive, no language model configured').count(), 1);
    await db.query('*', `update transcriptions set summary_writer = 'extractive' where id = ?::uuid`, [id]);
    await page.reload();
    await page.locator('.aside >> text=Extractive, no language model configured').waitFor();
    await page.click('role=tab[name=/Reports/]');
    await one.locator('summary').first().click();
    await one.locator('table').waitFor();
    t.match(await one.locator('.prose').textContent(), /2 of 4/);
    t.strictSame(await one.locator('td:first-child').allTextContents(), ['✓', '✗', '~', '✓']);
    t.match(await one.locator('table').textContent(), /Name \| role/);
    t.strictSame(await findings(page), []);
    await shot(page, 'checklist');
    await one.locator('a:has-text("01:12")').click();
    await page.waitForSelector('#turn-2.wanted');
    await page.click('role=tab[name=/Reports/]');
    await one.locator('summary').first().click();
    await one.locator('a:has-text("01:12")').click(); // the URL stays the same
    await page.waitForSelector('#turn-2.wanted');
    await page.close();
  },
);

t.test('TranscriptPage() keeps the notice of a report without a language model while another report completes', async (t) => {
  const id = await world.transcription(ann, { title: 'A call' });
  const report = await world.report(id, 'summary', 'completed', 'Good morning.');
  const second = await world.report(id, 'minutes', 'processing');
  await db.query('*', `update reports set writer = case when id = ?::uuid then 'extractive' else 'model' end`, [report]);
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/t/${id}`);
  await page.click('role=tab[name=/Reports/]');
  await page.waitForSelector('.report >> text=Extractive, no language model configured');
  const asked = new Promise<Route>((held) => page.route('**/reports/extractive*', held));
  const requested = page.waitForRequest('**/reports/extractive*');
  await db.query('*', `update reports set status = 'completed', completed_at = now() where id = ?::uuid`, [second]);
  await db.query('*', 'update transcriptions set updated_at = now() where id = ?::uuid', [id]);
  await requested;
  const route = await asked;
  await page.waitForSelector('text=being written…', { state: 'detached' });
  t.equal(await page.locator('.report >> text=Extractive, no language model configured').count(), 1);
  const loaded = page.waitForResponse((response) => response.url().includes('/reports/extractive'));
  await route.continue();
  await loaded;
  t.equal(await page.locator('.report >> text=Extractive, no language model configured').count(), 1);
  await page.close();
});

t.test('where no title and topics are known, the page shows the file name and no topics', async (t) => {
  const id = await world.transcription(ann, { filename: 'Call 17.mp3', summary: 'The delivery is late.', topics: [] });
  const page = await browser.newPage();
  const faults = faultsOf(page);
  await signIn(page, url, key);
  await page.click(`tr a.open[href="#/t/${id}"]:text-is("Call 17.mp3")`);
  await page.waitForSelector('h1:text-is("Call 17.mp3")');
  t.equal(await page.title(), 'Call 17.mp3 · Longhand');
  t.match(await page.textContent('.aside'), /The delivery is late\./);
  t.equal(await page.locator('.aside .chip').count(), 0);
  t.notMatch(await page.textContent('main'), /null|undefined|untitled/i);
  t.strictSame(faults, []);
  await page.close();
});
