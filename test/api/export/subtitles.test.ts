import fc from 'fast-check';
import t from 'tap';
import { type Subtitled, subtitles } from '../../../api/export/subtitles.ts';

interface ReadCue {
  start: number;
  end: number;
  lines: string[];
}

const TIME = '(\\d{2,}):([0-5]\\d):([0-5]\\d)';
const ms = ([h, m, s, f]: string[]) => ((Number(h) * 60 + Number(m)) * 60 + Number(s)) * 1000 + Number(f);

/** Reads SubRip as its strictest readers do. Throws on anything else. */
function readSrt(text: string): ReadCue[] {
  if (text === '') return [];
  return text
    .replace(/\n$/, '')
    .split('\n\n')
    .map((block, index) => {
      const [number, times, ...lines] = block.split('\n');
      const match = new RegExp(`^${TIME},(\\d{3}) --> ${TIME},(\\d{3})$`).exec(times!);
      if (number !== String(index + 1) || !match || !lines.length || lines.some((line) => !line || line.includes('-->')))
        throw new Error(`Cannot read cue ${index + 1}: ${block}`);
      return { start: ms(match.slice(1, 5)), end: ms(match.slice(5, 9)), lines: lines.map((line) => line.replace(/[\u202b\u202c]/g, '')) };
    });
}

/** Reads WebVTT: header, cues, escaped text, voice spans that close. Throws on anything else. */
function readVtt(text: string): ReadCue[] {
  const [head, ...blocks] = text.replace(/\n$/, '').split('\n\n');
  if (head !== 'WEBVTT') throw new Error(`Cannot read WebVTT that begins ${head}`);
  return blocks.map((block) => {
    const [times, ...lines] = block.split('\n');
    const match = new RegExp(`^${TIME}\\.(\\d{3}) --> ${TIME}\\.(\\d{3})$`).exec(times!);
    if (!match || !lines.length) throw new Error(`Cannot read the cue ${block}`);
    const plain = lines.map((line) => {
      const inner = /^<v ([^<>&]|&(amp|lt|gt);)+>(.*)<\/v>$/.exec(line)?.[3] ?? line;
      if (!inner || /[<>]|&(?!(amp|lt|gt);)/.test(inner)) throw new Error(`Cannot read the line ${line}`);
      return inner.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    });
    return { start: ms(match.slice(1, 5)), end: ms(match.slice(5, 9)), lines: plain };
  });
}

const talk = (segments: Subtitled['segments'], rest: Partial<Subtitled> = {}): Subtitled => ({
  language: 'en',
  durationSeconds: 3_600,
  speakers: [
    { id: 'speaker_1', name: null },
    { id: 'speaker_2', name: null },
  ],
  segments,
  ...rest,
});

/** A turn whose words follow one another, `rate` seconds each. */
function turn(id: number, speaker: string | null, start: number, text: string, rate = 0.3) {
  const words = (text.match(/\s*\S+/g) ?? []).map((word, i) => ({
    start: start + i * rate,
    end: start + (i + 1) * rate - 0.02,
    text: word,
  }));
  return { id, start, end: words.at(-1)?.end ?? start, speaker_id: speaker, text, words };
}

t.test('subtitles() breaks at sentences and phrases, not within them', async (t) => {
  const text = 'I think that we should wait until the spring, when prices fall. Nobody will sell before that, believe me.';
  const cues = readSrt(await subtitles(talk([turn(1, null, 1, text, 0.35)]), 'srt'));
  t.strictSame(
    cues.map(({ lines }) => lines),
    [
      ['I think that we should wait until', 'the spring, when prices fall.'],
      ['Nobody will sell before that,', 'believe me.'],
    ],
  );
});

t.test('subtitles() cuts at a pause that readers feel', async (t) => {
  const [one, two] = [turn(1, null, 0, 'so we went to the market', 0.3), turn(1, null, 4, ' and bought some apples', 0.3)];
  const merged = { ...one, text: one.text + two.text, words: [...one.words, ...two.words] };
  const cues = readSrt(await subtitles(talk([merged]), 'srt'));
  t.strictSame(
    cues.map(({ lines }) => lines.join(' ')),
    ['so we went to the market', 'and bought some apples'],
  );
});

t.test('subtitles() marks changes of speaker: a dash, or the name that somebody gave', async (t) => {
  const turns = [
    turn(1, 'speaker_1', 0, 'Good morning to all of you.'),
    turn(2, 'speaker_2', 5, 'Thank you.'),
    turn(3, 'speaker_2', 12, 'Shall we begin?'),
  ];
  const speakers = [
    { id: 'speaker_1', name: 'Anna <A>: "x"' },
    { id: 'speaker_2', name: null },
  ];
  t.equal(
    await subtitles(talk(turns, { speakers }), 'srt'),
    [
      '1\n00:00:00,000 --> 00:00:02,080\nAnna <A>  "x": Good morning\nto all of you.\n',
      '2\n00:00:05,000 --> 00:00:06,000\n- Thank you.\n',
      '3\n00:00:12,000 --> 00:00:13,180\nShall we begin?\n',
    ].join('\n'),
  );
  t.match(
    await subtitles(talk(turns, { speakers }), 'vtt'),
    /<v Anna &lt;A&gt;: "x">Anna &lt;A&gt;.*<\/v>\n[\s\S]*<v Speaker 2>- Thank you\.<\/v>/,
  );
  const alone = await subtitles(talk([turns[0]!]), 'vtt');
  t.notOk(alone.includes('<v') || alone.includes('- '), 'one speaker needs no marks');
});

t.test('subtitles() puts people who talk at once into one cue, a line each', async (t) => {
  const turns = [turn(1, 'speaker_1', 0, 'I was about to say that', 0.4), turn(2, 'speaker_2', 0.9, 'No, wait.', 0.5)];
  const cues = readSrt(await subtitles(talk(turns), 'srt'));
  t.strictSame(
    cues.map(({ lines }) => lines),
    [['- I was about to say that', '- No, wait.']],
  );
});

t.test('subtitles() fits Chinese by width, breaks between words, and never begins a line with a closing mark', async (t) => {
  const text = '我们今天讨论一下明年的预算问题，大家有什么意见都可以提出来。首先请财务部门介绍情况，然后我们再讨论。';
  const words = [...text].map((character, i) => ({ start: i * 0.22, end: i * 0.22 + 0.2, text: character }));
  const cues = readSrt(await subtitles(talk([{ id: 1, start: 0, end: 12, speaker_id: null, text, words }], { language: 'zh' }), 'srt'));
  const lines = cues.flatMap((cue) => cue.lines);
  t.equal(lines.join(''), text);
  for (const line of lines) t.ok([...line].length <= 21 && !/^[，。]/.test(line), line);
  t.ok(lines.some((line) => line.endsWith('，')));
});

t.test('subtitles() embeds lines that run from right to left, for players that lay out from the left', async (t) => {
  const text = 'שלום לכולם, היום נדבר על התוכנית החדשה של החברה.';
  const srt = await subtitles(talk([turn(1, null, 0, text)], { language: 'he' }), 'srt');
  for (const line of srt.split('\n').filter((line) => /[א-ת]/.test(line))) t.match(line, /^\u202b.{1,40}\u202c$/);
  t.notOk((await subtitles(talk([turn(1, null, 0, text)], { language: 'he' }), 'vtt')).includes('\u202b'));
});

t.test('subtitles() spreads words over their segment where there are no times of words', async (t) => {
  const cues = readSrt(await subtitles(talk([{ id: 1, start: 10, end: 20, speaker_id: null, text: 'word '.repeat(30).trim() }]), 'srt'));
  t.equal(cues[0]!.start, 10_000);
  t.ok(cues.at(-1)!.end >= 20_000 && cues.length >= 2);
});

t.test('subtitles() of hour 100 and of nothing are valid', async (t) => {
  t.match(
    await subtitles(talk([turn(1, null, 360_000, 'Late.')], { durationSeconds: 360_001 }), 'srt'),
    /^1\n100:00:00,000 --> 100:00:01,000\nLate\.\n$/,
  );
  t.equal(await subtitles(talk([]), 'srt'), '');
  t.strictSame(readVtt(await subtitles(talk([]), 'vtt')), []);
});

/** Columns: ideographs, kana, Hangul and emoji take two, marks that stand over or under a letter none. */
const width = (line: string) =>
  [...line].reduce((sum, character) => {
    if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(character)) return sum;
    return sum + (/\p{scx=Han}|\p{scx=Hira}|\p{scx=Kana}|\p{scx=Hang}|\p{Emoji_Presentation}|[\uff01-\uff60]/u.test(character) ? 2 : 1);
  }, 0);

const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen';
const words = fc.array(
  fc.record({
    text: fc.constantFrom(
      ' yes',
      ' and',
      ' market,',
      ' done.',
      ' -->',
      ' a<b>&c',
      ` ${LONG}`,
      '日本',
      '。',
      '東京特許許可局許可局長今日急遽休暇許可拒否',
      ' สวัสดีครับ',
      'ผมชื่อสมชายและผมทำงานที่กรุงเทพมหานครมาตั้งแต่ปีที่แล้ว',
      ' 안녕하세요',
      ' مرحبا',
      ' שלום',
      '\n x',
      ' "quoted"',
      ' 🙂',
    ),
    gap: fc.constantFrom(0, 0, 0, 0.05, 0.5, 9),
    length: fc.constantFrom(0, 0.1, 0.3, 0.6, 2.5),
  }),
  { minLength: 1, maxLength: 25 },
);
const turns = fc.array(fc.record({ speaker: fc.constantFrom('speaker_1', 'speaker_2'), gap: fc.constantFrom(0, 0.2, 3), words }), {
  maxLength: 6,
});

t.test(
  'subtitles() of any talk in turn: strict parsers read them, nothing overlaps or is too long or wide, words lie inside, none is lost',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(turns, fc.constantFrom('srt' as const, 'vtt' as const), async (given, format) => {
        let at = 0;
        const segments = given.map(({ speaker, gap, words }, index) => {
          at += gap;
          const start = at;
          const spoken = words.map((word) => {
            const from = at + word.gap;
            at = from + word.length;
            return { start: from, end: at, text: word.text };
          });
          return { id: index + 1, start, end: at, speaker_id: speaker, text: '', words: spoken };
        });
        const text = await subtitles(talk(segments, { durationSeconds: at }), format);
        const cues = format === 'srt' ? readSrt(text) : readVtt(text);
        let free = 0;
        for (const { start, end, lines } of cues) {
          if (start < free || end <= start || end - start > 7_000 || lines.length > 2) throw new Error(`bad cue at ${start}: ${text}`);
          for (const line of lines) if (width(line) > 42) throw new Error(`too wide: ${line}`);
          free = end;
        }
        const all = segments.flatMap((segment) => segment.words);
        for (const { start, end, text: word } of all) {
          const [from, to] = [Math.round(start * 1000), Math.round(end * 1000)];
          const crowded = all.filter((other) => Math.abs(other.start - start) < 0.002).length > 1;
          if (word.includes(LONG) || word.length > 20 || crowded || to === from) continue; // split, or at one moment with others
          if (!cues.some((cue) => cue.start <= from && to <= cue.end)) throw new Error(`${word} at ${from}-${to} lies in no cue: ${text}`);
        }
        const squeezed = (value: string) => value.replaceAll('-->', '→').replace(/[\s-]/g, '');
        const shown = squeezed(cues.flatMap(({ lines }) => lines).join(''));
        if (shown !== squeezed(all.map((word) => word.text).join(''))) throw new Error(`words were lost: ${text}`);
      }),
      { numRuns: 300 },
    );
    t.pass();
  },
);

t.test('subtitles() of people who talk at once: nothing overlaps, and words lie inside wherever two lines can hold them', async (t) => {
  const overlapping = fc.array(fc.record({ at: fc.integer({ min: 0, max: 12 }), count: fc.integer({ min: 1, max: 7 }) }), {
    minLength: 2,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(overlapping, async (given) => {
      const segments = given.map(({ at, count }, i) =>
        turn(i + 1, `speaker_${(i % 2) + 1}`, at, Array(count).fill(' well').join(''), 0.45),
      );
      const cues = readSrt(await subtitles(talk(segments), 'srt'));
      let free = 0;
      for (const { start, end, lines } of cues) {
        if (start < free || end <= start || end - start > 7_000 || lines.length > 2) throw new Error(`bad cue at ${start}`);
        free = end;
      }
      if (given.length > 2) return;
      for (const { start, end } of segments.flatMap((segment) => segment.words))
        if (!cues.some((cue) => cue.start <= Math.round(start * 1000) && Math.round(end * 1000) <= cue.end))
          throw new Error(`a word at ${start} lies in no cue`);
    }),
    { numRuns: 200 },
  );
  t.pass();
});
