import t from 'tap';
import { openConsole, signIn } from '../../support/console/browser.ts';
import { SPEAKERS, TURNS } from '../../support/databases/world.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const { world, url, ann, key, browser } = await openConsole(t, programs.chromium);
const id = await world.transcription(ann, {
  title: 'A call',
  speakers: SPEAKERS,
  turns: [
    { start: 0, end: 5, speaker: 'speaker_1', text: 'The invoice came much too late.' },
    { start: 5, end: 9, speaker: 'speaker_2', text: 'Let us meet in the café.' },
  ],
});
const page = await browser.newPage();
await signIn(page, url, key);

t.test('Reading() finds and highlights what the list found: every word, ignoring accents', async (t) => {
  for (const [search, marks] of [
    ['late invoice', ['invoice', 'late']],
    ['cafe', ['café']],
  ] as const) {
    await page.goto(`${url}/#/?q=${encodeURIComponent(search)}`);
    await page.waitForSelector('.hit-list mark');
    t.strictSame(await page.locator('.hit-list mark').allTextContents(), marks, 'in the list');
    await page.click('a.open:text-is("A call")');
    await page.waitForSelector('.turn mark');
    t.strictSame(await page.locator('.turn mark').allTextContents(), marks, search);
    t.match(await page.textContent('.find [role=status]'), /^1 turn$/);
  }
});

t.test('Speakers() shows the error of a name only until it is saved', async (t) => {
  await page.goto(`${url}/#/t/${id}`);
  const name = async (text: string) => {
    await page.fill('input[aria-label="Speaker name"]', text);
    await page.keyboard.press('Enter');
  };
  await page.click('button.speaker >> nth=0');
  await page.route('**/speakers/*', (route) => route.abort());
  await name('Dorothy');
  await page.waitForSelector('.speakers [role=alert]');
  await page.unrouteAll();
  await name('Dorothy');
  await page.click('button.speaker:text-is("Dorothy")');
  await page.waitForSelector('input[aria-label="Speaker name"]');
  t.equal(await page.locator('.speakers [role=alert]').count(), 0);
});

t.test('names and texts have the direction of their script, wherever they are shown or typed', async (t) => {
  const dana = await world.member(ann.workspaceId, { name: 'דנה (מכירות)!' });
  const project = await world.project(ann.workspaceId, 'פרויקט!');
  const talk = await world.transcription(dana, {
    ...{ title: 'שיחה (1)!', projectId: project, topics: ['נושא!'], summary: 'סיכום!' },
    speakers: [{ id: 'speaker_1', ai_name: null, name: 'דובר!' }, SPEAKERS[1]!],
    turns: [{ start: 0, end: 2, speaker: 'speaker_1', text: 'שלום!' }, TURNS[1]!],
  });
  for (const [path, shown] of [
    ['/', 'a.open:has-text("שיחה")'],
    [`/t/${talk}`, 'button.speaker'],
    ['/workspace/members', 'li:has-text("דנה")'],
    ['/workspace/projects', 'summary:has-text("פרויקט")'],
    ['/workspace/keys', 'input[name=name]'],
    ['/workspace/settings', 'textarea'],
  ] as const) {
    await page.goto(`${url}/#${path}`);
    await page.waitForSelector(shown);
    for (const open of ['text=Filters', 'button[aria-label="Edit title"]', 'button.speaker >> nth=0'])
      if (await page.locator(open).count()) await page.click(open);
    const wrong = await page.evaluate(() => {
      const said = [...document.querySelectorAll('main *:not(option, .face)')].filter((one) =>
        [...one.childNodes].some((node) => node.nodeType === 3 && /^\s*[\u0590-\u05ff]/.test(node.textContent!)),
      );
      const typed = [...document.querySelectorAll<HTMLInputElement>('input, textarea')].filter(({ type }) =>
        /^(text|search|textarea)$/.test(type),
      );
      return [...said.filter((one) => getComputedStyle(one).direction !== 'rtl'), ...typed.filter(({ dir }) => dir !== 'auto')].map((one) =>
        one.outerHTML.slice(0, 90),
      );
    });
    t.strictSame(wrong, [], path);
  }
});

t.test('what has no spaces is broken on a phone: e-mail addresses as names, file names, links in a summary', async (t) => {
  const address = 'maximiliane.hohenstein-oberhausen@customer-service.example.com';
  const author = await world.member(ann.workspaceId, { email: address });
  const link = `https://example.com/${'deliveries_of_march_'.repeat(4)}`;
  const talk = await world.transcription(author, {
    ...{ title: `${'in_4930123456_20260110_093122_'.repeat(3)}.wav`, summary: `Written down at ${link}`, turns: TURNS },
    projectId: await world.project(ann.workspaceId, 'Sales_and_customer_service_of_the_northern_region_2026'),
    speakers: [{ id: 'speaker_1', ai_name: null, name: address }, SPEAKERS[1]!],
  });
  const phone = await browser.newContext({ viewport: { width: 360, height: 740 } });
  const page = await phone.newPage();
  await signIn(page, url, key);
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  await page.goto(`${url}/#/t/${talk}`);
  await page.waitForSelector('.turn');
  t.equal(await width(), 360);
  t.strictSame(
    await page.evaluate(() => [...document.querySelectorAll('.turn b, .card p')].filter((e) => e.scrollWidth > e.clientWidth).length),
    0,
  );
  await page.goto(`${url}/#/workspace/projects`);
  await page.waitForSelector('details.report');
  t.equal(await width(), 360);
  await phone.close();
});
