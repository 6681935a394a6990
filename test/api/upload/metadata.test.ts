import fc from 'fast-check';
import t from 'tap';
import { readAuthor } from '../../../api/upload/author.ts';
import { checkMetadata } from '../../../api/upload/metadata.ts';
import { looksSecret } from '../../../api/upload/secret.ts';
import { refusal as code } from '../../support/api/refusal.ts';
import { runs } from '../../support/property.ts';

t.test('checkMetadata() answers the first fault in the published order', async (t) => {
  const cases: [string, string][] = [
    ['{}', 'accepted'],
    ['{"deal":4711,"tags":["a","b"],"who":{"x":null}}', 'accepted'],
    ['{"a":{"b":["level 3"]}}', 'accepted'],
    ['{"a":12345678901234567890123,"b":1.50,"c":1E3}', 'accepted'],
    ['{"a": "\\u00e9\\n", "b": "é"}', 'accepted'],
    [`{"a":"${'x'.repeat(4096)}"}`, 'metadata_too_large'],
    [`{"a":"${'é'.repeat(2045)}"}`, 'metadata_too_large'],
    ['', 'metadata_invalid_json'],
    ['{"a":1', 'metadata_invalid_json'],
    ["{'a':1}", 'metadata_invalid_json'],
    ['{"a":01}', 'metadata_invalid_json'],
    ['{"a":"not utf-8 \uFFFD"}', 'metadata_invalid_json'],
    ['[1]', 'metadata_not_object'],
    ['"a"', 'metadata_not_object'],
    ['null', 'metadata_not_object'],
    [`{"${'k'.repeat(64)}":1}`, 'accepted'],
    [`{"${'k'.repeat(65)}":1}`, 'metadata_key_too_long'],
    [`{"${'😀'.repeat(64)}":1}`, 'accepted'],
    ['{"":1}', 'metadata_key_invalid'],
    ['{"a\\u0000":1}', 'metadata_key_invalid'],
    ['{"a\\n":1}', 'metadata_key_invalid'],
    ['{"\\ud800":1}', 'metadata_key_invalid'],
    ['{"a":1,"\\u0061":2}', 'metadata_key_invalid'],
    ['{"a":{"b":1},"c":{"b":1}}', 'accepted'],
    ['{"a":[[["x"]]]}', 'metadata_too_deep'],
    ['{"a":{"b":{"c":1}}}', 'accepted'],
    ['{"a":{"b":{"c":{}}}}', 'metadata_too_deep'],
    ['{"a":"x\\u0000"}', 'metadata_value_invalid'],
    ['{"a":["\\ud800"]}', 'metadata_value_invalid'],
    ['{"a":1e999}', 'metadata_value_invalid'],
    ['{"a":1e-999}', 'metadata_value_invalid'],
    ['{"a":0e-999}', 'accepted'],
    ['{"a":"sk_live_4eC39HqLyjWDarjtT1zdp7dc"}', 'metadata_value_invalid'],
    [`{"a":1e999,"b":[[[1]]],"":1,"${'k'.repeat(65)}":1}`, 'metadata_key_too_long'],
    ['{"a":1e999,"b":[[[1]]],"":1}', 'metadata_key_invalid'],
    ['{"a":1e999,"b":[[[1]]]}', 'metadata_too_deep'],
  ];
  for (const [text, expected] of cases)
    t.equal(
      code(() => checkMetadata(text)),
      expected,
      text.slice(0, 60),
    );
});

t.test('checkMetadata() returns what any serialiser wrote, byte for byte (property)', async () => {
  const scalar = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.bigInt(),
    fc.boolean(),
  );
  const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }).filter((name) => !/\p{C}/u.test(name));
  const inner = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(key, scalar, { maxKeys: 3 }));
  const write = (value: unknown): string => {
    if (typeof value === 'bigint') return String(value);
    if (Array.isArray(value)) return `[${value.map(write).join(', ')}]`;
    if (value !== null && typeof value === 'object')
      return `{ ${Object.entries(value)
        .map(([name, item]) => `${JSON.stringify(name)} :${write(item)}`)
        .join(',')}}`;
    return JSON.stringify(value);
  };
  fc.assert(
    fc.property(fc.dictionary(key, inner, { maxKeys: 5 }), (value) => {
      const text = write(value);
      fc.pre(Buffer.byteLength(text) <= 4096 && !looksSecret(text) && !/\\u0000|\\ud[89a-f]|\uFFFD/i.test(text));
      return checkMetadata(text) === text;
    }),
    runs(2000),
  );
});

t.test('looksSecret() recognises the formats of keys, and accepts ordinary ids', async (t) => {
  const secrets = [
    'lh_4kq9Zt',
    'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
    'sk-proj-abcdefghij0123456789',
    'Bearer ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'gho_16C7e42F292c6912',
    'github_pat_11ABCDE',
    'glpat-abcdefghijk',
    'xoxb-123-456',
    'AKIAIOSFODNN7EXAMPLE',
    `AIza${'a'.repeat(35)}`,
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    '-----BEGIN RSA PRIVATE KEY-----',
  ];
  const ordinary = [
    'sk-SK',
    'task-1234567890123456',
    '9f86d081884c7d659a2feaa0c55ad015',
    '7f2c1c9e-5d0b-4f1e-9a53-0d6f1b2c3d4e',
    'AKIA',
    'eyJ.a',
    'slh_1',
    'deal #42: müller',
  ];
  for (const text of secrets) t.equal(looksSecret(text), true, text);
  for (const text of ordinary) t.equal(looksSecret(text), false, text);
});

t.test('readAuthor() splits the type once, and an external id twice', async (t) => {
  t.strictSame(readAuthor('email: Anna@Example.com '), { kind: 'email', email: 'anna@example.com' });
  t.strictSame(readAuthor('user:7f2c1c9e-5d0b-4f1e-9a53-0d6f1b2c3d4e'), { kind: 'user', id: '7f2c1c9e-5d0b-4f1e-9a53-0d6f1b2c3d4e' });
  t.strictSame(readAuthor('external:crm: 7 '), { kind: 'external', provider: 'crm', externalId: ' 7 ' });
  t.strictSame(readAuthor('external:CRM:a:b:c'), { kind: 'external', provider: 'crm', externalId: 'a:b:c' });
  for (const text of ['anna@example.com', '', ':', 'email:', ':x', 'email: ', 'user:7f2c', 'external:crm', 'external::1', 'external:crm:'])
    t.equal(
      code(() => readAuthor(text)),
      'invalid_author',
      text,
    );
  for (const text of ['phone:123', 'id:7'])
    t.equal(
      code(() => readAuthor(text)),
      'unsupported_author_type',
      text,
    );
});
