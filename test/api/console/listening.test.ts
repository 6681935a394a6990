import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { faultsOf, findings, openConsole, shot, signIn } from '../../support/console/browser.ts';
import { SPEAKERS } from '../../support/databases/world.ts';
import { silence } from '../../support/engine/silence.ts';
import { needPrograms } from '../../support/processes/programs.ts';
import { eventually } from '../../support/processes/service.ts';

const programs = needPrograms(t, 'chromium');
const { world, url, ann, key, browser } = await openConsole(t, programs.chromium);
const folder = mkdtempSync(path.join(tmpdir(), 'longhand-listening-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

/** A file with silence. */
function copyOf(name: string, seconds: number): string {
  const file = path.join(folder, name);
  writeFileSync(file, Buffer.concat([...silence(seconds)]));
  return file;
}

const WORDS = ['One', 'two', 'three', 'four', 'five.'];
const turns = Array.from({ length: 200 }, (_, index) => ({
  ...{ start: index * 3, end: index * 3 + 2.5, speaker: `speaker_${(index % 2) + 1}`, text: WORDS.join(' ') },
  words: WORDS.map((word, at): [number, number, string] => [index * 3 + at * 0.5, index * 3 + at * 0.5 + 0.4, ` ${word}`]),
}));
const id = await world.transcription(ann, { title: 'A call', duration: 600, turns, speakers: SPEAKERS });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const faults = faultsOf(page);
const sent: string[] = [];
page.on('request', (request) => {
  if (request.method() !== 'GET') sent.push(`${request.method()} ${request.url()}`);
});
await signIn(page, url, key);
await page.goto(`${url}/#/t/${id}`);
await page.waitForSelector('.turn');
const at = () => page.evaluate(() => document.querySelector('audio')!.currentTime);

t.test('the page explains why there is no recording, and shows who speaks when', async (t) => {
  await page.waitForFunction(() => document.querySelector('.player')!.textContent!.includes('privacy')); // once the page knows that none is kept
  t.match(await page.textContent('.player'), /For privacy Longhand keeps only the text\./);
  const drawn = () =>
    page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.lanes')!;
      const lanes = [0.25, 0.75].map((part) => {
        const { data } = canvas.getContext('2d')!.getImageData(0, Math.floor(canvas.height * part), canvas.width, 1);
        const seen = new Set<string>();
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) seen.add([...data.slice(i, i + 3)].join());
        return [...seen];
      });
      return { width: canvas.clientWidth, lanes };
    });
  const isDrawn = async () => {
    const found = await drawn();
    return found.lanes.every((lane) => lane.length) ? found : null;
  };
  const { width, lanes } = await eventually(isDrawn, 'the lanes of the speakers');
  t.ok(width > 300);
  for (const [at, own, other] of [
    [0, '47,75,199', '154,61,11'],
    [1, '154,61,11', '47,75,199'],
  ] as const)
    t.ok(lanes[at]!.includes(own) && !lanes[at]!.includes(other), `the lane of speaker ${at + 1}: ${lanes[at]!.slice(0, 9).join(' ')}`);
});

t.test('a copy of a different length is reported', async (t) => {
  await page.setInputFiles('.player input[type=file]', copyOf('other.wav', 9));
  await page.waitForSelector('.player [role=alert]:has-text("This file is 9 s long, the recording 10 min")');
  t.strictSame(await findings(page), []);
  await page.setInputFiles('.player input[type=file]', copyOf('cut.wav', 585));
  await page.waitForSelector('.player [role=alert]:has-text("This file is 9 min 45 s long")');
  await page.setInputFiles('.player input[type=file]', copyOf('trimmed.wav', 596));
  await page.waitForFunction(() => document.querySelector('audio')!.duration === 596);
  t.equal(await page.locator('.player [role=alert]').count(), 0, 'encoders add and cut a little');
});

t.test('a copy is played beside its text: words are highlighted as they are spoken, and nothing is uploaded', async (t) => {
  sent.length = 0;
  await page.setInputFiles('.player input[type=file]', copyOf('call.wav', 600));
  await page.waitForSelector('.word');
  await page.waitForFunction(() => document.querySelector('audio')!.duration === 600);
  t.equal(await page.locator('.player [role=alert]').count(), 0);
  await page.click('.player >> text=Play');
  await page.waitForSelector('.word.said:has-text("two")');
  await page.waitForSelector('.turn:not(#turn-1) .word.said');
  t.equal(await page.locator('.word.said').count(), 1);
  await shot(page, 'listening');
  t.strictSame(await findings(page), []);
  t.strictSame(sent, []);
  t.match(await page.getAttribute('audio', 'src'), /^blob:/);
});

t.test('a word, a time, the speaker strip and the keyboard select where to play from, and the page follows', async (t) => {
  await page.click('.player >> text=Pause');
  await page.click('#turn-4 .word >> nth=2');
  t.ok(Math.abs((await at()) - 10) < 0.2, 'a word');
  t.match(await page.textContent('.word.said'), 'three');
  await page.focus('#turn-3 a');
  await page.keyboard.press('Enter');
  t.ok(Math.abs((await at()) - 6) < 0.2, 'the time of a turn, by keyboard');
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press('ArrowRight');
  t.ok(Math.abs((await at()) - 11) < 0.2, 'an arrow');
  await page.selectOption('select[aria-label="Speed"]', '2');
  t.equal(await page.evaluate(() => document.querySelector('audio')!.playbackRate), 2);
  const box = (await page.locator('.lanes').boundingBox())!;
  await page.mouse.click(box.x + box.width / 2, box.y + 3);
  t.ok(Math.abs((await at()) - 300) < 3, 'the strip');
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press('Space');
  await page.waitForFunction(() => !document.querySelector('audio')!.paused);
  await page.waitForFunction(() => {
    const turn = document.querySelector('.turn.wanted')?.getBoundingClientRect();
    return turn && Number(document.querySelector('.turn.wanted')!.id.slice(5)) > 99 && turn.top > 0 && turn.bottom < innerHeight;
  });
  await page.keyboard.press('Space');
  await page.waitForFunction(() => document.querySelector('audio')!.paused);
  t.strictSame(faults, []);
});

t.test('the page stays where it is while a turn is edited, and follows again afterwards', async (t) => {
  await page.evaluate(() => scrollTo(0, 0));
  await page.click('#turn-4 .word >> nth=0');
  await page.click('#turn-4 .edit');
  await page.waitForSelector('textarea:focus');
  await page.evaluate(async () => {
    const audio = document.querySelector('audio')!;
    audio.playbackRate = 16;
    await audio.play();
  });
  await page.waitForFunction(() => document.querySelector('audio')!.currentTime > 60); // 16 turns later
  t.ok(
    await page.evaluate(() => {
      const { top, bottom } = document.querySelector('textarea')!.getBoundingClientRect();
      return top > 0 && bottom < innerHeight;
    }),
  );
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => Number(document.querySelector('.turn.wanted')?.id.slice(5)) > 20);
  await page.click('.player >> text=Pause');
  await page.waitForFunction(() => document.querySelector('audio')!.paused);
});

t.test('the page stays where it is if it is told not to follow, and leaves shortcuts of the browser alone', async (t) => {
  await page.uncheck('text=Follow');
  await page.evaluate(() => {
    (document.activeElement as HTMLElement).blur();
    scrollTo(0, 0);
  });
  const before = await at();
  await page.keyboard.press('ArrowLeft');
  t.ok(Math.abs((await at()) - (before - 5)) < 0.2, 'back');
  const prevented = await page.evaluate(() => {
    const pressed = ['altKey', 'ctrlKey', 'metaKey'].map(
      (held) => new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true, cancelable: true, [held]: true }),
    );
    return pressed.map((press) => !document.body.dispatchEvent(press));
  });
  t.strictSame(prevented, [false, false, false]);
  await page.keyboard.press('Space');
  await page.waitForFunction((from) => document.querySelector('audio')!.currentTime > from, before);
  await page.keyboard.press('Space');
  await page.waitForFunction(() => document.querySelector('audio')!.paused);
  t.equal(await page.evaluate(() => scrollY), 0);
});

t.test('a copy is played in search results too: words are highlighted, found and selected', async (t) => {
  await page.goto(`${url}/#/?q=two%20three`);
  await page.click('.hit-list a >> nth=0');
  await page.waitForSelector('#turn-1.wanted mark');
  await page.setInputFiles('.player input[type=file]', copyOf('found.wav', 600));
  await page.waitForSelector('#turn-3 .word mark');
  t.strictSame(await page.locator('#turn-3 mark').allTextContents(), ['two', 'three']);
  await page.click('#turn-3 .word >> nth=2');
  t.ok(Math.abs((await at()) - 7) < 0.2);
  t.equal(await page.textContent('.word.said'), 'three');
  t.strictSame(await findings(page), []);
  await shot(page, 'listening-search');
});

t.test('the player fits a phone, in dark mode', async (t) => {
  const phone = await browser.newContext({ viewport: { width: 390, height: 800 }, colorScheme: 'dark' });
  const other = await phone.newPage();
  await signIn(other, url, key);
  await other.goto(`${url}/#/t/${id}`);
  await other.waitForSelector('.turn');
  await other.setInputFiles('.player input[type=file]', copyOf('phone.wav', 600));
  await other.waitForSelector('.player >> text=Play');
  t.equal(await other.evaluate(() => document.documentElement.scrollWidth), 390);
  t.strictSame(await findings(other), []);
  await shot(other, 'listening-phone-dark');
  await phone.close();
});

t.test('words are separated by the spaces of their language, of which Chinese has none', async (t) => {
  const turn = { start: 0, end: 2, speaker: 'speaker_1', text: '你好，世界。' };
  const chinese = await world.transcription(ann, {
    turns: [
      {
        ...turn,
        words: [
          [0, 1, '你好，'],
          [1, 2, '世界。'],
        ],
      },
    ],
    speakers: SPEAKERS,
  });
  await page.goto(`${url}/#/t/${chinese}`);
  await page.getByLabel('Word timestamps').check();
  await page.waitForSelector('.word');
  t.equal(await page.textContent('.turn p'), turn.text);
  await page.goto(`${url}/#/t/${id}`);
  await page.getByLabel('Word timestamps').check();
  await page.waitForSelector('.word >> text=five.');
  t.equal((await page.locator('.turn p').first().textContent())!.trim(), WORDS.join(' '));
});
