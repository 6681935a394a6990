import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { faultsOf, findings, openConsole, shot, signIn } from '../../support/console/browser.ts';
import { SPEAKERS } from '../../support/databases/world.ts';
import { keepSilence, silence } from '../../support/engine/silence.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const api = await openConsole(t, programs.chromium, { LONGHAND_KEEP_RECORDINGS_DAYS: '30' });
const { world, url, ann, key, browser, db, workspace } = api;
const folder = mkdtempSync(path.join(tmpdir(), 'longhand-kept-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
await db.query('*', 'update workspaces set keep_recordings_days = 7 where id = ?', [workspace]);

const MOST_ADDED = 1_400; // elements of a screenful of turns with a margin, and of the turn that is sought
const MOST_CALLS = 35_000; // in 3 s: about 180 pictures, 12 updates of the player and one of the list

const WORDS = 'we should look at the delivery date again because the supplier said that parts will not arrive'.split(' ');
const talk = (turns: number, seconds: number) =>
  Array.from({ length: turns }, (_, i) => ({
    ...{ start: i * seconds, end: i * seconds + seconds - 0.5, speaker: `speaker_${(i % 2) + 1}`, text: WORDS.join(' ') },
    words: WORDS.map((word, at): [number, number, string] => {
      const start = i * seconds + (at * (seconds - 0.5)) / WORDS.length;
      return [start, start + 0.2, ` ${word}`];
    }),
  }));
const at = (page: Page) => page.evaluate(() => document.querySelector('audio')!.currentTime);

t.test('a kept recording is played from the service: words highlighted, sought by word, time and strip, downloaded', async (t) => {
  const id = await world.transcription(ann, { title: 'A call', duration: 600, turns: talk(100, 6), speakers: SPEAKERS });
  await keepSilence(api, id, 600);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const faults = faultsOf(page);
  const answers: number[] = [];
  page.on('response', (response) => response.url().endsWith('/recording') && answers.push(response.status()));
  await signIn(page, url, key);
  await page.goto(`${url}/#/t/${id}`);
  await page.waitForSelector('.player >> text=The recording is kept until');
  t.equal(await page.locator('text=For privacy').count(), 0);
  await page.waitForSelector('.word');
  await page.waitForFunction(() => document.querySelector('audio')!.duration === 600);
  await page.click('#turn-4 .word >> nth=3');
  t.ok(Math.abs((await at(page)) - (18 + (3 * 5.5) / WORDS.length)) < 0.2, 'a word');
  await page.click('.player >> text=Play');
  await page.waitForSelector('#turn-4 .word.said');
  const box = (await page.locator('.lanes').boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.9, box.y + 3);
  await page.waitForFunction(() => document.querySelector('audio')!.currentTime > 541);
  await page.waitForSelector('#turn-91 .word.said');
  await page.click('.player >> text=Pause');
  t.ok(answers.includes(206), 'by ranges');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('.player >> text=Download')]);
  t.equal(download.suggestedFilename(), 'call.mp3');
  t.strictSame(await findings(page), []);
  await shot(page, 'kept');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 800 });
  t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  t.strictSame(await findings(page), []);
  await shot(page, 'kept-phone-dark');
  await db.query('*', 'update workspaces set keep_recordings_days = 0 where id = ?', [workspace]);
  await page.reload();
  await page.waitForSelector('text=For privacy Longhand keeps only the text.');
  await db.query('*', 'update workspaces set keep_recordings_days = 7 where id = ?', [workspace]);
  t.strictSame(faults, []);
  await page.close();
});

/** Counts the calls of functions of the console until `stop`, and the elements that it added to the page. */
async function countWork(page: Page): Promise<() => Promise<{ calls: number; added: number }>> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Profiler.enable');
  await page.evaluate(() => {
    const work = Object.assign(globalThis as unknown as { added: number; watcher?: MutationObserver }, { added: 0 });
    work.watcher ??= new MutationObserver((changes) => {
      for (const { addedNodes } of changes)
        for (const node of addedNodes) work.added += node instanceof Element ? 1 + node.querySelectorAll('*').length : 0;
    });
    work.watcher.observe(document.body, { subtree: true, childList: true });
  });
  await cdp.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return async () => {
    const { result } = await cdp.send('Profiler.takePreciseCoverage');
    await cdp.detach();
    const functions = result.filter((script) => script.url.includes('/assets/')).flatMap((script) => script.functions);
    const calls = functions.reduce((sum, { ranges }) => sum + ranges[0]!.count, 0);
    return { calls, added: await page.evaluate(() => (globalThis as unknown as { added: number }).added) };
  };
}

const HOURS = 36_000; // seconds of ten

const conference = await world.transcription(ann, { title: 'A conference', duration: HOURS, turns: talk(6_000, 6), speakers: SPEAKERS });

for (const source of ['own copy', 'kept recording'] as const)
  t.test(`ten hours play and are sought without stalls: each turn and each seek costs what is on screen: ${source}`, async (t) => {
    if (source === 'kept recording') await keepSilence(api, conference, HOURS);
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const faults = faultsOf(page);
    const sent: string[] = [];
    await signIn(page, url, key);
    page.on('request', (request) => request.method() !== 'GET' && sent.push(request.url()));
    await page.goto(`${url}/#/t/${conference}`);
    await page.waitForSelector('.turn');
    if (source === 'own copy') {
      const file = path.join(folder, 'conference.wav');
      for (const piece of silence(HOURS)) appendFileSync(file, piece);
      await page.setInputFiles('.player input[type=file]', file);
    }
    await page.waitForSelector('.word');
    await page.waitForFunction((seconds) => document.querySelector('audio')!.duration === seconds, HOURS);
    t.equal(await page.locator('.player [role=alert]').count(), 0, 'of the length of the recording');
    await page.evaluate(() => {
      const seen = Object.assign(globalThis, { tasks: [] as number[] });
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) seen.tasks.push(duration);
      }).observe({ entryTypes: ['longtask'] });
    });
    await page.click('.player >> text=Play');
    await page.selectOption('select[aria-label="Speed"]', '2');
    for (const part of [0.1, 0.5, 0.95, 0.3]) {
      const box = (await page.locator('.lanes').boundingBox())!;
      const sought = await countWork(page);
      await page.mouse.click(box.x + box.width * part, box.y + 3);
      const turn = Math.floor((HOURS * part) / 6);
      await page.waitForFunction((near) => {
        const said = document.querySelector('.word.said')?.closest('.turn');
        return said && Math.abs(Number(said.id.slice(5)) - near) < 20;
      }, turn);
      await page.waitForTimeout(1_000);
      const seek = await sought();
      t.ok(seek.added < MOST_ADDED, `${seek.added} elements and ${seek.calls} calls for a seek`);
      const from = (await page.getAttribute('.turn.wanted', 'id'))!;
      const played = await countWork(page);
      await page.waitForFunction((id) => document.querySelector('.turn.wanted')!.id !== id, from);
      const { calls, added } = await played();
      t.ok(calls < MOST_CALLS, `${calls} calls and ${added} elements until the next turn`);
    }
    const tasks = await page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks);
    const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
    t.comment(
      `${tasks.length} long tasks while it played with 4 seeks, the longest ${Math.round(Math.max(0, ...tasks))} ms, ${nodes} nodes`,
    );
    t.ok(nodes < 2_000, `${nodes} nodes: only what is near is mounted`);
    t.strictSame(sent, [], 'nothing is uploaded');
    t.strictSame(faults, []);
    await page.close();
  });

t.test('a kept recording that fails to load plays on where it was, and a page can be left while it plays', async (t) => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const faults = faultsOf(page);
  await signIn(page, url, key);
  await page.goto(`${url}/#/t/${conference}`);
  await page.waitForFunction((seconds) => document.querySelector('audio')?.duration === seconds, HOURS);
  await page.selectOption('select[aria-label="Speed"]', '2');
  await page.click('button:text-is("Play")');
  await page.waitForFunction(() => document.querySelector('audio')!.currentTime > 0.5);
  const keep = (days: number) => db.query('*', 'update workspaces set keep_recordings_days = ? where id = ?', [days, workspace]);
  await keep(0); // refuses it, as a service that is being restarted, or a session that has ended
  const box = (await page.locator('.lanes').boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.9, box.y + 3);
  await page.waitForSelector('.player [role=alert]:has-text("Press Play to try again")');
  await keep(7);
  await page.click('button:text-is("Play")');
  const from = await at(page);
  t.ok(Math.abs(from - 0.9 * HOURS) < 60, 'where it was');
  await page.waitForFunction((from) => document.querySelector('audio')!.currentTime > from + 1, from);
  t.strictSame(await page.evaluate(() => [document.querySelector('audio')!.paused, document.querySelector('audio')!.playbackRate]), [
    false,
    2,
  ]);
  t.equal(await page.locator('.player [role=alert]').count(), 0);
  await page.goto(`${url}/#/`);
  await page.waitForSelector('h1:has-text("Transcripts")');
  await page.waitForTimeout(300); // what the player does when it is gone
  t.strictSame(faults, []);
  await page.close();
});

t.test('a kept recording can be played once its transcript is ready, in a page that was open before', async (t) => {
  const id = await world.transcription(ann, { title: 'A live call', duration: 60, turns: talk(10, 6), speakers: SPEAKERS });
  const become = (status: string) =>
    db.query('*', 'update transcriptions set status = ?, updated_at = clock_timestamp() where id = ?', [status, id]);
  await become('processing');
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/t/${id}`);
  await page.waitForSelector('progress[aria-label="Progress"]');
  await keepSilence(api, id, 60);
  await become('completed');
  await page.waitForSelector('.player >> text=The recording is kept until');
  t.equal(await page.locator('text=For privacy').count(), 0);
  await page.close();
});

t.test('a page whose questions about a transcript fail at first asks again: recording and corrections are offered then', async (t) => {
  const id = await world.transcription(ann, { title: 'A call', duration: 60, turns: talk(10, 6), speakers: SPEAKERS });
  await keepSilence(api, id, 60);
  const page = await browser.newPage();
  await signIn(page, url, key);
  let refused = 0;
  const busy = { status: 503, contentType: 'application/json', body: '{"code":"service_unavailable","message":"Busy","detail":null}' };
  await page.route('**/rights', (route) => (refused++ ? route.continue() : route.fulfill(busy)));
  await page.goto(`${url}/#/t/${id}`);
  await page.waitForSelector('.turn');
  t.equal(await page.locator('text=For privacy').count(), 0, 'that there is none is not known');
  await page.waitForSelector('.player >> text=The recording is kept until');
  await page.waitForSelector('.turn .edit', { state: 'attached' });
  await page.waitForSelector('text=Delete…');
  t.equal(refused, 2);
  await page.close();
});

t.test('an owner chooses within the maximum of the operator for how long recordings are kept, and uploaders are told', async (t) => {
  const page = await browser.newPage();
  await signIn(page, url, key);
  await page.goto(`${url}/#/workspace/settings`);
  await page.waitForSelector('text=at most 30');
  await page.fill('input[name=keep_recordings_days]', '14');
  await page.click('text=Save');
  await page.waitForSelector('text=Saved');
  const [row] = await db.query<{ days: number }>('*', 'select keep_recordings_days as days from workspaces where id = ?', [workspace]);
  t.equal(row!.days, 14);
  t.strictSame(await findings(page), []);
  await page.goto(`${url}/#/`);
  await page.waitForSelector('.drop p:has-text("Recordings are kept for 14 days.")');
  await db.query('*', 'update workspaces set keep_recordings_days = 0 where id = ?', [workspace]);
  await page.reload();
  await page.waitForSelector('.drop p:has-text("Recordings are deleted after transcription.")');
  await page.close();
});
