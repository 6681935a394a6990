import t from 'tap';
import { transcript } from '../../../bench/reports/talks.ts';
import { evidenceOf, ground, groundProse } from '../../../engine/reports/ground.ts';

const evidence = evidenceOf(
  transcript(
    'en',
    `[00:00] Ann: We should meet at 10:15 in the big hall, that's certain.
[00:10] Bob: The price is two hundred euros, and not a cent more.
[01:30] Ann: Fine, I agree with that.`,
  ),
);
const report = (...items: { text: string; segment?: number; quote?: string }[]) =>
  ground({ sections: [{ heading: 'H', style: 'list', items: items.map((item) => ({ segment: 0, quote: '', ...item })) }] }, evidence);

t.test('ground() keeps a true quotation regardless of punctuation and case', async (t) => {
  t.strictSame(report({ text: 'Price', segment: 2, quote: 'the price is: two hundred Euros' }), {
    text: '**H**\n\n- Price — “the price is: two hundred Euros” [00:10, Bob]',
    dropped: 0,
  });
});

t.test('ground() assigns a quotation to the segment that contains it', async (t) => {
  t.match(report({ text: 'Price', segment: 1, quote: 'not a cent more' }).text, '[00:10, Bob]');
});

t.test('ground() drops an invented quotation, and the item if nothing else is left', async (t) => {
  t.strictSame(report({ text: 'Price', segment: 2, quote: 'I love this product' }), { text: '**H**\n\n- Price [00:10, Bob]', dropped: 1 });
  t.strictSame(report({ text: '', segment: 2, quote: 'I love this product' }), { text: '', dropped: 1 });
});

t.test('ground() drops a segment that does not exist', async (t) => {
  t.strictSame(report({ text: 'Price', segment: 99 }), { text: '**H**\n\n- Price', dropped: 1 });
});

t.test('ground() drops sentences with quotations that are not in the transcript', async (t) => {
  t.strictSame(report({ text: 'They met. Bob said "I would pay a million for it". All agreed on "the price".' }), {
    text: '**H**\n\n- They met. All agreed on "the price".',
    dropped: 1,
  });
});

t.test('groundProse() drops timestamps without speech and keeps spoken times of day', async (t) => {
  t.strictSame(groundProse('They agree [01:31]. Bob laughs (45:00). They meet at 10:15.', evidence), {
    text: 'They agree [01:31]. Bob laughs. They meet at 10:15.',
    dropped: 1,
  });
  t.strictSame(groundProse('At 52:47 Bob left. They agree.', evidence), { text: 'They agree.', dropped: 1 });
});

t.test('ground() finds a quotation that spans two segments or omits words', async (t) => {
  t.equal(report({ text: 'x', segment: 2, quote: 'not a cent more. Fine, I agree' }).dropped, 0);
  t.equal(report({ text: 'x', segment: 1, quote: 'We should meet … in the big hall' }).dropped, 0);
});

t.test('ground() prints paragraphs for running text, without headings that could end a section of the export', async (t) => {
  const { text } = ground(
    {
      sections: [
        {
          heading: '## Lead',
          style: 'text',
          items: [
            { text: '# One.', segment: 0, quote: '' },
            { text: 'Two.', segment: 2, quote: 'two hundred euros' },
          ],
        },
      ],
    },
    evidence,
  );
  t.equal(text, '**Lead**\n\nOne.\n\nTwo. “two hundred euros” (Bob, 00:10)');
});

t.test('ground() and groundProse() handle a million blanks in linear time', (t) => {
  const blanks = ' '.repeat(1_000_000); // quadratic time would take minutes on any machine
  const began = performance.now();
  t.equal(groundProse(`They agree.${blanks}x`, evidence).dropped, 0);
  t.match(report({ text: `Price${blanks}x`, segment: 2, quote: `two${blanks}hundred euros` }).text, 'Price x — “two hundred euros”');
  t.ok(performance.now() - began < 60_000, 'it blocks the engine for milliseconds only');
  t.end();
});
