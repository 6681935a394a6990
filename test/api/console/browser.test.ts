import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import t from 'tap';
import { LONGHAND, ROOT, start } from '../../support/processes.ts';
import { needPrograms } from '../../support/programs.ts';

// The whole product as a stranger starts it, seen through a real browser.
const programs = needPrograms(t, 'chromium');
const home = mkdtempSync(path.join(tmpdir(), 'longhand-console-'));
const artefacts = path.join(ROOT, 'test', 'artefacts');
mkdirSync(artefacts, { recursive: true });
const axe = readFileSync(path.join(ROOT, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8');
const RECORDING = path.join(ROOT, 'bench', 'data', 'two-speakers.wav');
const MOST_BYTES = 150_000; // compressed, first load
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const running = start(t, LONGHAND, ['up'], { LONGHAND_HOME: home, PORT: '0' });
const [key] = await running.said(/lh_\w+/);
const [, base] = await running.said(/listening on (http:\S+)/);
const browser: Browser = await chromium.launch({ executablePath: programs.chromium, args: FLAGS });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const faults: string[] = [];
page.on('pageerror', (error) => faults.push(error.message));
page.on('console', (message) => message.type() === 'error' && !/401/.test(message.text()) && faults.push(message.text()));
t.teardown(async () => {
  await browser.close();
  await running.stop();
  rmSync(home, { recursive: true, force: true });
});

const shot = (name: string) => page.screenshot({ path: path.join(artefacts, `${name}.png`) });

/** Serious and critical findings of axe on the page as it is. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  // biome-ignore lint/suspicious/noExplicitAny: axe is a global of the page
  const { violations } = await page.evaluate(() => (globalThis as any).axe.run(document, { resultTypes: ['violations'] }));
  return violations
    .filter(({ impact }: { impact: string }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

t.test('the first load is small, from this host only, under a strict policy', async (t) => {
  const answer = await fetch(`${base}/`, { headers: { 'accept-encoding': 'gzip' } });
  t.match(answer.headers.get('content-security-policy'), /default-src 'none'; script-src 'self'; style-src 'self';/);
  const html = await answer.text();
  let bytes = Buffer.byteLength(html);
  for (const [, name] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
    t.match(name, /^\/assets\//, 'nothing comes from elsewhere');
    const asset = await fetch(base + name!, { headers: { 'accept-encoding': 'br' } });
    t.match(asset.headers.get('cache-control'), /immutable/);
    bytes += Number(asset.headers.get('content-length'));
  }
  t.ok(bytes < MOST_BYTES, `${bytes} bytes`);
});

t.test('a person signs in with a key; a wrong one is refused in words', async (t) => {
  await page.goto(`${base}/`);
  await page.fill('input[name=key]', 'lh_wrong');
  await page.click('text=Sign in');
  await page.waitForSelector('[role=alert]');
  t.strictSame(await findings(page), []);
  await page.fill('input[name=key]', key);
  await page.click('text=Sign in');
  await page.waitForSelector('h1:has-text("Transcripts")');
  const [cookie] = await page.context().cookies();
  t.match(cookie, { httpOnly: true, sameSite: 'Strict' });
});

t.test('a recording is uploaded, followed while it is worked on, and read with its speakers', async (t) => {
  await page.setInputFiles('input[type=file]', RECORDING);
  await page.waitForSelector('.uploads .good');
  await page.waitForSelector('td a:has-text("two-speakers.wav")');
  t.strictSame(await findings(page), []);
  await shot('list');
  await page.click('td a:has-text("two-speakers.wav")');
  await page.waitForSelector('.turn', { timeout: 120_000 });
  t.match(await page.textContent('.turns'), /account of himself/i);
  t.ok((await page.locator('.speaker').count()) >= 2);
  t.strictSame(await findings(page), []);
  await shot('transcript');
});

t.test('a speaker is renamed, and every turn shows the name', async (t) => {
  await page.click('.speaker >> nth=0');
  await page.fill('input[aria-label="Name of the speaker"]', 'Dorothy');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.turn header b:has-text("Dorothy")');
  t.equal(await page.locator('.speaker').first().textContent(), 'Dorothy');
});

t.test('words are found and marked', async (t) => {
  await page.fill('input[type=search]', 'knight');
  await page.waitForSelector('mark');
  t.match(await page.textContent('mark'), /knight/i);
  await page.fill('input[type=search]', '');
});

t.test('a report is requested and read', async (t) => {
  await page.click('text=Write this report');
  await page.waitForSelector('.report .prose', { timeout: 60_000 });
  t.ok((await page.textContent('.report .prose'))!.length > 20);
  await shot('report');
});

t.test('the transcript is exported in every format', async (t) => {
  for (const format of ['md', 'txt', 'json', 'srt', 'vtt']) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`a.button:text-is("${format}")`)]);
    t.equal(download.suggestedFilename(), `two-speakers.${format}`);
    const text = readFileSync(await download.path(), 'utf8');
    t.match(text, format === 'txt' || format === 'md' || format === 'json' ? /Dorothy/ : /-->/);
  }
});

t.test('the text is searched over all transcripts', async (t) => {
  await page.click('a:text-is("Transcripts")');
  await page.fill('search input[name=q]', 'squire');
  await page.keyboard.press('Enter');
  await page.waitForSelector('article a:has-text("two-speakers.wav")');
  t.match(await page.textContent('[aria-label="Search results"]'), /squire/);
});

t.test('a key is made, shown once, works, and is revoked', async (t) => {
  await page.click('a:text-is("Workspace")');
  await page.click('a:text-is("API keys")');
  await page.fill('input[name=name]', 'CRM');
  await page.check('input[name="uploads:write"]');
  await page.click('text=Create key');
  const made = (await page.textContent('.once code'))!;
  t.match(made, /^lh_\w{49}$/);
  const asked = () => fetch(`${base}/v1/workspace`, { headers: { authorization: `Bearer ${made}` } });
  t.match(await (await asked()).json(), { key: { scopes: ['read', 'uploads:write'] } });
  t.strictSame(await findings(page), []);
  await page.locator('li:has-text("CRM") >> text=Revoke').click();
  await page.waitForSelector('li:has-text("CRM") >> text=revoked');
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  t.equal((await asked()).status, 401);
});

t.test('a template is written and published, a member invited, a webhook added, and operation is shown', async (t) => {
  await page.click('a:text-is("Templates")');
  await page.click('text=New template');
  await page.fill('.card input >> nth=0', 'Delivery check');
  await page.fill('.card textarea', 'List every promise about a delivery date, with who made it.');
  await page.click('text=Save');
  await page.click('article:has-text("Delivery check") >> text=Publish');
  await page.waitForSelector('article:has-text("Delivery check") >> text=Back to draft');
  await page.click('a:text-is("Members")');
  await page.fill('input[name=email]', 'bob@example.com');
  await page.click('text=Add member');
  await page.waitForSelector('li:has-text("bob@example.com")');
  t.strictSame(await findings(page), []);
  await page.click('a:text-is("Webhooks")');
  await page.fill('input[name=url]', 'https://crm.example/hook');
  await page.click('text=Add webhook');
  t.match(await page.textContent('.once code'), /^whsec_/);
  await page.click('a:text-is("Operation")');
  await page.waitForSelector('svg.bars rect');
  t.strictSame(await findings(page), []);
  await shot('operation');
});

t.test('the console works by keyboard, on a narrow screen and in the dark', async (t) => {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
  const phone = await context.newPage();
  await phone.goto(`${base}/`);
  await phone.focus('input[name=key]');
  await phone.keyboard.type(key);
  await phone.keyboard.press('Enter');
  await phone.waitForSelector('h1:has-text("Transcripts")');
  t.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out sideways');
  t.strictSame(await findings(phone), []);
  await phone.screenshot({ path: path.join(artefacts, 'phone.png') });
  await context.close();
});

t.test('signing out ends the session', async (t) => {
  await page.click('text=Sign out');
  await page.waitForSelector('input[name=key]');
  t.strictSame(faults, [], 'the page never failed');
});
