import t from 'tap';
import { faultsOf, openConsole, signIn } from '../../support/browser.ts';
import { needPrograms } from '../../support/programs.ts';
import { SPEAKERS } from '../../support/world.ts';

const programs = needPrograms(t, 'chromium');
const { world, url, ann, key, browser } = await openConsole(t, programs.chromium);

const HOSTILE = `# <img src=x onerror="document.title='owned'"> Minutes

<script>document.title = 'owned'</script>
<form action="/v1/app/keys" method="post"><button>Press</button></form>

- [ ] Call **Ann** [00:02]
- [x] [Press here](javascript:document.title='owned') or [here](https://evil.example/)

| Who | What |
|---|---|
| ![x](https://evil.example/pixel.png) | <svg/onload=alert(1)> |
`;

t.test('a report in hostile Markdown does nothing: it is read as text, and its times lead to their turns', async (t) => {
  const turns = [
    { start: 0, end: 1.5, speaker: 'speaker_1', text: 'Good morning.' },
    { start: 2, end: 4, speaker: 'speaker_2', text: 'Please call Ann.' },
  ];
  const id = await world.transcription(ann, { title: 'A call', duration: 5, turns, speakers: SPEAKERS });
  await world.report(id, 'minutes', 'completed', HOSTILE);
  const page = await browser.newPage();
  const faults = faultsOf(page);
  const strangers: string[] = [];
  const renderer: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) strangers.push(request.url());
    if (/\/render-[^/]*\.js$/.test(request.url())) renderer.push(request.url());
  });
  await signIn(page, url, key);
  t.strictSame(renderer, [], 'the renderer is not part of the first load');
  await page.goto(`${url}/#/t/${id}`);
  await page.click('role=tab[name=/Reports/]');
  await page.waitForSelector('div.prose h3');
  t.equal(renderer.length, 1, 'it is loaded with the first report');
  const prose = page.locator('div.prose');
  t.equal(await prose.locator('script, img, svg, form, button, iframe, input').count(), 0);
  t.match(await prose.textContent(), /<script>document.title = 'owned'<\/script>/);
  t.match(await prose.locator('li').allTextContents(), [
    /☐ Call Ann \[00:02\]/,
    /☑ Press here \(javascript:.*\) or here \(https:\/\/evil.example\/\)/,
  ]);
  t.strictSame(await prose.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href'))), [`#/t/${id}?turn=2`]);
  t.equal(await prose.locator('table td').count(), 2);
  t.notMatch(await page.title(), /owned/);
  t.strictSame(strangers, []);
  t.strictSame(faults, []);
});
