import type { Page } from 'playwright-core';
import t from 'tap';
import { faultsOf, findings, openConsole, shot, signIn } from '../../support/console/browser.ts';
import { everyPage } from '../../support/console/pages.ts';
import { needPrograms } from '../../support/processes/programs.ts';

// Every page of the console with rows that a test inserted, in both themes, which differ in colours only, on a phone and on a wide screen.
const programs = needPrograms(t, 'chromium');
const api = await openConsole(t, programs.chromium, { LONGHAND_KEEP_RECORDINGS_DAYS: '7' });
const { call, url, key, browser } = api;
const { pages } = await everyPage(api);
const allowing = await consent();

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

const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

/** Elements beside the screen or over one another: current entries of navigations; times, buttons and editors of turns. */
const misplaced = (page: Page) =>
  page.evaluate(() => {
    const place = (one: Element) => one.getBoundingClientRect();
    const beside = [...document.querySelectorAll('nav [aria-current]')].filter(
      (one) => place(one).left < 0 || place(one).right > innerWidth,
    );
    const covered = [...document.querySelectorAll('.turn')].flatMap((turn) => {
      const parts = [...turn.querySelectorAll(':scope > a, .edit, .turn-editor')];
      return parts.filter((one) =>
        parts.some((other) => {
          const [a, b] = [place(one), place(other)];
          return one !== other && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        }),
      );
    });
    const narrow = [...document.querySelectorAll('.turn-editor')].filter((one) => place(one).width < 250);
    return [...beside, ...covered, ...narrow].map((one) => one.outerHTML.slice(0, 90));
  });

for (const width of [390, 1440]) {
  t.test(`every page has no serious axe finding, fits the screen and does not fail, light and dark: ${width} px`, async (t) => {
    const context = await browser.newContext({ viewport: { width, height: 844 } });
    const page = await context.newPage();
    const faults = faultsOf(page);
    const check = async (name: string) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        t.ok(await fits(page), `${name}: nothing sticks out sideways`);
        t.strictSame(await misplaced(page), [], `${name}: in its place`);
        t.strictSame(await findings(page, colorScheme === 'dark'), [], `${name}, ${colorScheme}`);
        await shot(page, `page-${name}-${colorScheme}-${width}`);
      }
      await page.emulateMedia({ colorScheme: 'light' });
    };
    await page.goto(`${url}/#/sign-in?invitation=none`);
    await page.waitForSelector('text=Accept the invitation');
    await check('sign-in');
    await signIn(page, url, key);
    for (const { name, path, shown, open } of pages) {
      await page.goto(`${url}/#${path}`);
      await page.waitForSelector(shown);
      for (const hidden of await page.locator('main details:not(.menu)').all())
        await hidden.evaluate((element) => element.setAttribute('open', ''));
      await open?.(page);
      await check(name);
      if (await page.locator('dialog[open]').count()) await page.keyboard.press('Escape');
    }
    await page.goto(`${url}/${allowing}#/authorize`);
    await page.waitForSelector('h1:has-text("Allow Helper?")');
    await check('consent');
    t.strictSame(faults, []);
    await context.close();
  });
}

t.test('on a phone the current status is in view in every frame, also while figures arrive', async (t) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/activity`);
  let figures = 0;
  await page.route(/limit=1$/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 100 * ++figures)); // one after another, each makes its entry wider
    await route.continue();
  });
  await page.evaluate(() => {
    const looks = { seen: 0, beside: 0 };
    const look = () => {
      const current = document.querySelector('nav.tabs [aria-current]');
      if (current?.textContent?.startsWith('Not enough minutes')) {
        const { left, right } = current.getBoundingClientRect();
        looks.seen++;
        if (left < 0 || right > innerWidth) looks.beside++;
      }
      requestAnimationFrame(look);
    };
    look();
    Object.assign(window, { looks });
  });
  await page.goto(`${url}/#/?status=insufficient_balance`);
  await page.waitForSelector('nav.tabs a:first-child .figure'); // the sum: all have arrived
  const looks: { seen: number; beside: number } = await page.evaluate(() => Reflect.get(window, 'looks'));
  t.ok(looks.seen > 0 && figures >= 5, 'it was looked at while figures arrived');
  t.equal(looks.beside, 0, 'never beside the screen');
  await context.close();
});
