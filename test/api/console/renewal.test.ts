import type { Page, Route } from 'playwright-core';
import t from 'tap';
import { faultsOf, findings, openConsole, signIn } from '../../support/console/browser.ts';
import { needPrograms } from '../../support/processes/programs.ts';

// Sessions that end while a page is open.
const programs = needPrograms(t, 'chromium');
const { world, db, url, workspace, ann, key, browser } = await openConsole(t, programs.chromium);
const { key: bobsKey } = await world.key(await world.member(workspace, { name: 'Bob', email: 'bob@example.com' }));
const PROMPT = 'List every promise about a delivery date.';
const PROMPTED = 'section[aria-label="Template"] textarea';
const ASKED = 'dialog:has-text("Your session has ended")';

const recording = (name: string) => ({ name, mimeType: 'audio/mpeg', buffer: Buffer.alloc(8_192, 1) });

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
  const told = other.waitForResponse('**/v1/app/session');
  await signInAgain(page, key);
  await (await told).finished();
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
  page.on('request', (request) => request.url().endsWith('/options') || sent.push(new URL(request.url()).pathname)); // needs no session
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

/** Hands each upload of the page to `handle`. */
const onUpload = (page: Page, handle: (route: Route, key: string) => unknown) =>
  page.route('**/v1/app/transcriptions?*', (route) =>
    route.request().method() === 'POST' ? handle(route, route.request().headers()['idempotency-key']!) : route.fallback(),
  );

t.test('createQueue() waits when the session has ended, and uploads every file once after signing in again', async (t) => {
  const page = await (await browser.newContext()).newPage();
  await signIn(page, url, key);
  await page.route('**/v1/app/**', (route) => (route.request().method() === 'GET' ? route.abort() : route.continue()));
  const sent: string[] = [];
  await onUpload(page, (route, key) => {
    sent.push(key);
    return route.continue();
  });
  const names = ['one.mp3', 'two.mp3', 'three.mp3', 'four.mp3'];
  await endSessions();
  await page.setInputFiles('input[type=file]', names.slice(1).map(recording));
  await page.waitForSelector(ASKED);
  await page.setInputFiles('input[type=file]', recording(names[0]!));
  for (const name of names) await page.waitForSelector(`.sending:has-text("${name}") >> text=Waiting to upload`);
  t.equal(sent.length, 2, 'the two that were sent at once');
  await page.unroute('**/v1/app/**');
  await signInAgain(page, key);
  for (const name of names) await page.waitForSelector(`tr:not(.sending) a.open:text-is("${name}")`);
  t.equal(sent.length, 6);
  t.equal(new Set(sent).size, 4, 'each keeps its Idempotency-Key');
  const rows = await db.query<{ count: number }>(workspace, `select count(*)::int as count from transcriptions where status = 'queued'`);
  t.equal(rows[0]!.count, 4);
  await page.context().close();
});

t.test('createQueue() sends again what an ended session left unsent, though the person has signed in meanwhile', async (t) => {
  const page = await (await browser.newContext()).newPage();
  await signIn(page, url, key);
  const held: Route[] = [];
  const sent: string[] = [];
  await onUpload(page, (route, key) => {
    sent.push(key);
    return sent.length > 2 ? route.continue() : held.push(route);
  });
  await page.setInputFiles('input[type=file]', ['refused.mp3', 'lost.mp3'].map(recording));
  await page.waitForSelector('.sending:has-text("lost.mp3") >> text=Uploading');
  await endSessions();
  await page.evaluate(() => location.assign('#/workspace'));
  await page.waitForSelector(ASKED);
  const [refused, lost] = held;
  await lost!.abort();
  await page.evaluate(() => location.assign('#/'));
  await page.waitForSelector('.sending >> text=Waiting to upload');
  t.equal(sent.length, 2, 'what was lost is not repeated with the ended session');
  await signInAgain(page, key);
  await refused!.fulfill({ status: 401, body: '{}' });
  for (const name of ['refused.mp3', 'lost.mp3']) await page.waitForSelector(`tr:not(.sending) a.open:text-is("${name}")`);
  t.equal(await page.locator(ASKED).count(), 0, 'the response to the earlier session does not end the new one');
  await page.context().close();
});

t.test('createQueue() does not send the files of one person with the session of another', async (t) => {
  const page = await (await browser.newContext()).newPage();
  await signIn(page, url, key);
  const sent: string[] = [];
  await onUpload(page, (route, key) => {
    sent.push(key);
    return route.continue();
  });
  await endSessions();
  await page.setInputFiles('input[type=file]', ['ann-1.mp3', 'ann-2.mp3', 'ann-3.mp3'].map(recording));
  await page.waitForSelector(ASKED);
  const before = await settled(page, sent);
  await signInAgain(page, bobsKey);
  await page.setInputFiles('input[type=file]', recording('bob.mp3'));
  await page.waitForSelector('tr:not(.sending) a.open:text-is("bob.mp3")');
  t.equal(sent.length, before + 1);
  t.equal(await page.locator('.sending').count(), 0);
  t.equal(await page.locator('text=ann-1.mp3').count(), 0);
  await page.context().close();
});

/** Number of uploads sent, once all wait. */
async function settled(page: Page, sent: string[]): Promise<number> {
  await page.waitForFunction(() => document.querySelectorAll('.sending').length > 0 && !document.querySelector('.sending progress'));
  return sent.length;
}

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
