import type { BrowserContextOptions, Page } from 'playwright-core';
import t from 'tap';
import { guides } from '../../../api/openapi/guides.ts';
import { DOCS_POLICY } from '../../../api/openapi/pages.ts';
import { testApi } from '../../support/api/client.ts';
import { faultsOf, findings, openBrowser, shot } from '../../support/console/browser.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const api = await testApi(t);
const browser = await openBrowser(t, programs.chromium);

/** Opens a page; returns it with its requests to other servers and its errors. */
async function open(path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  });
  const page = await context.newPage();
  const faults = faultsOf(page);
  const strangers: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(`${api.url}/`) && !/^(data|blob):/.test(request.url())) strangers.push(request.url());
  });
  await page.goto(api.url + path);
  return { page, faults, strangers };
}

async function openReference(options: BrowserContextOptions = {}) {
  const opened = await open('/docs', options);
  await opened.page.waitForSelector('text="Reassign the author"', { state: 'attached' });
  return opened;
}

const ground = (page: Page, of: string) =>
  page.evaluate((selector) => getComputedStyle(document.querySelector(selector)!).backgroundColor, of);
const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

t.test('GET /docs and /docs/guides need no key; their content security policy allows loading from this server only', async (t) => {
  for (const path of ['/docs', '/docs/guides']) {
    const page = await api.call('', 'GET', path);
    t.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    t.equal(page.headers['content-security-policy'], DOCS_POLICY);
    t.notMatch(page.text, /https?:\/\/(?!127\.0\.0\.1|localhost)[^"<]*" *(?:defer|rel)/);
    for (const [, asset] of page.text.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)) {
      const file = await api.call('', 'GET', asset!, { headers: { 'accept-encoding': 'gzip' } });
      t.match(file, { status: 200, headers: { 'cache-control': /immutable/, 'content-encoding': 'gzip' } }, asset!);
    }
  }
  t.notMatch(DOCS_POLICY, /https?:|\*|unsafe-eval|script-src[^;]*unsafe/);
  t.equal((await api.call('', 'GET', '/docs/assets/none.js')).status, 404);
});

t.test(
  'the reference shows every operation with the address of this server, a search and samples to copy, and loads nothing from elsewhere',
  async (t) => {
    const { page, faults, strangers } = await openReference({ colorScheme: 'light' });
    await page.waitForSelector(`text="${api.url}/v1"`);
    const { paths } = (await api.call('', 'GET', '/v1/openapi.json')).json;
    const operations = Object.values(paths as Record<string, Record<string, { summary: string }>>).flatMap((methods) =>
      Object.values(methods),
    );
    t.ok(operations.length > 15, `${operations.length} operations`);
    for (const { summary } of operations)
      t.ok(await page.getByRole('navigation').getByText(summary, { exact: true }).count(), `${summary}: in the side bar`);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('subtitles');
    await page.click('[role=option]:has-text("Subtitles of one transcription")');
    await page.waitForFunction(() => /subtitles/.test(location.hash));
    const copy = page.locator('button[class*="copy-button"]:has-text("cURL")').first();
    await copy.click();
    await page.waitForFunction(async () => /^curl /.test(await navigator.clipboard.readText()));
    t.ok((await page.evaluate(() => navigator.clipboard.readText())).includes(`${api.url}/v1/`), 'the sample names this server');
    await shot(page, 'reference');
    t.strictSame(strangers, []);
    t.strictSame(faults, []);
  },
);

t.test('the reference follows the light or dark mode of the system, and fits a phone', async (t) => {
  const { page, strangers, faults } = await openReference({ colorScheme: 'light', viewport: { width: 390, height: 844 } });
  await page.waitForSelector(`text="${api.url}/v1"`);
  t.equal(await overflow(page), 0, 'nothing is wider than 390 px');
  const light = [await ground(page, 'body'), await ground(page, '.bar')];
  await shot(page, 'reference-390-light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForFunction((before) => getComputedStyle(document.body).backgroundColor !== before, light[0]);
  t.not(await ground(page, '.bar'), light[1]);
  t.equal(await overflow(page), 0);
  await shot(page, 'reference-390-dark');
  t.strictSame([...strangers, ...faults], []);
});

t.test(
  'the guides have a list, highlighting, copy buttons and links to the reference, in light and dark mode and on a phone',
  async (t) => {
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 390],
    ] as const) {
      const { page, strangers, faults } = await open('/docs/guides', { colorScheme, viewport: { width, height: 844 } });
      for (const { name, text } of guides()) {
        t.equal(await page.locator(`h2[id="${name}"]`).count(), 1, name);
        t.equal(
          await page.locator(`section[aria-labelledby="${name}"] pre`).count(),
          text.match(/^```\w/gm)?.length ?? 0,
          `blocks of ${name}`,
        );
      }
      t.equal(await page.locator('text=```').count(), 0);
      t.equal(await overflow(page), 0);
      await page.locator('.copy').first().click();
      await page.waitForSelector('.copy:has-text("Copied")');
      t.equal(await page.evaluate(() => navigator.clipboard.readText()), await page.locator('pre code').first().textContent());
      t.strictSame(await findings(page), []);
      for (const language of ['sh', 'js', 'python', 'go', 'java', 'php', 'bsl', 'json']) {
        const plain = await page
          .locator(`code[data-language="${language}"]`)
          .evaluateAll(
            (blocks, marks) => blocks.filter((block) => !block.querySelector(marks)).map((block) => block.textContent),
            '.code-keyword, .code-name, .code-string',
          );
        t.strictSame(plain, [], `${language} is highlighted`);
      }
      const marked = (language: string, kind: string) => page.locator(`code[data-language="${language}"] .code-${kind}`).allTextContents();
      t.match(await marked('python', 'keyword'), ['import']);
      t.ok((await marked('sh', 'string')).includes('"Authorization: Bearer $KEY"'));
      t.ok((await marked('bsl', 'keyword')).includes('Функция'));
      const written = guides().flatMap(({ text }) => [...text.matchAll(/^```\w.*\n([\s\S]*?)\n```$/gm)].map(([, code]) => code));
      const addressed = written.map((code) => code!.replaceAll('http://127.0.0.1:8080', api.url));
      t.notSame(addressed, written, 'the samples name this server');
      t.strictSame(await page.locator('pre code').allTextContents(), addressed, 'highlighting changes no text');
      await shot(page, `guides-${width}-${colorScheme}`);
      t.strictSame([...strangers, ...faults], []);
    }
  },
);
