import fc from 'fast-check';
import t from 'tap';
import { cleanName, givenName, readFileName } from '../../../api/upload/filename.ts';
import { refusal as code } from '../../support/api/refusal.ts';
import { ANY_CHARACTER, runs } from '../../support/property.ts';

t.test('givenName() reads every form of Content-Disposition', async (t) => {
  const forms: [string, string | null][] = [
    ['attachment; filename="call.mp3"', 'call.mp3'],
    ['attachment; filename=call.mp3', 'call.mp3'],
    ['attachment;filename = call.mp3 ; size=3', 'call.mp3'],
    ['inline; size=3; FILENAME="call.mp3"', 'call.mp3'],
    ['form-data; name="file"; filename="call.mp3"', 'call.mp3'],
    ['attachment; filename="a \\"quoted\\" \\\\ name.mp3"', 'a "quoted" \\ name.mp3'],
    ['attachment; filename="semi;colon.mp3"', 'semi;colon.mp3'],
    ['attachment; filename="größe 音声.mp3"', 'größe 音声.mp3'],
    ["attachment; filename*=UTF-8''%E2%82%AC%20rates.mp3", '€ rates.mp3'],
    ["attachment; filename*=utf-8'en'a%2Fb.mp3", 'a/b.mp3'],
    ["attachment; filename*=ISO-8859-1''gr%FC%DFe.mp3", 'grüße.mp3'],
    [`attachment; filename="fallback.mp3"; filename*=UTF-8''better.mp3`, 'better.mp3'],
    [`attachment; filename*=UTF-8''better.mp3; filename="fallback.mp3"`, 'better.mp3'],
    ['attachment;; filename="call.mp3";', 'call.mp3'],
    ['attachment', null],
    ['', null],
    ['filename="call.mp3"', null],
    ['attachment; filename="unclosed.mp3', null],
    ['attachment; filename="a.mp3"; filename="b.mp3"', null],
    ["attachment; filename*=UTF-8''%ZZ.mp3", null],
    ["attachment; filename*=UTF-8''%E2%82.mp3", null],
    ["attachment; filename*=UTF-8''%2", null],
    ["attachment; filename*=KOI8-R''call.mp3", null],
    [`attachment; filename="fallback.mp3"; filename*=UTF-8''%FF`, null],
    ['attachment; filename="not \uFFFD utf-8.mp3"', null],
  ];
  for (const [header, name] of forms) t.equal(givenName(header), name, header);
});

t.test('cleanName() returns a name that is safe for every file system and header', async (t) => {
  const names: [string, string][] = [
    ['C:\\Users\\anna\\call.mp3', 'call.mp3'],
    ['../../etc/passwd.mp3', 'passwd.mp3'],
    ['...hidden.mp3', 'hidden.mp3'],
    ['call.mp3. . ', 'call.mp3'],
    ['line\r\nbreak\0\u0085\u202E.mp3', 'linebreak.mp3'],
    ['e\u0301.mp3', 'é.mp3'],
    ['=SUM(A1).mp3', '=SUM(A1).mp3'],
    ['a/..', ''],
    ['dir/', ''],
    [`${'é'.repeat(300)}.flac`, `${'é'.repeat(125)}.flac`],
  ];
  for (const [given, clean] of names) t.equal(cleanName(given), clean, given);
});

t.test('cleanName() takes no longer for a name with many spaces or dots', async (t) => {
  const start = performance.now();
  for (const filler of [' ', '.', '. ']) t.match(cleanName(`a${filler.repeat(200_000)}b.mp3`), /^a[ .]+\.mp3$/);
  t.ok(performance.now() - start < 10_000, 'a regular expression took a minute for each');
});

t.test('readFileName() goes by the extension after the last dot', async (t) => {
  t.strictSame(readFileName('attachment; filename="a.exe.MP3"'), { name: 'a.exe.MP3', extension: 'mp3' });
  t.equal(
    code(() => readFileName('attachment; filename="a.mp3.exe"')),
    'unsupported_file_format',
  );
  t.equal(
    code(() => readFileName('attachment; filename="recording"')),
    'unsupported_file_format',
  );
  t.equal(
    code(() => readFileName('attachment; filename=".mp3"')),
    'unsupported_file_format',
  );
  t.equal(
    code(() => readFileName('attachment; filename="..."')),
    'filename_required',
  );
});

t.test('cleanName() never lets any name escape a folder, break a header or grow (property)', async () => {
  const hostile = fc.string({
    unit: fc.constantFrom(
      'a',
      '.',
      '/',
      '\\',
      ' ',
      '\0',
      '\r',
      '\n',
      '\u0085',
      '\u202E',
      '\u2067',
      'é',
      'e\u0301',
      '音',
      '😀',
      '"',
      ';',
      '%',
      '..',
    ),
    maxLength: 400,
  });
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string({ unit: ANY_CHARACTER, maxLength: 400 })), (given) => {
      const name = cleanName(given);
      return (
        !/[/\\\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/.test(name) &&
        !name.startsWith('.') &&
        Buffer.byteLength(name) <= 255 &&
        name === name.normalize('NFC') &&
        cleanName(name) === name
      );
    }),
    runs(3000),
  );
});

t.test('givenName() returns what a correct client encoded (property)', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((name) => !name.includes('\uFFFD') && !/\p{Surrogate}/u.test(name));
  fc.assert(
    fc.property(text, (name) => {
      const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
      const quoted = name.replace(/["\\]/g, '\\$&');
      return givenName(`attachment; filename*=UTF-8''${encoded}`) === name && givenName(`attachment; filename="${quoted}"`) === name;
    }),
    runs(2000),
  );
});
