import t from 'tap';
import { faultsOf, findings, openConsole, signIn } from '../../support/console/browser.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const { world, db, url, workspace, ann, key, browser } = await openConsole(t, programs.chromium);
const talk = await world.transcription(ann);
await world.member(workspace, { name: 'Bob', email: 'bob@example.com' });
await db.query('*', 'insert into ledger (workspace_id, minutes, transcription_id) values (?, -12.5, ?)', [workspace, talk]);

t.test('members, identities, projects, vocabulary and webhooks are saved', async (t) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const faults = faultsOf(page);
  await signIn(page, url, key);
  await page.goto(`${url}/#/workspace/members`);
  await page.fill('input[name=email]', 'dora@example.com');
  await page.click('text=Add member');
  const dora = page.locator('li:has-text("dora@example.com")');
  await dora.locator('summary').click();
  await dora.locator('input[name=provider]').fill('Bitrix');
  await dora.locator('input[name=external_id]').fill('77');
  await dora.locator('button:text-is("Link")').click();
  await dora.locator('code:text-is("bitrix:77")').waitFor();
  await dora.locator('text=Sign-in link').click();
  t.match(await page.textContent('.once code'), /#\/sign-in\?link=/);
  await page.selectOption('select[aria-label="Role of ann@example.com"]', 'user');
  await page.waitForSelector('[role=alert]:has-text("last owner")');
  await page.goto(`${url}/#/workspace/projects`);
  await page.fill('input[name=name]', 'Research');
  await page.click('text=Create project');
  await page.click('summary:has-text("Research")');
  await page.locator('details:has-text("Research") select[name=member]').selectOption({ label: 'Bob' });
  await page.locator('details:has-text("Research") >> text=Add').last().click();
  await page.waitForSelector('details:has-text("Research") li:has-text("Bob")');
  await page.goto(`${url}/#/workspace/settings`);
  await page.fill('textarea', 'Longhand, Zwolle');
  await page.fill('input[name=retention_days]', '90');
  await page.click('text=Save');
  await page.waitForSelector('text=Saved');
  await page.reload();
  await page.waitForSelector('textarea');
  t.equal(await page.inputValue('textarea'), 'Longhand, Zwolle');
  await page.goto(`${url}/#/workspace/webhooks`);
  await page.fill('input[name=url]', 'https://crm.example/hook');
  await page.click('text=Add webhook');
  t.match(await page.textContent('.once code'), /^whsec_/);
  await db.acrossTenants((tx) =>
    tx.rows(
      `insert into deliveries (workspace_id, webhook_id, event, body, status, attempt, last_status)
       select workspace_id, id, 'transcription.completed', json_build_object('transcription_id', ?::text), 'dead', 11, 500 from webhooks`,
      [talk],
    ),
  );
  await page.click('text=Pause');
  await page.waitForSelector('text=paused; deliveries are queued');
  await page.click('text=Resume');
  await page.click('summary:has-text("Deliveries")');
  await page.waitForSelector('li:has-text("attempt 11: 500")');
  await page.click('text=Send again');
  await page.waitForSelector('li .chip:text-is("pending")');
  t.strictSame(faults, []);
  await context.close();
});

t.test('members, webhooks and templates are removed after a confirmation, and stay without it', async (t) => {
  const page = await browser.newPage();
  const faults = faultsOf(page);
  await world.member(workspace, { name: 'Eve', email: 'eve@example.com' });
  await world.template(workspace, 'weekly');
  await signIn(page, url, key);
  for (const [path, row, button, question] of [
    ['members', 'li:has-text("eve@example.com")', 'Remove', 'Remove Eve?'],
    ['webhooks', 'article:has-text("crm.example")', 'Delete', 'Delete this webhook?'],
    ['templates', 'article:has-text("weekly")', 'Delete', 'Delete weekly?'],
  ] as const) {
    await page.goto(`${url}/#/workspace/${path}`);
    await page.click(`${row} >> text=${button}…`);
    await page.waitForSelector(`dialog:has-text("${question}")`);
    t.strictSame(await findings(page), []);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.reload();
    await page.click(`${row} >> text=${button}…`);
    await page.click(`dialog >> button:text-is("${button}")`);
    await page.waitForSelector(row, { state: 'detached' });
  }
  t.strictSame(faults, []);
  await page.close();
});

t.test('Editor() leaves a template published that was published while it was being edited', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/workspace/templates`);
  await page.click('text=New template');
  await page.fill('section[aria-label="Template"] input >> nth=0', 'Delivery');
  await page.fill('section[aria-label="Template"] textarea', 'List every promise about a delivery date.');
  await page.click('button:text-is("Save")');
  const row = 'article:has-text("delivery")';
  await page.waitForSelector(`${row} >> .chip:text-is("draft")`);
  await page.click(`${row} >> text=Edit`);
  await page.click(`${row} >> text=Publish`);
  await page.waitForSelector(`${row} >> .chip:text-is("published")`);
  await page.fill('section[aria-label="Template"] input >> nth=0', 'Deliveries');
  const [change] = await Promise.all([
    page.waitForRequest((request) => request.method() === 'PATCH'),
    page.click('section[aria-label="Template"] >> button:text-is("Save")'),
  ]);
  t.strictSame(change.postDataJSON(), { name: 'Deliveries' });
  await page.waitForSelector('article:has-text("Deliveries") >> .chip:text-is("published")');
  await page.close();
});

t.test('Preferences() says that the settings are saved until they are edited or saved again', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/workspace/settings`);
  const saved = () => page.locator('[role=status]:text-is("Saved")').count();
  const save = async (days: string) => {
    await page.fill('input[name=retention_days]', days);
    await page.click('button:text-is("Save")');
  };
  await save('80');
  await page.waitForSelector('[role=status]:text-is("Saved")');
  await page.route('**/v1/app/settings', (route) => (route.request().method() === 'PUT' ? route.abort() : route.continue()));
  await page.fill('input[name=retention_days]', '70');
  t.equal(await saved(), 0, 'it was edited');
  await save('70');
  await page.waitForSelector('[role=alert]');
  t.equal(await saved(), 0);
  await page.close();
});

t.test('Usage() shows no figures of other days when those asked for cannot be loaded', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/workspace/usage`);
  await page.waitForSelector('.sums');
  await page.route('**/v1/app/usage?*', (route) => route.abort());
  await page.selectOption('label:has-text("By") select', 'key');
  await page.waitForSelector('[role=alert]:has-text("cannot be reached")');
  t.equal(await page.locator('.sums').count(), 0);
  await page.close();
});

t.test('days are those of the person where a key expires, and are labelled UTC where the service counts them', async (t) => {
  const context = await browser.newContext({ timezoneId: 'America/Los_Angeles', locale: 'en-US' });
  const page = await context.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/workspace/keys`);
  const today = await page.evaluate(() => new Date().toLocaleDateString('sv'));
  await page.fill('input[name=name]', 'For today');
  await page.fill('input[name=expires_at]', today);
  const [sent] = await Promise.all([page.waitForRequest((request) => request.method() === 'POST'), page.click('text=Create key')]);
  const expires = await page.evaluate((at) => new Date(at).toLocaleString('sv'), sent.postDataJSON().expires_at);
  t.equal(expires, `${today} 23:59:59`);
  t.equal((await sent.response())!.status(), 201);
  await page.goto(`${url}/#/activity`);
  const first = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(Date.now() - 29 * 86_400_000);
  await page.waitForSelector('.chart');
  t.strictSame(await page.locator('.chart .hours span').allTextContents(), [first, 'today (UTC)']);
  await page.goto(`${url}/#/?date_from=${today}`);
  await page.waitForSelector('label:has-text("From (UTC)")');
  await page.waitForSelector('label:has-text("To (included, UTC)")');
  await context.close();
});
