/** Takes the pictures of README: `node --import tsx test/support/pictures.ts` writes docs/images/transcript-{light,dark}.png from the real console. */
import path from 'node:path';
import { openConsole, signIn } from './browser.ts';
import { ROOT } from './processes.ts';
import { findProgram } from './programs.ts';

const SIZE = { width: 1100, height: 720 };
const TALK: [start: number, end: number, speaker: string, text: string][] = [
  [0, 6, 'speaker_1', 'Good morning, thank you for calling Northwind Energy, my name is Dana. How can I help you?'],
  [6.5, 15, 'speaker_2', 'Hi Dana. I moved at the beginning of the month, and the new flat is still billed at the old tariff.'],
  [15.5, 22, 'speaker_1', 'I am sorry about that. May I have your customer number, please?'],
  [22.5, 27, 'speaker_2', 'Sure, it is four four seven, one nine two.'],
  [
    28,
    38.5,
    'speaker_1',
    'Thank you. I can see the move here, it was booked for the fifteenth instead of the first. I will correct it now.',
  ],
  [39, 44, 'speaker_2', 'Great. Will I get the difference back?'],
  [
    44.5,
    55,
    'speaker_1',
    'Yes, eighteen euros and forty cents, with the next bill. You will have a confirmation by e-mail in a few minutes.',
  ],
  [55.5, 59, 'speaker_2', 'Perfect, that was quick. Thank you!'],
];

const closing: (() => unknown)[] = [];
const chromium = findProgram('chromium');
if (!chromium) throw new Error('Cannot take pictures: there is no chromium on the PATH');
try {
  const { browser, world, url, key, ann } = await openConsole({ teardown: (after) => closing.unshift(after) }, chromium);
  const turns = TALK.map(([start, end, speaker, text]) => ({ start, end, speaker, text, words: wordsOf(start, end, text) }));
  const id = await world.transcription(ann, {
    filename: 'northwind-2026-11-24.wav',
    title: 'Billing after a move: tariff corrected',
    language: 'en',
    duration: 61,
    externalId: 'call-4711',
    turns,
  });
  await world.report(
    id,
    'tasks',
    'completed',
    '- Correct the date of the move to the first\n- Refund €18.40 with the next bill\n- Send a confirmation by e-mail',
  );
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, viewport: SIZE });
    await signIn(page, url, key);
    await page.goto(`${url}/#/t/${id}`);
    await page.getByText('Good morning').waitFor();
    await page.screenshot({ path: path.join(ROOT, `docs/images/transcript-${colorScheme}.png`) });
    await page.close();
  }
} finally {
  for (const close of closing) await close();
}

/** Times for the words of a turn, in proportion to their length. */
function wordsOf(start: number, end: number, text: string): [number, number, string][] {
  const words = text.split(' ');
  const perCharacter = (end - start) / (text.length + 1);
  let at = start;
  return words.map((word) => {
    const from = at;
    at += (word.length + 1) * perCharacter;
    return [from, at, word];
  });
}
