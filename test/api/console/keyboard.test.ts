import type { Page } from 'playwright-core';
import t from 'tap';
import { openConsole, signIn } from '../../support/console/browser.ts';
import { everyPage } from '../../support/console/pages.ts';
import { needPrograms } from '../../support/processes/programs.ts';

// The console by keyboard alone.
const programs = needPrograms(t, 'chromium');
const api = await openConsole(t, programs.chromium, { LONGHAND_KEEP_RECORDINGS_DAYS: '7' });
const { url, key, browser } = api;
const AT_ONCE = 8; // presses of Tab before it asks the page what had the focus
const { pages, talk } = await everyPage(api);

t.test('everything on every page is reached by the Tab key, and the focus is visible', async (t) => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await signIn(page, url, key);
  for (const { name, path, shown, open } of pages) {
    await page.goto(`${url}/#${path}`);
    await page.reload(); // the focus starts at the top
    await page.waitForSelector(shown);
    await open?.(page);
    const { unreached, invisible, reached } = await tabThrough(page);
    t.strictSame(unreached, [], `${name}: ${reached} elements`);
    t.strictSame(invisible, [], `${name}: focus`);
  }
  await context.close();
});

/** Presses Tab until everything had the focus, or the focus was twice where it began; what never had it, and what does not show it. */
async function tabThrough(page: Page): Promise<{ unreached: string[]; invisible: string[]; reached: number }> {
  await page.evaluate(() => {
    const within = document.querySelector('dialog[open]') ?? document.body;
    const all = within.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex="0"]');
    const open = new Set([...all].filter((one) => one.checkVisibility() && !(one as HTMLButtonElement).disabled && one.tabIndex >= 0));
    const state = { open: open as Set<Element>, hidden: [] as string[], seen: [] as Element[] };
    Object.assign(globalThis, { tabbed: state });
    (document.activeElement as HTMLElement).blur();
    document.addEventListener('focusin', ({ target }) => {
      const now = target as Element;
      if (document.activeElement !== now) return; // it gave the focus away
      const { outlineStyle, boxShadow } = getComputedStyle(now);
      if (state.open.delete(now) && outlineStyle === 'none' && boxShadow === 'none') state.hidden.push(now.outerHTML.slice(0, 90));
      state.seen.push(now);
    });
  });
  let presses = 0;
  for (let over = false; !over && presses < 500; presses += AT_ONCE) {
    for (let n = 0; n < AT_ONCE; n++) await page.keyboard.press('Tab');
    over = await page.evaluate(() => {
      const { open, seen } = (globalThis as unknown as { tabbed: { open: Set<Element>; seen: Element[] } }).tabbed;
      return open.size === 0 || seen.filter((one) => one === seen[0]).length > 2;
    });
  }
  return page.evaluate(() => {
    const { open, hidden, seen } = (globalThis as unknown as { tabbed: { open: Set<Element>; hidden: string[]; seen: Element[] } }).tabbed;
    return { unreached: [...open].map((one) => one.outerHTML.slice(0, 90)), invisible: hidden, reached: seen.length };
  });
}

t.test('who types into a field of the next page as soon as it is there keeps the focus in it', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/t/${talk}`);
  await page.waitForSelector('.turn');
  const focused = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const watch = new MutationObserver(() => {
          const search = document.querySelector<HTMLInputElement>('search input[name=q]');
          if (!search) return;
          watch.disconnect();
          search.focus();
          setTimeout(() => resolve(document.activeElement === search), 300);
        });
        watch.observe(document.body, { childList: true, subtree: true });
        location.hash = '/';
      }),
  );
  t.ok(focused);
  await page.close();
});

t.test('App() keeps the page when its navigation is skipped', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/t/${talk}`);
  await page.waitForSelector('.turn');
  await page.focus('.skip');
  await page.keyboard.press('Enter');
  await page.waitForSelector('main:focus');
  t.equal(page.url(), `${url}/#/t/${talk}`);
  t.ok(await page.locator('.turn').count());
  await page.close();
});

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
  await page.waitForSelector('button.speaker');
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
  await page.waitForSelector('.turn');
  t.ok(await tabTo('main .menu summary'));
  await page.keyboard.press('Enter');
  t.ok(await tabTo('a[href$="format=txt"]'));
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  t.equal(download.suggestedFilename(), 'Deliveries for March.txt');
  await page.close();
});
