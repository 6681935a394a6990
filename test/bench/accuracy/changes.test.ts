import t from 'tap';
import { changeErrors, sentenceErrors } from '../../../bench/accuracy/changes.ts';
import { rated } from '../../../bench/accuracy/word-errors.ts';

const german = { language: 'de', transcript: 'eins zwei drei vier', sentences: ['eins zwei', 'drei vier'] };
const french = { language: 'fr', transcript: 'un deux trois', sentences: ['un deux trois'] };

t.test('changeErrors() counts the errors of sentences and of stretches', async (t) => {
  const { stretches, errors, gap } = changeErrors([german, french], 'eins zwei vier un two trois quatre');
  t.strictSame(stretches, [
    { reference: 4, substituted: 0, deleted: 1, inserted: 0 },
    { reference: 3, substituted: 1, deleted: 0, inserted: 1 },
  ]);
  t.strictSame(
    errors.map(({ reference, deleted }) => [reference, deleted]),
    [
      [2, 0],
      [2, 1],
      [3, 0],
    ],
  );
  t.equal(gap, 1);
});

t.test('sentenceErrors() returns a sentence once that occurs in several recordings and stretches, which are not independent', async (t) => {
  const orders = [
    [german, french],
    [french, german],
    [german, french, german],
  ];
  const found = orders.map((said) => changeErrors(said, said.map(({ transcript }) => transcript.replace('deux', 'two')).join(' ')));
  const sentences = sentenceErrors(found);
  t.equal(sentences.length, 3);
  t.match(rated(sentences), { errors: { reference: 25, substituted: 3, deleted: 0, inserted: 0 } });
  t.equal(rated(sentences).interval[0], 0, 'a draw of three may lack the only one with errors');
});
