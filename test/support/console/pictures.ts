/** Takes the screenshots of README: `npm run pictures` writes docs/images/transcript-{light,dark}.png from the real console, at twice their size for high-resolution displays. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { findTools } from '../../../engine/audio/ffmpeg/tools.ts';
import { ROOT } from '../processes/processes.ts';
import { findProgram } from '../processes/programs.ts';
import { openConsole, signIn } from './browser.ts';

const SCREEN = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 2, locale: 'en-US', timezoneId: 'UTC' };
const PALETTE = 'split[a][b];[a]palettegen=reserve_transparent=0[p];[b][p]paletteuse=dither=none'; // 256 colours, for smaller files

const TALK: [start: number, end: number, speaker: string, text: string][] = [
  [0.4, 6.2, 'speaker_1', 'Good morning, this is Dana from Northwind Energy. You asked us about solar panels for the bakery?'],
  [
    6.8,
    14.9,
    'speaker_2',
    'Yes, thanks for calling back. Our ovens start at four in the morning, so I wonder whether panels pay off at all.',
  ],
  [15.4, 21.7, 'speaker_1', 'A fair question. How much electricity do you use, and how much before nine?'],
  [22.3, 29.5, 'speaker_2', 'Sixty thousand kilowatt-hours a year, about a third of it before the sun is up.'],
  [
    30.1,
    42.6,
    'speaker_1',
    'Then a roof of thirty kilowatts with a battery covers a little under half. At your tariff it is paid back in about seven years.',
  ],
  [43.2, 48.8, 'speaker_2', 'Seven is longer than I hoped. What would it be without the battery?'],
  [
    49.3,
    60.4,
    'speaker_1',
    'Closer to six, but you would sell most of the afternoon for very little. I can send you both versions side by side.',
  ],
  [61, 67.5, 'speaker_2', 'Please do, by Thursday if you can. My partner decides with me, and we meet on Friday.'],
  [68.1, 76, 'speaker_1', 'You will have both offers on Wednesday. Shall I call on Monday to hear what you decided?'],
  [76.4, 79.2, 'speaker_2', 'Monday after ten is fine. Thank you!'],
];
const CHECKLIST = [
  '**Checklist**\n',
  '- ✓ Greeting with name and company: [00:00] Dana: Good morning, this is Dana from Northwind Energy.',
  '- ✓ Asked about the need: [00:15] Dana: How much electricity do you use, and how much before nine?',
  '- ✓ Answered the objection: [00:49] Dana: Closer to six, but you would sell most of the afternoon for very little.',
  '- ✗ Asked about the budget: not heard',
  '- ✓ Agreed on the next step: [01:08] Dana: Shall I call on Monday to hear what you decided?',
].join('\n');

const closing: (() => unknown)[] = [];
const chromium = findProgram('chromium');
if (!chromium) throw new Error('Cannot take pictures: there is no chromium on the PATH. Install it (Debian: apt-get install chromium)');
const { ffmpeg } = await findTools();
try {
  const { browser, world, url, key, ann, workspace } = await openConsole({ teardown: (after) => closing.unshift(after) }, chromium);
  const id = await world.transcription(ann, {
    filename: 'northwind-2026-11-24.wav',
    title: 'Solar panels for a bakery: two offers by Wednesday',
    summary:
      'Robin asks whether solar panels pay off for a bakery whose ovens start at four. Dana expects seven years with a battery, six without. ' +
      'She sends both offers on Wednesday and calls on Monday.',
    topics: ['Solar panels', 'Payback', 'Battery'],
    language: 'en',
    duration: 81,
    externalId: 'deal-4711',
    metadata: '{"crm":"deal-4711","campaign":"autumn"}',
    projectId: await world.project(workspace, 'Sales'),
    createdAt: '2026-11-24T10:04:00Z',
    speakers: [
      { id: 'speaker_1', ai_name: null, name: 'Dana' },
      { id: 'speaker_2', ai_name: null, name: 'Robin' },
    ],
    turns: TALK.map(([start, end, speaker, text]) => ({ start, end, speaker, text, words: wordsOf(start, end, text) })),
  });
  await world.report(id, 'call-quality-checklist', 'completed', CHECKLIST);
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ ...SCREEN, colorScheme });
    await signIn(page, url, key);
    await page.goto(`${url}/#/t/${id}`);
    await page.getByText('Good morning').waitFor();
    await page.waitForLoadState('networkidle');
    const picture = path.join(ROOT, `docs/images/transcript-${colorScheme}.png`);
    const input = await page.screenshot();
    execFileSync(
      ffmpeg,
      ['-v', 'error', '-y', '-f', 'png_pipe', '-i', '-', '-filter_complex', PALETTE, '-compression_level', '9', picture],
      { input },
    );
    await page.close();
  }
} finally {
  for (const close of closing) await close();
}

/** Timestamps for the words of a turn, in proportion to their length. */
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
