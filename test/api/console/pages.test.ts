import t from 'tap';
import { faultsOf, findings, openConsole, shot, signIn } from '../../support/browser.ts';
import { needPrograms } from '../../support/programs.ts';

// Every page of the console with rows that a test inserted: its content, its axe findings and its use by keyboard.
const programs = needPrograms(t, 'chromium');
const { call, world, db, url, workspace, ann, key, browser } = await openConsole(t, programs.chromium);
const bob = await world.member(workspace, { name: 'Bob', email: 'bob@example.com' });
await world.member(workspace, { email: 'carl@example.com', status: 'pending' });
const sales = await world.project(workspace, 'Sales');
const closed = await world.project(workspace, 'Closed');
await world.join(sales, bob, 'editor');
await world.join(closed, bob, 'viewer');
const talk = await world.transcription(ann, {
  title: 'Deliveries for March',
  language: 'en',
  projectId: sales,
  externalId: 'deal-1',
  metadata: '{"deal": 42, "stage": "won"}',
  summary: 'They agreed on a date.',
  topics: ['Date'],
});
await world.report(
  talk,
  'summary',
  'completed',
  '## Points\n\n- **Baker** delivers on the 20th [00:02]\n\n| who | what |\n|---|---|\n| Ann | calls |',
);
await world.report(talk, 'tasks', 'failed');
const failed = await world.transcription(ann, { status: 'failed', errorCode: 'FILE_NO_AUDIO', filename: 'silent.mp3' });
const poor = await world.transcription(ann, { status: 'insufficient_balance', filename: 'long.mp3', required: 71.5, available: 3 });
const busy = await world.transcription(ann, { status: 'processing', filename: 'now.mp3', stage: 'transcribing', fraction: 0.4 });
const watched = await world.transcription(bob, { title: 'Seen by a viewer', projectId: closed, author: ann });
await db.acrossTenants((tx) => tx.rows(`update transcriptions set creator_id = ? where id = ?`, [ann.id, watched]));

await db.query('*', 'insert into ledger (workspace_id, minutes, transcription_id) values (?, -12.5, ?)', [workspace, talk]);
await db.query('*', `insert into audit_log (workspace_id, actor_kind, member_id, action) values (?, 'session', ?, 'settings.change')`, [
  workspace,
  ann.id,
]);

const PAGES: Record<string, string> = {
  '/': 'text=Deliveries for March',
  '/?q=hello': 'mark',
  '/?external_id=none': '.empty',
  [`/t/${talk}`]: '.turn',
  [`/t/${failed}`]: 'text=There is no audio in this file.',
  [`/t/${poor}`]: 'text=71.5 minutes are needed and 3 are left',
  [`/t/${busy}`]: 'text=Transcribing',
  '/t/nothing': 'text=Not found',
  '/activity': 'text=13 minutes in the last 30 days',
  '/workspace': 'text=minutes',
  '/workspace/keys': 'text=Revoke',
  '/workspace/templates': 'text=Built-in',
  '/workspace/projects': 'summary:has-text("Sales")',
  '/workspace/members': 'text=carl@example.com',
  '/workspace/webhooks': 'text=Add webhook',
  '/workspace/settings': 'textarea',
  '/workspace/access': 'text=this session',
  '/workspace/usage': 'text=12.5',
  '/workspace/log': 'text=settings: change',
};

/** The query of the consent page to which an assistant directs a person. */
async function consent(): Promise<string> {
  const redirect_uri = 'http://127.0.0.1:9/callback';
  const { json } = await call('', 'POST', '/oauth/register', { body: { client_name: 'Helper', redirect_uris: [redirect_uri] } });
  const parameters = {
    response_type: 'code',
    client_id: json.client_id,
    redirect_uri,
    code_challenge: 'A'.repeat(43),
    code_challenge_method: 'S256',
  };
  return `?${new URLSearchParams({ ...parameters, resource: `${url}/mcp` })}`;
}

for (const colorScheme of ['light', 'dark'] as const) {
  t.test(`every page has no serious axe finding, fits a narrow screen and does not fail: ${colorScheme}`, async (t) => {
    const context = await browser.newContext({ viewport: { width: 360, height: 740 }, colorScheme });
    const page = await context.newPage();
    const faults = faultsOf(page);
    await signIn(page, url, key);
    for (const [path, shown] of Object.entries(PAGES)) {
      await page.goto(`${url}/#${path}`);
      await page.waitForSelector(shown);
      for (const hidden of await page.locator('main details:not(.menu)').all())
        await hidden.evaluate((element) => element.setAttribute('open', ''));
      t.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path}: nothing sticks out sideways`);
      t.strictSame(await findings(page), [], path);
    }
    await shot(page, `phone-${colorScheme}`);
    await page.goto(`${url}/${await consent()}#/authorize`);
    await page.waitForSelector('h1:has-text("Allow Helper?")');
    t.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'consent');
    t.strictSame(await findings(page), [], 'consent');
    await shot(page, `consent-${colorScheme}`);
    t.strictSame(faults, []);
    await context.close();
  });
}

t.test('keyboard users sign in, upload, open a transcript, rename a speaker, request a report and export', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  const chosen = page.waitForEvent('filechooser'); // from now on, no file dialog opens
  const tabTo = async (selector: string) => {
    for (let presses = 0; presses < 60; presses++) {
      if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return true;
      await page.keyboard.press('Tab');
    }
    return false;
  };
  t.ok(await tabTo('input[type=file]'));
  await page.keyboard.press('Enter');
  await (await chosen).setFiles({ name: 'by-keyboard.mp3', mimeType: 'audio/mpeg', buffer: Buffer.alloc(4_096, 1) });
  await page.waitForSelector('tr:not(.sending) a.open:text-is("by-keyboard.mp3")');
  t.ok(await tabTo(`a[href="#/t/${talk}"]`));
  await page.keyboard.press('Enter');
  await page.waitForSelector('.turn');
  t.ok(await tabTo('button.speaker'));
  await page.keyboard.press('Enter');
  await page.waitForSelector('input[aria-label="Speaker name"]:focus');
  await page.keyboard.type('Dorothy');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.turn b:has-text("Dorothy")');
  await page.goto(`${url}/#/t/${talk}`);
  t.ok(await tabTo('[role=tab][aria-selected=false]'));
  await page.keyboard.press('Enter');
  await page.waitForSelector('select option[value=bant]', { state: 'attached' });
  t.ok(await tabTo('main select'));
  await page.keyboard.type('BANT');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.report:has-text("BANT") >> text=being written');
  await page.goto(`${url}/#/`);
  await page.goto(`${url}/#/t/${talk}`);
  t.ok(await tabTo('main .menu summary'));
  await page.keyboard.press('Enter');
  t.ok(await tabTo('a[href$="format=txt"]'));
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  t.equal(download.suggestedFilename(), 'Deliveries for March.txt');
  await page.close();
});
