import { join } from 'node:path';
import t from 'tap';
import { keepsRest, prompted, termsOf, Vocabulary, vocabularyOf } from '../../../../../engine/asr/whisper/decoding/vocabulary.ts';
import { FORBIDDEN } from '../../../../../engine/asr/whisper/model.ts';
import { VOCABULARY_BONUS, VOCABULARY_LOG_PROB } from '../../../../../engine/asr/whisper/thresholds.ts';
import { openTokenizer } from '../../../../../engine/asr/whisper/tokenizer.ts';
import { SHIPPED_FOLDER } from '../../../../../models/manifest.ts';

const tokenizer = await openTokenizer(join(SHIPPED_FOLDER, 'whisper-base'));
const row = (...tokens: number[]) => ({ tokens, logProbs: tokens.map(() => -0.1) });

const TERMS = [
  { text: 'abc', forms: [{ tokens: [1, 2, 3] }] },
  { text: 'de', forms: [{ tokens: [4, 5] }] },
];

/** Logits of ten tokens; those not given are impossible. With `lse` 0 they are log-probabilities. */
const logits = (given: Record<number, number>) => Float32Array.from({ length: 10 }, (_, id) => given[id] ?? FORBIDDEN);

t.test('termsOf() gives the entries, and the names within them', async (t) => {
  t.strictSame(termsOf('Okonkwo, Kestrel 9;  bill of   lading,, Ada Lovelace'), [
    'Okonkwo',
    'Kestrel 9',
    'bill of lading',
    'Ada Lovelace',
    'Kestrel',
    'Lovelace',
  ]);
  t.strictSame(termsOf('Please write the name of our product as Longhand'), ['Please', 'Longhand'], 'of a sentence only its names');
  t.strictSame(termsOf(' , ;'), []);
});

t.test('Vocabulary counts whole terms, and gives a bonus for those begun until they break off', async (t) => {
  const vocabulary = new Vocabulary(TERMS);
  const bonus = (...tokens: number[]) => vocabulary.bonus(row(...tokens)) / VOCABULARY_BONUS;
  t.strictSame([bonus(), bonus(1), bonus(1, 2), bonus(1, 2, 3), bonus(1, 2, 3, 9)], [0, 1, 2, 3, 3]);
  t.equal(bonus(1, 2, 9), 0, 'taken back');
  t.equal(bonus(1, 2, 4, 5), 2, 'another term begins where one breaks off');
  t.equal(bonus(2, 3), 0, 'terms begin with their first token');
  t.equal(vocabulary.count(row(1, 2, 3, 9, 4, 5, 4)), 2);
  t.equal(vocabulary.count(row(4, 5, 4, 5, 4, 5)), 1, 'each term once');
  const improbable = { tokens: [4, 5], logProbs: [-0.1, VOCABULARY_LOG_PROB - 1] };
  t.equal(vocabulary.bonus(improbable), VOCABULARY_BONUS, 'no bonus for an improbable token');
});

t.test('Vocabulary.likely() gives the tokens that begin or continue a term, if they are probable', async (t) => {
  const vocabulary = new Vocabulary(TERMS);
  const all = logits({ 1: -1, 2: -1, 3: -1, 4: VOCABULARY_LOG_PROB - 0.1, 5: -1 });
  const likely = (tokens: number[], lse = 0) => vocabulary.likely(row(...tokens), all, lse).map(({ token }) => token);
  t.strictSame(likely([]), [1]);
  t.strictSame(likely([9, 1]), [2, 1]);
  t.strictSame(likely([1, 2]), [3, 1]);
  t.strictSame(likely([1, 2], 9), [], 'improbable beside others');
  t.strictSame(vocabulary.likely(row(), all, 0)[0]!.terms, [TERMS[0]]);
});

t.test('vocabularyOf() begins words with a space where the language has spaces', async (t) => {
  const first = (text: string, language: string) => {
    const at = new Float32Array(60_000);
    return vocabularyOf(text, language, tokenizer)!
      .likely(row(), at, 0)
      .map(({ token }) => tokenizer.decode([token]));
  };
  t.match(first('Kowloon', 'de')[0], /^ K/);
  t.match(first('香港', 'zh')[0], /^[^ ]/);
  t.equal(vocabularyOf(' ', 'en', tokenizer), null);
});

t.test('vocabularyOf() finds terms with and without a space before them, once each', async (t) => {
  const count = (terms: string, text: string, language: string) =>
    vocabularyOf(terms, language, tokenizer)!.count(row(...tokenizer.encode(text)));
  for (const language of ['auto', 'ja']) {
    t.equal(count('東京スカイツリー', '私は東京スカイツリーに行った', language), 1, language);
    t.equal(count('東京スカイツリー', ' 東京スカイツリー、東京スカイツリー', language), 1, `${language}: each term once`);
    t.equal(count('Longhand', '私はLonghandを使う', language), 1, `${language}: a Latin name`);
  }
  t.equal(count('กรุงเทพ', 'ฉันไปกรุงเทพมา', 'auto'), 1);
  t.equal(count('রবি', ' আজ রবি এসেছে', 'auto'), 1);
  for (const language of ['auto', 'de'])
    for (const text of [' Herr Müller', ' er (Müller) kam', ' Frau Meier-Müller', ' Herr Müller (Müller)', ' „Müller“ war da'])
      t.equal(count('Müller', text, language), 1, `${language}: ${text}`);
  t.equal(count('hand', ' Longhand', 'auto'), 0, 'not inside another word');
  t.equal(vocabularyOf('Müller, 東京', 'auto', tokenizer)!.size, 2);
});

t.test('Vocabulary.likely() begins a term without a space only after a mark', async (t) => {
  const vocabulary = vocabularyOf('Müller', 'auto', tokenizer)!;
  const [inside] = tokenizer.encode('Müller');
  const begins = (...tokens: number[]) => vocabulary.likely(row(...tokens), new Float32Array(60_000), 0).map(({ token }) => token);
  t.ok(begins(...tokenizer.encode(' er (')).includes(inside!));
  t.notOk(begins(...tokenizer.encode(' er')).includes(inside!));
  t.notOk(begins().includes(inside!));
  t.notOk(begins(50_364).includes(inside!), 'nor after a timestamp');
});

t.test('prompted() gives the likeliest missed terms first', async (t) => {
  const missed = TERMS.map((term, i) => [term, i - 5] as const);
  t.equal(prompted(new Map(missed)), ' de, abc');
});

t.test('keepsRest() tells a corrected name from a repeated prompt', async (t) => {
  const before = 'Then said the Unok. Ardao, he who repeated poetry but now.';
  t.ok(keepsRest(before, 'Then said the eunuch, Ardau, he who repeated poetry but now.', 1));
  t.notOk(keepsRest(before, 'Adaeze Okonkwo, Adaeze Okonkwo, Adaeze Okonkwo', 1));
  t.ok(keepsRest('Kovloon.', 'Kowloon.', 1), 'a name alone');
  t.notOk(keepsRest('so so so so so so so so', 'so', 1), 'words that are repeated count as often');
});
