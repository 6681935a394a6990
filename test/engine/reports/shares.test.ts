import t from 'tap';
import { ExtractiveWriter } from '../../../engine/reports/extractive.ts';

const TALK = {
  language: 'en',
  durationSeconds: 40,
  segments: [
    { id: 1, start: 0, end: 30, speaker: 'Ann', text: 'The delivery is late.' },
    {
      id: 2,
      start: 30,
      end: 40,
      speaker: 'Bob',
      text: 'We looked at the delivery date again because the supplier said that parts will not arrive before March this year.',
    },
  ],
};
const { signal } = new AbortController();

t.test('write() computes shares of talk from seconds, not from words', async (t) => {
  const { text } = await new ExtractiveWriter().write({ slug: 'meeting-minutes', name: 'Minutes', prompt: null }, TALK, signal);
  t.match(text, /Ann: spoke for 00:30, 75 %/);
  t.match(text, /Bob: spoke for 00:10, 25 %/);
});

t.test('describe() without a language model returns a summary, and neither title nor topics', async (t) => {
  const { title, topics, summary } = await new ExtractiveWriter().describe(TALK, signal);
  t.strictSame({ title, topics }, { title: '', topics: [] });
  t.match(summary, /delivery/);
});
