import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { openConsole, signIn } from '../../support/console/browser.ts';
import { needPrograms } from '../../support/processes/programs.ts';

// A person who types while the service answers.
const programs = needPrograms(t, 'chromium');
const { world, url, ann, key, browser } = await openConsole(t, programs.chromium);
await world.transcription(ann, { title: 'A call', metadata: '{"deal": 7}' });
await world.transcription(ann, { status: 'processing', filename: 'now.mp3' });

const SEARCH = 'search input[name=q]';

/** Holds the requests of a page that match, in their order. */
async function hold(page: Page, which: RegExp, method = 'GET'): Promise<Route[]> {
  const held: Route[] = [];
  await page.route(which, (route) => (route.request().method() === method ? held.push(route) : route.continue()));
  return held;
}

t.test('Filters() keeps the focus in the search field when a search begins and when it is emptied, and follows the history', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.focus(SEARCH);
  await page.keyboard.type('hello');
  await page.keyboard.press('Enter');
  await page.waitForSelector('[role=status]:has-text("Found in")');
  await page.keyboard.type(' there');
  t.equal(await page.inputValue(SEARCH), 'hello there');
  for (const _ of 'hello there') await page.keyboard.press('Backspace');
  await page.waitForSelector('nav[aria-label="Status"]');
  await page.keyboard.type('bicycle');
  t.equal(await page.inputValue(SEARCH), 'bicycle');
  await page.keyboard.press('Enter');
  await page.waitForSelector('[role=status]:has-text("Found in")');
  await page.goBack();
  await page.waitForSelector('nav[aria-label="Status"]');
  t.equal(await page.inputValue(SEARCH), '');
  await page.goBack();
  await page.waitForSelector('[role=status]:has-text("Found in")');
  t.equal(await page.inputValue(SEARCH), 'hello');
  await page.close();
});

t.test('Filters() keeps what is typed into a filter while the list is loaded, and says what metadata must look like', async (t) => {
  const page = await browser.newPage();
  const held = await hold(page, /status=queued&limit=1$/);
  await signIn(page, url, key);
  await page.click('button:has-text("Filters")');
  await page.fill('label:has-text("External ID") input', 'deal-7');
  for (const route of held.splice(0)) await route.continue();
  await page.unrouteAll();
  await page.waitForSelector('nav[aria-label="Status"] a:has-text("Waiting") .figure');
  t.equal(await page.inputValue('label:has-text("External ID") input'), 'deal-7');
  await page.keyboard.press('Enter');
  await page.waitForURL(/external_id=deal-7/);
  await page.click('text=Clear');
  await page.waitForFunction(() => !location.hash.includes('external_id'));
  t.equal(await page.inputValue('label:has-text("External ID") input'), '');

  for (const wrong of ['deal', 'deal=', '=7']) {
    await page.fill('label:has-text("Metadata") input', wrong);
    await page.keyboard.press('Enter');
    await page.waitForSelector(`search [role=alert]:has-text("“${wrong}” needs a key, = and a value, as in deal=42")`);
    t.equal(await page.inputValue('label:has-text("Metadata") input'), wrong);
  }
  await page.fill('label:has-text("Metadata") input', 'deal=7');
  await page.keyboard.press('Enter');
  await page.waitForSelector('button:has-text("deal=7")');
  t.equal(await page.locator('search [role=alert]').count(), 0);
  await page.close();
});

t.test('Form() keeps what is typed while the entry before is being saved', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/workspace/projects`);
  const held = await hold(page, /\/projects$/, 'POST');
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await page.fill('input[name=name]', 'Research');
  await page.keyboard.press('Enter');
  await sent;
  await page.fill('input[name=name]', 'Sales');
  await held[0]!.continue();
  await page.unrouteAll();
  await page.waitForSelector('summary:has-text("Research")');
  t.equal(await page.inputValue('input[name=name]'), 'Sales');
  await page.keyboard.press('Enter');
  await page.waitForSelector('summary:has-text("Sales")');
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('input[name=name]')!.value === '');
  await page.close();
});

t.test('Preferences() keeps what is typed while the settings are being saved, and shows those that are', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/workspace/settings`);
  await page.fill('textarea', 'Zwolle');
  const held = await hold(page, /\/settings$/, 'PUT');
  const sent = page.waitForRequest((request) => request.method() === 'PUT');
  await page.click('button:text-is("Save")');
  await sent;
  await page.fill('textarea', 'Zwolle, Longhand');
  await held[0]!.continue();
  await page.unrouteAll();
  await page.waitForSelector('button:text-is("Save"):enabled');
  await page.waitForTimeout(300); // what arrives after that would be visible
  t.equal(await page.inputValue('textarea'), 'Zwolle, Longhand');
  t.equal(await page.locator('[role=status]:text-is("Saved")').count(), 0, 'this is not');
  await hold(page, /\/settings$/); // what is saved need not be loaded
  await page.click('button:text-is("Save")');
  await page.waitForSelector('[role=status]:text-is("Saved")');
  t.equal(await page.inputValue('textarea'), 'Zwolle, Longhand');
  await page.close();
});

t.test('useLoaded() shows what a slow service answers, though it has been asked again since', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/workspace`);
  const held = await hold(page, /\/listing\?/);
  const asked = () => page.waitForRequest(/\/listing\?/);
  const first = asked();
  await page.goto(`${url}/#/`);
  await first;
  await asked(); // again: something is being transcribed
  await held[0]!.continue();
  await page.waitForSelector('a.open:text-is("A call")');
  t.equal(await page.locator('tbody tr').count(), 2);
  await page.close();
});
