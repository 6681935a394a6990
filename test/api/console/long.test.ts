import type { Page } from 'playwright-core';
import t from 'tap';
import { faultsOf, openBrowser, openConsole, signIn } from '../../support/console/browser.ts';
import { SPEAKERS } from '../../support/databases/world.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const { world, url, ann, key, browser } = await openConsole(t, programs.chromium);
const STOPPED = 'the browser draws nothing any more';

/** Opens a transcript in a browser and scrolls through it; returns the maximum number of nodes, the longest task in ms and the number of turns shown. */
async function scrollThrough(within: typeof browser, id: string) {
  const context = await within.newContext({ viewport: { width: 1280, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  const faults = faultsOf(page);
  await signIn(page, url, key);
  await page.goto(`${url}/#/t/${id}`);
  await page.waitForSelector('.turn');
  return { context, page, faults, ...(await scrolled(page)) };
}

function scrolled(page: Page) {
  return page.evaluate(async (stopped) => {
    let [most, longest] = [0, 0];
    const seen = new Set<string>();
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    }).observe({ entryTypes: ['longtask'] });
    for (let y = 0; y < document.documentElement.scrollHeight; y += 800) {
      scrollTo(0, y);
      await new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(stopped)), 60_000);
        requestAnimationFrame(() => {
          clearTimeout(late);
          setTimeout(resolve);
        });
      });
      most = Math.max(most, document.querySelectorAll('*').length);
      for (const { id } of document.querySelectorAll('.turn')) seen.add(id);
    }
    return { most, longest, seen: seen.size };
  }, STOPPED);
}

t.test(
  'a 10-hour transcript is displayed with few nodes at any scroll position, and can be searched, copied and printed in full',
  async (t) => {
    const WORDS = 'we should look at the delivery date again because the supplier said that parts will not arrive before March'.split(' ');
    const turns = Array.from({ length: 6_000 }, (_, i) => ({
      ...{ start: i * 6, end: i * 6 + 5.5, speaker: `speaker_${(i % 2) + 1}` },
      text: `${Array.from({ length: 17 }, (_, j) => WORDS[(i * 5 + j) % WORDS.length]).join(' ')}${i === 5_500 ? ' xylophone' : ''}.`,
    }));
    const id = await world.transcription(ann, { title: 'A conference', duration: 36_000, turns, speakers: SPEAKERS });
    const { context, page, faults, most, longest, seen } = await scrollThrough(browser, id).catch(async (error: Error) => {
      if (!error.message.includes(STOPPED)) throw error;
      t.comment(
        'Chromium stopped drawing, as it does now and then without a graphics card; a page that stops it does so again in a new one',
      );
      return scrollThrough(await openBrowser(t, programs.chromium), id);
    });
    t.ok(most < 3_000, `${most} nodes at most`);
    t.equal(seen, 6_000, 'every turn was shown');
    t.comment(`scrolling all of it: the longest task took ${Math.round(longest)} ms, ${most} nodes at most`);
    await page.keyboard.press('Control+f');
    await page.waitForSelector('input[aria-label="Find"]:focus');
    await page.keyboard.type('xylophone');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#turn-5501 mark');
    await page.waitForFunction(() => {
      const { top, bottom } = document.querySelector('#turn-5501')!.getBoundingClientRect();
      return top > 0 && bottom < innerHeight; // it scrolls into view one frame after it is added
    });
    t.match(await page.textContent('.find [role=status]'), /^1 of 1 turn$/);
    await page.click('text=Copy text');
    await page.waitForSelector('text=Copied');
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    t.equal(copied.split('\n').length, 6_000);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    t.equal(await page.locator('.turn').count(), 6_000, 'all turns are printed');
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    t.ok((await page.locator('.turn').count()) < 300);
    t.strictSame(faults, []);
    await context.close();
  },
);
