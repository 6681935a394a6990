import type { Page } from 'playwright-core';
import t from 'tap';
import { faultsOf, findings, openConsole, signIn } from '../../support/browser.ts';
import { needPrograms } from '../../support/programs.ts';

// Sessions that end while a page is open.
const programs = needPrograms(t, 'chromium');
const { world, db, url, workspace, ann, key, browser } = await openConsole(t, programs.chromium);
const { key: bobsKey } = await world.key(await world.member(workspace, { name: 'Bob', email: 'bob@example.com' }));
const PROMPT = 'List every promise about a delivery date.';
const PROMPTED = 'section[aria-label="Template"] textarea';
const ASKED = 'dialog:has-text("Your session has ended")';

const endSessions = () => db.acrossTenants((tx) => tx.rows('update sessions set expires_at = now() where member_id = ?', [ann.id]));

/** Types a template, which is not saved. */
async function type(page: Page, name: string): Promise<void> {
  await page.goto(`${url}/#/workspace/templates`);
  await page.click('text=New template');
  await page.fill('section[aria-label="Template"] input >> nth=0', name);
  await page.fill(PROMPTED, PROMPT);
}

async function signInAgain(page: Page, as: string): Promise<void> {
  await page.fill(`${ASKED} >> input[name=key]`, as);
  await page.keyboard.press('Enter');
  await page.waitForSelector(ASKED, { state: 'detached' });
}

t.test('App() keeps the page when the session ends: what was typed is saved after signing in again, in every tab', async (t) => {
  const context = await browser.newContext();
  const [page, other] = [await context.newPage(), await context.newPage()];
  const faults = faultsOf(page);
  await signIn(page, url, key);
  await type(page, 'Promises');
  await type(other, 'Dates');
  await endSessions();
  await page.dispatchEvent('button:text-is("Save")', 'click'); // the bell may have asked for the notices before
  await page.waitForSelector(ASKED);
  t.strictSame(await findings(page), []);
  for (let n = 0; n < 3; n++) await page.keyboard.press('Escape');
  await page.waitForSelector(`${ASKED}[open]`);
  await page.fill(`${ASKED} >> input[name=key]`, 'lh_wrong');
  await page.keyboard.press('Enter');
  await page.waitForSelector(`${ASKED} >> [role=alert]:has-text("This key is not valid")`);
  await signInAgain(page, key);
  t.equal(await page.inputValue(PROMPTED), PROMPT);
  for (const [tab, name] of [
    [page, 'Promises'],
    [other, 'Dates'],
  ] as const) {
    await tab.click('button:text-is("Save")');
    await tab.waitForSelector(`article:has-text("${name}")`);
  }
  t.strictSame(faults, []);
  await context.close();
});

t.test('ask() sends nothing with a session that has ended; what failed is loaded once the person has signed in again', async (t) => {
  const page = await (await browser.newContext()).newPage();
  await signIn(page, url, key);
  await endSessions();
  await page.goto(`${url}/#/workspace`);
  await page.waitForSelector(ASKED);
  const sent: string[] = [];
  page.on('request', (request) => sent.push(new URL(request.url()).pathname));
  await page.evaluate(() => location.assign('#/workspace/projects'));
  await page.waitForSelector('[role=alert]:has-text("Your session has ended: sign in again")');
  t.strictSame(sent, []);
  await signInAgain(page, key);
  await page.waitForSelector('text=No projects yet');
  t.equal(await page.locator('[role=alert]').count(), 0);
  await page.context().close();
});

t.test('App() forgets the page when somebody else signs in', async (t) => {
  const page = await (await browser.newContext()).newPage();
  await signIn(page, url, key);
  await type(page, 'Of Ann');
  await endSessions();
  await page.dispatchEvent('button:text-is("Save")', 'click'); // the bell may have asked for the notices before
  await page.waitForSelector(ASKED);
  await signInAgain(page, bobsKey);
  await page.waitForSelector('button:text-is("New template")');
  t.equal(await page.locator(PROMPTED).count(), 0);
  await page.click('summary[aria-label="Account"]');
  await page.waitForSelector('.menu >> text=bob@example.com');
  await page.context().close();
});

t.test('Account() says so when signing out fails; when it succeeds, every tab shows the sign-in page', async (t) => {
  const context = await browser.newContext();
  const [page, other] = [await context.newPage(), await context.newPage()];
  await signIn(page, url, key);
  await other.goto(`${url}/#/workspace`);
  await other.waitForSelector('text=Limits');
  await page.route('**/v1/app/session', (route) => (route.request().method() === 'DELETE' ? route.abort() : route.continue()));
  await page.click('summary[aria-label="Account"]');
  await page.click('text=Sign out');
  await page.waitForSelector('.menu [role=alert]:has-text("The service cannot be reached")');
  await page.unrouteAll();
  await page.click('text=Sign out');
  for (const tab of [page, other]) await tab.waitForSelector('main.enter input[name=key]');
  t.equal(await other.locator('text=Limits').count(), 0);
  await context.close();
});
