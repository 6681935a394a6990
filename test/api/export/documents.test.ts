import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inflateSync } from 'node:zlib';
import t from 'tap';
import { contentOf } from '../../../api/export/documents/content.ts';
import { docx } from '../../../api/export/documents/docx.ts';
import { pdf } from '../../../api/export/documents/pdf.ts';
import { member } from '../../support/api/zip.ts';
import { findProgram } from '../../support/processes/programs.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longhand-documents-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

/** Words that the document must contain, by script. */
const SAID: Record<string, string> = {
  Latin: 'Zürich ordered twenty-five façades',
  Cyrillic: 'Привет, договор подписан вчера',
  Greek: 'Καλημέρα, η σύμβαση υπογράφηκε',
  Chinese: '你好世界，今天天气很好。',
  Japanese: '契約書は昨日届きました。',
  Korean: '계약서는 어제 도착했습니다',
  Arabic: 'مرحبا، وصل العقد إلينا هنا (أمس) بسلام',
  Hebrew: 'שלום, החוזה הגיע אתמול',
  Persian: 'قرارداد دیروز به پاکستان رسید',
  Hindi: 'नमस्ते, क्षत्रिय हिन्दी अनुबंध',
  Bengali: 'নমস্কার বিশ্ব চুক্তি',
  Tamil: 'வணக்கம் உலகம் ஒப்பந்தம்',
  Telugu: 'నమస్కారం ప్రపంచం',
  Thai: 'สวัสดีครับ สัญญามาถึงเมื่อวานนี้',
  Georgian: 'გამარჯობა, ხელშეკრულება',
};

const SPEAKERS = [
  { id: 'speaker_1', name: 'Ann' },
  { id: 'speaker_2', name: 'مريم' },
];

const REPORT = `# Call check

A **clear** opening.
- greeted the caller
  - twice

| Criterion | Score |
|---|---|
| Greeting | 5 of 5 |
`;

function recordOf(texts: readonly string[], title = 'A call') {
  const report = { slug: 'check', name: 'Checklist', text: REPORT, error_code: null, created_at: '', completed_at: null };
  return {
    title,
    created_at: '2026-01-02T10:00:00.000Z',
    language: 'en',
    duration_seconds: 4_000,
    speakers: SPEAKERS,
    summary: 'Short.',
    prompt_results: [
      { ...report, id: '1', status: 'completed' as const },
      { ...report, id: '2', status: 'queued' as const, name: 'Not ready', text: null },
    ],
    segments: texts.map((text, index) => ({
      ...{ id: index + 1, start: index * 10, end: index * 10 + 9, speaker_name: null, text },
      speaker_id: index % 2 ? 'speaker_2' : 'speaker_1',
    })),
  };
}

const tight = (text: string) => text.replace(/[\s\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, ' ');

t.test('pdf() contains words of every script so that pdftotext finds them', async (t) => {
  const file = path.join(folder, 'scripts.pdf');
  const bytes = await pdf(contentOf(recordOf(Object.values(SAID)), true));
  writeFileSync(file, bytes);
  t.equal(bytes.subarray(0, 5).toString(), '%PDF-');
  const program = findProgram('pdftotext');
  const text = program ? tight(execFileSync(program, [file, '-'], { encoding: 'utf8' })) : null;
  for (const [script, said] of Object.entries(SAID)) {
    for (const word of said
      .replace(/[,،。，()]/g, ' ')
      .trim()
      .split(/\s+/)) {
      if (text !== null) t.ok(text.normalize('NFC').includes(word), `${script}: ${word}`);
      else if (/Hindi|Bengali|Tamil|Telugu/.test(script)) t.match(actualTexts(bytes), word, `${script}: ${word}`);
    }
  }
  if (text !== null)
    for (const written of ['Checklist', 'Call check', 'greeted the caller', '5 of 5', 'Ann 00:00', '2026-01-02']) t.match(text, written);
  if (text !== null) t.notMatch(text, 'Not ready');
});

/** The ActualText values in the pages of a PDF. */
function actualTexts(pdf: Buffer): string {
  const pages = [...pdf.toString('latin1').matchAll(/stream\r?\n([\s\S]*?)\r?\nendstream/g)].map(([, stream]) => {
    try {
      return inflateSync(Buffer.from(stream!, 'latin1')).toString('latin1');
    } catch {
      return '';
    }
  });
  return pages
    .flatMap((page) => [...page.matchAll(/\/ActualText <feff([0-9a-f]*)>/g)])
    .map(([, digits]) => Buffer.from(digits!, 'hex').swap16().toString('utf16le'))
    .join(' ');
}

t.test('pdf() draws a replacement for characters without a font, with their text, and breaks the longest word', async (t) => {
  const long = 'x'.repeat(3_000);
  const bytes = await pdf(contentOf(recordOf(['smile 😀 end', long, '', '\u0000\u202e\ud800 odd', ' '], ''), false));
  t.match(actualTexts(bytes), '😀');
  const program = findProgram('pdftotext');
  if (!program) return;
  const file = path.join(folder, 'odd.pdf');
  writeFileSync(file, bytes);
  const text = execFileSync(program, [file, '-'], { encoding: 'utf8' });
  t.equal(text.match(/x/g)?.length, 3_000, 'nothing is truncated');
});

t.test('pdf() and docx() name a speaker once for consecutive segments, unless times are requested', async (t) => {
  const record = recordOf(['One.', 'Two.', 'Three.']);
  for (const segment of record.segments) segment.speaker_id = 'speaker_1';
  const names = (times: boolean) => contentOf(record, times).blocks.filter(({ kind }) => kind === 'speaker').length;
  t.equal(names(false), 1);
  t.equal(names(true), 3);
});

t.test('docx() contains every word, speakers in colour, and right-to-left paragraphs where the text is right-to-left', async (t) => {
  const bytes = await docx(contentOf(recordOf(Object.values(SAID), 'A <call> & "more"'), true));
  const xml = await member(bytes, 'word/document.xml');
  for (const [script, said] of Object.entries(SAID)) t.match(xml, said, script);
  t.match(xml, '<w:color w:val="2f4bc7"/>');
  t.match(xml, '<w:color w:val="9a3d0b"/>');
  t.match(xml, 'A &lt;call&gt; &amp;');
  t.match(xml, /<w:tblHeader\/>/);
  const paragraphs = xml.match(/<w:p>[\s\S]*?<\/w:p>/g)!;
  const paragraph = (text: string) => paragraphs.find((one) => one.includes(text))!;
  t.match(paragraph(SAID.Arabic!), '<w:bidi/>');
  t.match(paragraph(SAID.Hebrew!), '<w:rtl/>');
  t.notMatch(paragraph(SAID.Hindi!), '<w:bidi/>');
});

const office = findProgram('lowriter'); // a package of its own: LibreOffice may be installed without it
t.test('docx() opens in LibreOffice', { skip: !office && 'LibreOffice is not installed' }, async (t) => {
  const file = path.join(folder, 'opened.docx');
  writeFileSync(file, await docx(contentOf(recordOf(Object.values(SAID)), true)));
  execFileSync(office!, [`-env:UserInstallation=file://${folder}/office`, '--headless', '--convert-to', 'pdf', '--outdir', folder, file], {
    stdio: 'ignore', // it warns about a missing Java
  });
  const converted = path.join(folder, 'opened.pdf');
  t.equal(readFileSync(converted).subarray(0, 5).toString(), '%PDF-');
  const program = findProgram('pdftotext');
  if (!program) return;
  const text = tight(execFileSync(program, [converted, '-'], { encoding: 'utf8' })).normalize('NFC');
  for (const script of ['Latin', 'Cyrillic', 'Greek', 'Chinese', 'Japanese', 'Korean'])
    for (const word of SAID[script]!.match(/[\p{L}-]+/gu)!) t.match(text, word, `${script}: ${word}`);
  for (const written of ['A call', 'Ann', 'Checklist', 'greeted the caller', '5 of 5']) t.match(text, written);
  t.notMatch(text, 'Not ready');
});
