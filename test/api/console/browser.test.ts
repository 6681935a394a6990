import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { faultsOf, findings, openBrowser, shot } from '../../support/console/browser.ts';
import { shareFitted } from '../../support/engine/models.ts';
import { LONGHAND, ROOT, start } from '../../support/processes/processes.ts';
import { needPrograms } from '../../support/processes/programs.ts';

// The whole product as started by a new user, in a real browser.
const programs = needPrograms(t, 'chromium');
const home = mkdtempSync(path.join(tmpdir(), 'longhand-console-'));
const RECORDING = path.join(ROOT, 'bench', 'data', 'two-speakers.wav');
const MOST_BYTES = 150_000; // compressed, first load

t.teardown(() => rmSync(home, { recursive: true, force: true }));
shareFitted(home);
const running = start(t, LONGHAND, ['up'], { LONGHAND_HOME: home, LONGHAND_THREADS: '1', PORT: '0' });
const [key] = await running.said(/lh_\w+/);
const [, base] = await running.said(/listening on (http:\S+)/);
const browser = await openBrowser(t, programs.chromium);
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const faults = faultsOf(page);

t.test('the first load is small, from this host only, under a strict content security policy', async (t) => {
  const answer = await fetch(`${base}/`, { headers: { 'accept-encoding': 'gzip' } });
  t.match(answer.headers.get('content-security-policy'), /default-src 'none'; script-src 'self'; style-src 'self';/);
  const html = await answer.text();
  let bytes = Buffer.byteLength(html);
  for (const [, name] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
    t.match(name, /^\/assets\//, 'nothing is loaded from elsewhere');
    const asset = await fetch(base + name!, { headers: { 'accept-encoding': 'br' } });
    t.match(asset.headers.get('cache-control'), /immutable/);
    bytes += Number(asset.headers.get('content-length'));
  }
  t.ok(bytes < MOST_BYTES, `${bytes} bytes`);
  t.comment(`first load: ${bytes} bytes compressed`);
});

t.test('a person signs in with a key; a wrong one is refused with an explanation', async (t) => {
  await page.goto(`${base}/`);
  await page.fill('input[name=key]', 'lh_wrong');
  await page.click('button:text-is("Sign in")');
  await page.waitForSelector('[role=alert]');
  t.strictSame(await findings(page), []);
  await page.fill('input[name=key]', key);
  await page.click('button:text-is("Sign in")');
  await page.waitForSelector('h1:has-text("Transcripts")');
  await page.waitForSelector('.empty');
  const [cookie] = await page.context().cookies();
  t.match(cookie, { httpOnly: true, sameSite: 'Strict' });
});

t.test('a recording is uploaded, followed while it is processed, and read with its speakers', async (t) => {
  await page.setInputFiles('input[type=file]', RECORDING);
  const listed = page.locator('tr:not(.sending) a.open:has-text("two-speakers.wav")');
  await listed.waitFor();
  t.strictSame(await findings(page), []);
  await shot(page, 'list');
  await listed.click();
  await page.waitForSelector('.turn');
  t.match(await page.textContent('.turns'), /account of himself/i);
  t.ok((await page.locator('.speaker').count()) >= 2);
  t.strictSame(await findings(page), []);
  await shot(page, 'transcript');
});

t.test('a speaker is renamed, and every turn shows the name', async (t) => {
  await page.click('.speaker >> nth=0');
  await page.fill('input[aria-label="Speaker name"]', 'Dorothy');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.turn b:has-text("Dorothy")');
  t.equal(await page.locator('.speaker').first().textContent(), 'Dorothy');
});

t.test('words are found and highlighted, and show their times', async (t) => {
  await page.fill('input[aria-label="Find"]', 'account');
  await page.waitForSelector('mark');
  t.match(await page.textContent('mark'), /account/i);
  await page.fill('input[aria-label="Find"]', '');
  await page.check('text=Word timestamps');
  await page.waitForSelector('.word[title]');
  t.match(await page.getAttribute('.word', 'title'), /^\d+\.\d\d – \d+\.\d\d s$/);
});

t.test('a report is requested and read', async (t) => {
  await page.click('role=tab[name=/Reports/]');
  await page.click('text=Write this report');
  await page.waitForSelector('.report .prose');
  t.ok((await page.textContent('.report .prose'))!.length > 20);
  t.strictSame(await findings(page), []);
  await shot(page, 'report');
});

t.test('the transcript is exported in every format', async (t) => {
  for (const format of ['md', 'txt', 'json', 'srt', 'vtt']) {
    await page.click('summary:has-text("Export")');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`.choice:has-text(".${format}")`)]);
    t.equal(download.suggestedFilename(), `two-speakers.${format}`);
    const text = readFileSync(await download.path(), 'utf8');
    t.match(text, format === 'txt' || format === 'md' || format === 'json' ? /Dorothy/ : /-->/);
  }
});

t.test('the author is notified that the transcript is ready', async (t) => {
  await page.waitForSelector('.menu .count');
  await page.click('summary[aria-label^="Ready"]');
  await page.click('.menu .choice:has-text("two-speakers.wav")');
  await page.waitForSelector('.menu .count', { state: 'detached' });
  t.equal(await page.textContent('h1'), 'two-speakers.wav');
});

t.test('the text is searched across all transcripts', async (t) => {
  await page.click('a:text-is("Transcripts")');
  await page.fill('search input[name=q]', 'squire');
  await page.keyboard.press('Enter');
  await page.waitForSelector('tr a.open:has-text("two-speakers.wav")');
  t.match(await page.textContent('[aria-label="Search results"] .hit-list'), /squire/);
});

t.test('a key is created, shown once, works, and is revoked', async (t) => {
  await page.click('a:text-is("Workspace")');
  await page.click('a:text-is("API keys")');
  await page.fill('input[name=name]', 'CRM');
  await page.check('input[name="uploads:write"]');
  await page.click('text=Create key');
  const made = (await page.textContent('.once code'))!;
  t.match(made, /^lh_\w{49}$/);
  const requested = () => fetch(`${base}/v1/workspace`, { headers: { authorization: `Bearer ${made}` } });
  t.match(await (await requested()).json(), { key: { scopes: ['read', 'uploads:write'] } });
  t.strictSame(await findings(page), []);
  await page.click('li:has-text("CRM") >> text=Revoke…');
  await page.click('dialog:has-text("Revoke CRM?") >> text=Cancel');
  t.equal((await requested()).status, 200);
  await page.click('li:has-text("CRM") >> text=Revoke…');
  await page.click('dialog >> button:text-is("Revoke")');
  await page.waitForSelector('li:has-text("CRM") >> text=revoked');
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  t.equal((await requested()).status, 401);
});

t.test('a template is tested on the transcript before it is saved, then published', async (t) => {
  await page.click('a:text-is("Templates")');
  await page.click('text=New template');
  await page.fill('section[aria-label="Template"] input >> nth=0', 'Delivery check');
  await page.fill('section[aria-label="Template"] textarea', 'List every promise about a delivery date, with who made it.');
  await page.selectOption('section[aria-label="Preview"] select', { label: 'two-speakers.wav' });
  await page.click('button:text-is("Preview")');
  await page.waitForSelector('.sample .prose');
  t.match(await page.textContent('.sample'), /Written by the built-in writer/);
  t.strictSame(await findings(page), []);
  await shot(page, 'template');
  await page.click('text=Save');
  await page.click('article:has-text("Delivery check") >> text=Publish');
  await page.waitForSelector('article:has-text("Delivery check") >> text=Back to draft');
});

t.test('the installation and the activity of the workspace are shown', async (t) => {
  await page.click('a:text-is("Installation")');
  await page.waitForSelector('.lines:has-text("whisper-base on cpu")'); // the page before has such a list, too
  t.match(await page.textContent('.lines'), /Online.*whisper-base on cpu/);
  t.match(await page.textContent('.figures'), /RTFx\d+\.\d/);
  t.strictSame(await findings(page), []);
  await shot(page, 'installation');
  await page.click('a:text-is("Activity")');
  await page.waitForSelector('.chart');
  const heights = await page.locator('.chart .bar i').evaluateAll((bars) => bars.map((bar) => bar.clientHeight));
  t.equal(heights.length, 30);
  t.ok(
    heights.slice(-2).some((height) => height > 10),
    'the recording was transcribed today, or yesterday',
  );
  t.strictSame(await findings(page), []);
  await shot(page, 'activity');
});

t.test('signing out ends the session', async (t) => {
  await page.click('summary[aria-label="Account"]');
  await page.click('text=Sign out');
  await page.waitForSelector('input[name=key]');
  t.strictSame(faults, [], 'the page had no errors');
});
