import t from 'tap';
import { CATALOGUE } from '../../../api/contract/catalogue.ts';
import { TALKS, talk, transcript } from '../../../bench/reports/talks.ts';
import { INSTRUCTIONS } from '../../../engine/reports/catalogue.ts';
import { LAYOUTS } from '../../../engine/reports/extractive/layouts.ts';
import { evidenceOf } from '../../../engine/reports/ground.ts';
import { openWriter } from '../../../engine/reports/writer.ts';
import { never, report, section, writer } from './built-in.ts';

t.test('CATALOGUE has the 26 templates of the contract, and each has a layout and instructions', async (t) => {
  t.equal(CATALOGUE.length, 26);
  t.strictSame(Object.keys(LAYOUTS).sort(), CATALOGUE.map(({ slug }) => slug).sort());
  t.strictSame(Object.keys(INSTRUCTIONS).sort(), CATALOGUE.map(({ slug }) => slug).sort());
});

t.test(
  'write() fills every template of the catalogue in every language, deterministically, using only words of the transcript',
  async (t) => {
    for (const name of TALKS) {
      const evidence = evidenceOf(talk(name));
      for (const { slug } of CATALOGUE) {
        const text = await report(name, slug);
        t.equal(text, await report(name, slug), `${slug} of ${name} is deterministic`);
        t.match(text, /^_.{30,}_\n/, `${slug} of ${name} begins with a notice`);
        t.notMatch(text, /^#/m);
        const lines = [...text.matchAll(/^- \[\d\d:\d\d\] [^:]+: (.+?)…?$/gm)].map((match) => match[1]!);
        t.ok(
          slug === 'topics-outline' || lines.every((line) => line.includes(' — ') || evidence.find(line) !== undefined),
          `${slug} of ${name} is verbatim`,
        );
      }
    }
  },
);

t.test('write() falls back to the main points if a template matches nothing', async (t) => {
  t.match(section(await report('en-support', 'soap-note'), 'Main points'), 'got my bill this morning');
});

t.test('write() gives the time of a sentence deep in a long turn, and the start of the turn for the others', async (t) => {
  const long = `${'The weather in the valley was mild and dry all through the autumn. '.repeat(9)}We decided to build the new bridge in spring.`;
  const speech = {
    language: 'en',
    durationSeconds: 60,
    segments: [{ id: 1, start: 100, end: 160, speaker: 'Ann', text: `We agreed to close the old road. ${long}` }],
  };
  const { text } = await writer.write({ slug: 'decisions', name: '', prompt: null }, speech, never);
  t.match(text, '- [01:40] Ann: We agreed to close the old road.');
  t.match(text, '- [02:36] Ann: We decided to build the new bridge in spring.');
});

t.test('write() states what requires a language model', async (t) => {
  t.match(await report('en-sales', 'article-draft'), /only a language model can write/);
  t.match(await report('de-besprechung', 'follow-up-email'), /nur ein Sprachmodell/);
  t.match(await report('en-sales', 'candidate-scorecard'), /Not rated/);
});

t.test('write() answers a custom template with the passages most similar to its words', async (t) => {
  const { text } = await writer.write(
    { slug: 'drivers', name: 'Drivers', prompt: 'What do the drivers think about the navigation app?' },
    talk('en-sales'),
    never,
  );
  t.match(text, /only a language model can write/);
  t.match(section(text, 'Passages closest to the template'), 'We already use a navigation app and they do not like changes.');
});

t.test('write() answers a custom template with up to ten passages', async (t) => {
  const things = 'bridge harbour orchard museum library stadium market theatre station hospital airport castle'.split(' ');
  for (const count of [9, 10, 11, 12]) {
    const lines = things
      .slice(0, count)
      .map((thing, i) => `[00:${String(10 + i)}] Ann: The committee visited our ${thing} number ${i} yesterday.`);
    const { text } = await writer.write(
      { slug: 'visits', name: '', prompt: 'Where was the committee?' },
      transcript('en', lines.join('\n')),
      never,
    );
    t.equal(section(text, 'Passages closest to the template').match(/^- /gm)?.length, Math.min(count, 10), `${count} passages`);
  }
});

t.test('write() ranks and outlines in a language for which it has no phrases, and lists what is missing', async (t) => {
  const japanese = transcript(
    'ja',
    '[00:00] 話者1: 今日は新しい倉庫の計画について話します。\n[00:10] 話者2: 新しい倉庫はいつ完成しますか？\n[00:20] 話者1: 新しい倉庫は来年の春に完成する予定です。',
  );
  const { text } = await writer.write({ slug: 'meeting-minutes', name: '', prompt: null }, japanese, never);
  t.match(text, '話者1: 新しい倉庫は来年の春に完成する予定です。');
  t.match(text, 'need a language model: Decisions, Tasks, Other dates.');
  const tasks = await writer.write({ slug: 'tasks', name: '', prompt: null }, japanese, never);
  t.match(tasks.text, '**Main points**');
});

t.test('write() detects the language of a transcript without one', async (t) => {
  const { text } = await writer.write({ slug: 'decisions', name: '', prompt: null }, { ...talk('de-besprechung'), language: null }, never);
  t.match(text, '**Entscheidungen**');
});

t.test('write() fails with TRANSCRIPT_EMPTY without words and TEMPLATE_UNAVAILABLE without a template', async (t) => {
  await t.rejects(writer.write({ slug: 'summary', name: '', prompt: null }, { language: 'en', durationSeconds: 5, segments: [] }, never), {
    code: 'TRANSCRIPT_EMPTY',
    retryable: false,
  });
  await t.rejects(writer.write({ slug: 'gone', name: '', prompt: null }, talk('en-sales'), never), { code: 'TEMPLATE_UNAVAILABLE' });
  await t.rejects(
    openWriter({ baseUrl: 'http://127.0.0.1:9/v1' }).write({ slug: 'gone', name: '', prompt: null }, talk('en-sales'), never),
    { code: 'TEMPLATE_UNAVAILABLE' },
  );
  await t.rejects(writer.describe(talk('en-sales'), AbortSignal.abort(new Error('deleted'))), { message: 'deleted' });
});
