import type { Page } from 'playwright-core';
import t from 'tap';
import { openConsole, signIn } from '../../support/console/browser.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const { world, db, url, workspace, ann, key, browser } = await openConsole(t, programs.chromium);
const bob = await world.member(workspace, { name: 'Bob' });
const [sales, closed] = [await world.project(workspace, 'Sales'), await world.project(workspace, 'Closed')];
await world.join(sales, bob, 'editor');
await world.join(closed, bob, 'viewer');
const talk = await world.transcription(ann, { projectId: sales });

t.test('every filter of the list includes and excludes, combined and across pages; an empty list has a message', async (t) => {
  const many = await world.workspace({ name: 'Many' });
  const eve = await world.member(many, { role: 'owner' });
  const project = await world.project(many, 'Support');
  for (let i = 0; i < 25; i++)
    await world.transcription(eve, {
      title: `Call ${i}`,
      language: 'de',
      duration: 60 + i,
      createdAt: `2026-03-${String(i + 1).padStart(2, '0')}T12:00:00Z`,
    });
  await world.transcription(eve, {
    ...{ title: 'The one', language: 'fr', projectId: project, externalId: 'deal-7', metadata: '{"deal": 7, "stage": "won"}' },
    createdAt: '2026-01-15T12:00:00Z',
  });
  const page = await browser.newPage();
  await signIn(page, url, (await world.key(eve)).key);
  const titles = () => page.locator('a.open').allTextContents();
  const found = (text: string) => page.waitForFunction((wanted) => document.querySelector('tbody')?.textContent?.includes(wanted), text);
  await found('Call 24');
  t.equal((await titles()).length, 20);
  await page.waitForSelector('text=audio or video, up to 2 GB and 10 hours each');
  await page.click('text=Next');
  await found('The one');
  t.equal((await titles()).length, 6);
  await page.selectOption('select[aria-label=Order]', 'duration');
  await page.waitForFunction(() => document.querySelector('a.open')?.textContent === 'The one');
  t.equal((await titles()).length, 20, 'the shortest first, from the first page');
  await page.click('button:has-text("Filters")');
  const only = async (name: string) => {
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
    t.strictSame(await titles(), ['The one'], name);
    await page.click('text=Clear');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 20);
    t.equal(await page.inputValue('select[aria-label=Order]'), 'duration', 'the order stays');
  };
  await page.selectOption('label:has-text("Project") select >> nth=-1', project);
  await only('project');
  await page.selectOption('.more label:has-text("Language") select', 'fr');
  await only('language');
  await page.fill('label:has-text("External ID") input', 'deal-7');
  await page.keyboard.press('Enter');
  await only('external id');
  for (const one of ['deal=7', 'stage=won']) {
    await page.fill('label:has-text("Metadata") input', one);
    await page.keyboard.press('Enter');
    await page.waitForSelector(`button:has-text("${one}")`);
  }
  await only('metadata');
  for (const at of [0, 1]) {
    await page.locator('.more input[type=date]').nth(at).fill('2026-01-15');
    await page.locator('.more input[type=date]').nth(at).blur();
  }
  await only('dates');
  await page.click('.tabs >> text=Failed');
  await page.waitForSelector('text=Nothing here');
  t.ok(page.url().includes('status=failed'), 'the address can be shared');
  await page.goto(`${url}/#/?external_id=none`);
  await page.waitForSelector('text=Nothing matches these filters');
  await page.close();
});

t.test('List() shows no rows, and nothing to select, of other filters when those asked for cannot be loaded', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.waitForSelector('tbody tr');
  await page.check('text=Select page');
  await page.route('**/v1/app/**status=failed*', (route) => route.abort());
  await page.click('.tabs >> text=Failed');
  await page.waitForSelector('[role=alert]:has-text("cannot be reached")');
  t.equal(await page.locator('tbody tr').count(), 0);
  t.equal(await page.locator('[aria-label="Selection"]').count(), 0);
  await page.route('**/v1/app/**language=de*', (route) => route.abort());
  await page.goto(`${url}/#/?language=de`);
  await page.waitForSelector('[role=alert]:has-text("cannot be reached")');
  await page.waitForFunction(() => !document.querySelector('.tabs .figure')); // neither are there their numbers
  t.equal(await page.locator('tbody tr').count(), 0);
  await page.close();
});

t.test('List() shows the last page there is when the rows of a later one are deleted', async (t) => {
  const many = await world.workspace({ name: 'A page and one' });
  const eve = await world.member(many, { role: 'owner' });
  for (let n = 0; n < 21; n++) await world.transcription(eve, { title: `Call ${n}` });
  const page = await browser.newPage();
  await signIn(page, url, (await world.key(eve)).key);
  await page.click('text=Next');
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
  await page.check('text=Select page');
  await page.click('.bulk >> text=Delete…');
  await page.click('dialog >> button:text-is("Delete")');
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 20);
  t.equal(await page.locator('text=No transcripts yet').count(), 0);
  await page.close();
});

t.test('an unreachable service is reported in a sentence, and tried again', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.waitForSelector('tbody tr');
  await page.route('**/v1/app/**', (route) => route.abort());
  await page.goto(`${url}/#/workspace`);
  await page.waitForSelector('[role=alert]:has-text("cannot be reached")');
  await page.unroute('**/v1/app/**');
  await page.click('text=Try again');
  await page.waitForSelector('text=Limits');
  t.equal(await page.locator('[role=alert]').count(), 0);
  await page.close();
});

t.test('a failed upload shows the reason, is sent again, and becomes one transcription', async (t) => {
  const empty = await world.workspace({ name: 'No minutes', minutes: 0 });
  const eve = await world.member(empty, { role: 'owner' });
  const page = await browser.newPage();
  await signIn(page, url, (await world.key(eve)).key);
  const files = ['a.mp3', 'b.mp3', 'c.txt'].map((name) => ({ name, mimeType: 'audio/mpeg', buffer: Buffer.alloc(8_192, 7) }));
  await page.setInputFiles('input[type=file]', files);
  for (const { name } of files) await page.waitForSelector(`tr:has-text("${name}") >> text=Send again`); // some are sent in parallel
  t.match(await page.textContent('tr:has-text("a.mp3")'), /minutes/);
  t.match(await page.textContent('tr:has-text("c.txt")'), /format/);
  await db.acrossTenants((tx) => tx.rows('update workspaces set balance_minutes = 100 where id = ?', [empty]));
  let broken = 0;
  await page.route('**/v1/app/transcriptions?*', (route) =>
    route.request().method() === 'POST' && broken++ === 0 ? route.abort() : route.continue(),
  );
  await page.click('text=Send all 3 failed again');
  for (const name of ['a.mp3', 'b.mp3']) await page.waitForSelector(`tr:not(.sending) a.open:text-is("${name}")`);
  t.ok(broken > 1, 'the connection was interrupted');
  await page.click('text=Language, speakers, project');
  await page.goto(`${url}/#/workspace`);
  await page.click('a:text-is("Transcripts")');
  await page.waitForSelector('a.open:text-is("a.mp3")');
  await page.waitForSelector('tr:has-text("c.txt") >> text=Not uploaded'); // the refusal is still shown
  const rows = await db.query<{ count: number }>(empty, `select count(*)::int as count from transcriptions where status = 'queued'`);
  t.equal(rows[0]!.count, 2);
  await page.close();
});

t.test('a person who may only read sees no upload and no buttons that would be refused', async (t) => {
  const look = async (page: Page, id: string) => {
    await page.goto(`${url}/#/t/${id}`);
    await page.waitForSelector('.turn');
    await page.waitForSelector('.speakers');
    return { rename: await page.locator('button.speaker').count(), remove: await page.locator('text=Delete…').count() };
  };
  const reader = await browser.newContext().then((context) => context.newPage());
  await signIn(reader, url, (await world.key(ann, ['read'])).key);
  await reader.waitForSelector('tbody tr');
  t.equal(await reader.locator('input[type=file]').count(), 0);
  t.strictSame(await look(reader, talk), { rename: 0, remove: 0 });
  await reader.click('role=tab[name=/Reports/]');
  t.equal(await reader.locator('text=Write this report').count(), 0);
  const viewer = await browser.newContext().then((context) => context.newPage());
  await signIn(viewer, url, (await world.key(bob)).key);
  await viewer.click('text=Language, speakers, project');
  await viewer.waitForSelector('.drop option:text-is("Sales")', { state: 'attached' });
  t.equal(await viewer.locator('.drop option:text-is("Closed")').count(), 0);
  t.equal(await viewer.locator('a:text-is("Activity")').count(), 0);
  const seen = await world.transcription(ann, { projectId: closed });
  t.strictSame(await look(viewer, seen), { rename: 0, remove: 0 });
  await viewer.goto(`${url}/#/t/${talk}`);
  await viewer.waitForSelector('button.speaker');
  await viewer.goto(`${url}/#/workspace/members`);
  await viewer.waitForSelector('h1:text-is("Overview")');
  for (const page of [reader, viewer]) await page.context().close();
});
