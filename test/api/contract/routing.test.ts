import t from 'tap';
import { byLanguage, parseRouting } from '../../../api/contract/routing.ts';
import { readSettings } from '../../../api/contract/settings.ts';

t.test('parseRouting() reads models by language', async (t) => {
  const table: [text: string, byLanguage: Record<string, string>, others: string | null][] = [
    ['ru=gigaam-v3', { ru: 'gigaam-v3' }, null],
    ['*=whisper-small', {}, 'whisper-small'],
    [
      'ru,kk=gigaam-v3,en,de=parakeet-v3,*=whisper-small',
      { ru: 'gigaam-v3', kk: 'gigaam-v3', en: 'parakeet-v3', de: 'parakeet-v3' },
      'whisper-small',
    ],
    [' ru , kk = a , * = b ', { ru: 'a', kk: 'a' }, 'b'],
    ['*=b,ru=a', { ru: 'a' }, 'b'],
    ['ru=a,kk=b,uz=a', { ru: 'a', kk: 'b', uz: 'a' }, null],
    ['fr,*=b', { fr: 'b' }, 'b'],
  ];
  for (const [text, models, others] of table) {
    const found = parseRouting(text);
    t.strictSame({ models: Object.fromEntries(found.byLanguage), others: found.others }, { models, others }, text);
  }
});

t.test('parseRouting() says what it found and what it expected', async (t) => {
  for (const [text, message] of [
    ['ru', /^nothing says which model recognises ru; expected CODES=MODEL/],
    ['ru=a,kk', /^nothing says which model recognises kk; expected/],
    ['ru=', /^"ru=" does not name a model; expected/],
    ['ru=a=b', /^"ru=a=b" does not name a model; expected/],
    ['ru=../models', /^"ru=..\/models" does not name a model; expected/],
    ['=a', /^"=a" names no language; expected/],
    ['ru,,kk=a', /^a language is missing beside a comma; expected/],
    ['ru=a,', /^a language is missing beside a comma; expected/],
    ['russian=a', /^"russian" is not a language code, perhaps \w+ is meant; expected/],
    ['RU=a', /^"RU" is not a language code, perhaps ru is meant; expected/],
    ['yue=a', /^"yue" is not a language code/],
    ['ru=a,ru=b', /^ru is given twice, for a and for b; expected one model for each language$/],
    ['en,en=a', /^en is given twice, for a and for a; expected one model for each language$/],
    ['*=a,*=b', /^\* is given twice, for a and for b; expected one model for each language$/],
  ] as const)
    t.throws(() => parseRouting(text), { message }, text);
});

t.test('readSettings() takes the model for all other languages from LONGHAND_MODELS', async (t) => {
  t.equal(readSettings({ LONGHAND_MODELS: 'ru=a,*=b' }).LONGHAND_MODEL, 'b');
  t.equal(readSettings({ LONGHAND_MODELS: 'ru=a', LONGHAND_MODEL: 'c' }).LONGHAND_MODEL, 'c');
  t.equal(readSettings({ LONGHAND_MODELS: 'ru=a,*=b', LONGHAND_MODEL: 'b' }).LONGHAND_MODEL, 'b');
  t.equal(readSettings({ LONGHAND_MODELS: 'ru=a' }).LONGHAND_MODEL, 'whisper-base');
  t.strictSame([...byLanguage(readSettings({ LONGHAND_MODELS: 'ru=a,*=b' }))], [['ru', 'a']]);
  t.equal(byLanguage(readSettings({})).size, 0, 'unset: one model for all');
});

t.test('readSettings() refuses LONGHAND_MODELS with a mistake, or that contradicts LONGHAND_MODEL', async (t) => {
  t.throws(() => readSettings({ LONGHAND_MODELS: 'ru' }), /LONGHAND_MODELS="ru": nothing says which model recognises ru; expected/);
  t.throws(
    () => readSettings({ LONGHAND_MODELS: '*=b', LONGHAND_MODEL: 'c' }),
    /LONGHAND_MODEL is c and LONGHAND_MODELS has \*=b: expected one model for all other languages; remove one/,
  );
});
