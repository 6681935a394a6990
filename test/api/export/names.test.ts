import { parse } from 'content-disposition';
import fc from 'fast-check';
import t from 'tap';
import { attachment, baseName, entryNames } from '../../../api/export/names.ts';
import { ANY_CHARACTER, runs } from '../../support/property.ts';

const titles = fc.oneof(
  fc.string({ unit: ANY_CHARACTER, maxLength: 300 }),
  fc.constantFrom(
    '../../x',
    'a/b\\c',
    'CON',
    'nul.txt',
    'CON .a',
    'lpt1: the talk',
    '...',
    ' .mp3',
    'A',
    'a',
    'A (2)',
    'Ä',
    'A\u0308',
    'x.mp3',
    '\u202ecod.exe',
    'y\r\nSet-Cookie: a=b',
    'Q: what next?',
    '\u2105 Smith',
    '\u2025\uff0f\u2025\uff0fpasswd',
  ),
);

t.test('baseName() makes any title safe as a file name on every system', (t) => {
  fc.assert(
    fc.property(titles, (title) => {
      const name = baseName(title);
      return (
        name.length > 0 &&
        Buffer.byteLength(name) <= 230 &&
        !/[/\\\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\.\.|^[.\s]|[.\s]$|^[a-z]:/i.test(name) &&
        !/^(con|prn|aux|nul|com\d|lpt\d) *([.:]|$)/i.test(name)
      );
    }),
    runs(2_000),
  );
  t.end();
});

t.test('baseName() drops only a known media extension', (t) => {
  t.strictSame(['a.mp3', 'a.MP4', 'a.exe.mp3', 'a.txt', 'v1.2', 'mp3', '.mp3', '', null].map(baseName), [
    'a',
    'a',
    'a.exe',
    'a.txt',
    'v1.2',
    'mp3',
    'transcription',
    'transcription',
    'transcription',
  ]);
  t.end();
});

t.test('baseName() keeps names of 230 bytes whole, and cuts longer ones between characters', (t) => {
  const [ascii, umlauts] = ['a'.repeat(230), 'ä'.repeat(115)];
  t.strictSame([ascii, umlauts].map(baseName), [ascii, umlauts]);
  t.strictSame([`${ascii}a`, `${umlauts}a`, `a${umlauts}`].map(baseName), [ascii, umlauts, `a${'ä'.repeat(114)}`]);
  t.end();
});

t.test('entryNames() are unique regardless of case and composition; titles come first, counters skip taken names', (t) => {
  t.strictSame(entryNames(['A', 'A', 'A (2)'], 'md'), ['A.md', 'A (3).md', 'A (2).md']);
  t.strictSame(entryNames(['x', 'X.mp3', 'x'], 'txt'), ['x.txt', 'X (2).txt', 'x (3).txt']);
  t.strictSame(entryNames(['οδος', 'ΟΔΟΣ', 'οδοσ'], 'md'), ['οδος.md', 'ΟΔΟΣ (2).md', 'οδοσ (3).md']);
  fc.assert(
    fc.property(fc.array(titles, { maxLength: 30 }), (given) => {
      const names = entryNames(given, 'json').map((name) => name.normalize('NFC').toLowerCase());
      return new Set(names).size === given.length;
    }),
    runs(),
  );
  t.end();
});

t.test('attachment() encodes any name as one header line that decodes to the same name', (t) => {
  fc.assert(
    fc.property(titles, (title) => {
      const name = `${baseName(title)}.md`;
      const header = attachment(name);
      return (
        /^attachment; filename="(?!\.)[^"/\\%\u0000-\u001f\u007f-\uffff]+"; filename\*=UTF-8''[\x21-\x7e]+$/.test(header) &&
        parse(header).parameters.filename === name
      );
    }),
    runs(1_000),
  );
  t.end();
});
