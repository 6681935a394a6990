import t from 'tap';
import { foldText, fullest, patternsOf, spansOf } from '../../../api/console/app/finding.ts';

const marked = (text: string, search: string) => spansOf(text, patternsOf(search)).map(([from, to]) => text.slice(from, to));

t.test('spansOf() finds every word of a query wherever it stands, ignoring case and accents', async (t) => {
  t.strictSame(marked('The invoice came late, so very LATE.', 'late invoice'), ['invoice', 'late', 'LATE']);
  t.strictSame(marked('Wir treffen uns im Café.', 'cafe'), ['Café']);
  t.strictSame(marked('Wir treffen uns im Cafe\u0301, dem Café.', 'CAFÉ'), ['Cafe\u0301', 'Café']);
  t.strictSame(marked('Die Straße nach Łódź', 'strasse lodz'), ['Straße', 'Łódź']);
  t.strictSame(marked('Ο ΟΔΟΣ, η οδός', 'οδος'), ['ΟΔΟΣ', 'οδός']);
  t.strictSame(marked('昨日の電話です', '昨日 電話'), ['昨日', '電話']);
  t.strictSame(marked('Send an e-mail; I don’t read emails.', 'email dont'), ['e-mail', 'don’t']);
  t.strictSame(marked('By e mail or email?', 'e-mail'), ['e mail', 'email']);
});

t.test('spansOf() finds one word inside others, of several the last by its beginning and the others as a whole', async (t) => {
  t.strictSame(marked('a discount account', 'count'), ['count', 'count']);
  t.strictSame(marked('this is an island of invoices', 'is invo'), ['is', 'invo']);
  t.strictSame(marked('this is an island', 'an is'), ['is', 'an', 'is']);
});

t.test('spansOf() gives parts that are in order and do not overlap', async (t) => {
  t.strictSame(marked('An e-mail, by mail', 'e-mail mail'), ['e-mail', 'mail']);
  t.strictSame(marked('invoice late invoice', 'late invoice'), ['invoice', 'late', 'invoice']);
});

t.test('patternsOf() finds nothing for a query that is too short, or without words', async (t) => {
  for (const search of ['', ' ', 'a', ' a ', '…?!']) t.equal(patternsOf(search), null, search);
  t.strictSame(marked('20 % (net)', '(net)'), ['net'], 'punctuation is ignored');
});

t.test('fullest() gives the turns with the most words, those with one where none has more', async (t) => {
  const turns = (search: string, ...texts: string[]) => fullest(texts.map(foldText), patternsOf(search)!);
  t.strictSame(turns('late invoice', 'The invoice came late', 'too late', 'fine'), [0]);
  t.strictSame(turns('late invoice', 'The invoice?', 'It is late', 'fine'), [0, 1]);
  t.strictSame(turns('cafe', 'Fine', 'Im Café'), [1]);
  t.strictSame(turns('xylophone', 'Fine', 'Im Café'), []);
});
