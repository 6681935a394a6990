import t from 'tap';
import { faultsOf, openConsole, signIn } from '../../support/console/browser.ts';
import { needPrograms } from '../../support/processes/programs.ts';

// Interruptions: another link, another person, a service that is briefly unavailable.
const programs = needPrograms(t, 'chromium');
const { call, world, db, url, workspace, ann, key, browser } = await openConsole(t, programs.chromium);
const bob = await world.member(workspace, { name: 'Bob', email: 'bob@example.com' });
const { key: bobsKey } = await world.key(bob);
await world.transcription(ann, { title: 'Deliveries for March' });

t.test('a sign-in link opened by somebody who is signed in leads to the list, and is not sent anywhere', async (t) => {
  const page = await browser.newPage();
  const faults = faultsOf(page);
  await signIn(page, url, key);
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  await page.goto(`${url}/#/sign-in?link=very-secret-link`);
  await page.waitForURL(`${url}/#/`);
  await page.waitForSelector('text=Deliveries for March');
  await page.reload();
  await page.waitForSelector('text=Deliveries for March');
  t.strictSame(
    requested.filter((address) => address.includes('very-secret-link')),
    [],
  );
  t.strictSame(faults, []);
  await page.close();
});

t.test('an expired sign-in link does not stay in the address when its visitor signs in with a key instead', async (t) => {
  const page = await (await browser.newContext()).newPage();
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  await page.goto(`${url}/#/sign-in?link=spent-secret-link`);
  await page.waitForSelector('[role=alert]');
  await page.fill('input[name=key]', key);
  await page.keyboard.press('Enter');
  await page.waitForSelector('text=Deliveries for March');
  t.equal(page.url(), `${url}/#/`);
  t.strictSame(
    requested.filter((address) => address.includes('spent-secret-link')),
    [],
  );
  await page.context().close();
});

t.test('a transcript in progress is followed again when the service is back', async (t) => {
  const page = await (await browser.newContext()).newPage();
  const id = await world.transcription(ann, { status: 'processing', filename: 'now.mp3', stage: 'transcribing', fraction: 0.4 });
  await signIn(page, url, key);
  await page.goto(`${url}/#/t/${id}`);
  await page.waitForSelector('text=40 %');
  await page.route(`**/v1/app/transcriptions/${id}`, (route) => route.abort());
  await page.waitForSelector('text=The service cannot be reached');
  await db.acrossTenants((tx) => tx.rows('update transcriptions set fraction = 0.8, updated_at = now() where id = ?', [id]));
  await page.unrouteAll();
  await page.waitForSelector('text=80 %');
  await page.waitForSelector('text=The service cannot be reached', { state: 'detached' });
  t.equal(await page.locator('[role=alert]').count(), 0);
  await page.context().close();
});

t.test('App() waits for a service that is briefly unavailable instead of asking people to sign in who have', async (t) => {
  const page = await (await browser.newContext()).newPage();
  await signIn(page, url, key);
  await page.route('**/v1/app/session', (route) => route.fulfill({ status: 503, body: '{"message":"The database is unavailable"}' }));
  await page.reload();
  await page.waitForSelector('[role=alert]:has-text("The database is unavailable")');
  t.equal(await page.locator('input[name=key]').count(), 0);
  await page.unrouteAll();
  await page.waitForSelector('text=Deliveries for March');
  t.equal(await page.locator('[role=alert]').count(), 0);
  await page.context().close();
});

t.test('a preview that was lost can be requested again', async (t) => {
  const page = await (await browser.newContext()).newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/workspace/templates`);
  await page.click('text=New template');
  await page.fill('section[aria-label="Template"] textarea', 'List every promise about a delivery date.');
  await page.route('**/v1/app/templates/preview/*', (route) => route.abort());
  await page.click('button:text-is("Preview")');
  await page.waitForSelector('text=The service cannot be reached');
  await page.waitForSelector('button:text-is("Preview"):enabled');
  await page.unrouteAll();
  await page.click('button:text-is("Preview")');
  await page.waitForSelector('button:text-is("Being written…"):disabled');
  t.equal(await page.locator('.problem').count(), 0);
  await page.context().close();
});

t.test('files that one person could not send are neither shown to the next person nor sent in their name', async (t) => {
  const page = await (await browser.newContext()).newPage();
  await signIn(page, url, key);
  await page.route('**/v1/app/transcriptions?language=auto*', (route) =>
    route.request().method() === 'POST' ? route.fulfill({ status: 422, body: '{"message":"not now"}' }) : route.continue(),
  );
  await page.setInputFiles('input[type=file]', { name: 'of-ann.mp3', mimeType: 'audio/mpeg', buffer: Buffer.alloc(4_096, 1) });
  await page.waitForSelector('.sending >> text=Send again');
  const enter = async (as: string) => {
    await page.click('summary[aria-label="Account"]');
    await page.click('text=Sign out');
    await page.fill('input[name=key]', as);
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("Transcripts")');
  };
  await enter(key);
  await page.waitForSelector('.sending >> text=of-ann.mp3');
  await enter(bobsKey);
  t.equal(await page.locator('text=of-ann.mp3').count(), 0);
  await page.context().close();
  t.match(await call(bobsKey, 'GET', '/v1/transcriptions?status=queued'), { status: 200, json: { total: 0 } });
});
