import fc from 'fast-check';
import t from 'tap';
import { columns } from '../../../api/export/lines.ts';
import { subtitles } from '../../../api/export/subtitles.ts';
import { LONG, readSrt, readVtt, talk, turn } from '../../support/engine/subtitles.ts';
import { ANY_CHARACTER, runs } from '../../support/property.ts';

/** Columns: ideographs, kana, Hangul and emoji take two, combining marks none. */
const width = (line: string) =>
  [...line].reduce((sum, character) => {
    if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(character)) return sum;
    return sum + (/\p{scx=Han}|\p{scx=Hira}|\p{scx=Kana}|\p{scx=Hang}|\p{Emoji_Presentation}|[\uff01-\uff60]/u.test(character) ? 2 : 1);
  }, 0);

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
      'ผม',
      'ค้นหา',
      'Google',
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
  'subtitles() of speakers in turn: strict parsers accept them, no cue overlaps or is too long or wide, no word is lost or outside its cue',
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
          if (word.includes(LONG) || word.length > 20 || crowded || to === from) continue; // split, or simultaneous with others
          if (!cues.some((cue) => cue.start <= from && to <= cue.end)) throw new Error(`${word} at ${from}-${to} is in no cue: ${text}`);
        }
        const squeezed = (value: string) => value.replaceAll('-->', '→').replace(/[\s-]/g, '');
        const shown = squeezed(cues.flatMap(({ lines }) => lines).join(''));
        if (shown !== squeezed(all.map((word) => word.text).join(''))) throw new Error(`words were lost: ${text}`);
      }),
      runs(300),
    );
    t.pass();
  },
);

t.test('subtitles() of overlapping speech: no cues overlap, and words lie within their cue wherever two lines can hold them', async (t) => {
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
          throw new Error(`a word at ${start} is in no cue`);
    }),
    runs(200),
  );
  t.pass();
});

t.test('subtitles() of any characters, also graphemes wider than a line: no line is too wide, and no character is lost', async (t) => {
  const joined = fc
    .integer({ min: 2, max: 60 })
    .chain((count) =>
      fc
        .constantFrom('\u1100', '\u{1f642}\u200d', '\u{1f1e8}', '\u0e33', 'e\u0301', '\u{1f44d}\u{1f3fd}')
        .map((unit) => unit.repeat(count)),
    );
  const word = fc
    .tuple(fc.constantFrom('', ' '), fc.array(fc.oneof(joined, ANY_CHARACTER, fc.constantFrom('a', '\u200d', '\ufe0f')), { maxLength: 30 }))
    .map(([space, units]) => space + units.join(''));
  const spoken = fc.array(fc.record({ speaker: fc.nat(1), words: fc.array(word, { minLength: 1, maxLength: 6 }) }), {
    minLength: 1,
    maxLength: 3,
  });
  const names = fc.constantFrom(null, 'Bob', 'Bartholomew Cubb', 'A name that leaves no room for words');
  await fc.assert(
    fc.asyncProperty(spoken, names, fc.boolean(), fc.constantFrom('srt' as const, 'vtt' as const), async (given, name, timed, format) => {
      const segments = given.map(({ speaker, words }, i) => ({
        ...turn(i + 1, `speaker_${speaker + 1}`, i * 20, ''),
        ...{ end: i * 20 + 9, text: words.join('') },
        ...{ words: timed ? words.map((text, k) => ({ start: i * 20 + k, end: i * 20 + k + 0.9, text })) : [] },
      }));
      const speakers = [1, 2].map((n) => ({ id: `speaker_${n}`, name }));
      const text = await subtitles(talk(segments, { speakers }), format);
      const lines = (format === 'srt' ? readSrt(text) : readVtt(text)).flatMap(({ lines }) => lines);
      for (const line of lines) if (columns(line) > 42) throw new Error(`too wide: ${line}`);
      if (new Set(given.map(({ speaker }) => speaker)).size > 1) return; // lines have names
      const bare = (value: string) => value.replaceAll('-->', '\u2192').replace(/[\s\u0000-\u001f\u007f\u0085\u202b\u202c]/g, '');
      if (bare(lines.join('')) !== bare(segments.map((segment) => segment.text).join(''))) throw new Error(`characters were lost: ${text}`);
    }),
    runs(300),
  );
  t.pass();
});
