import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { RULES } from './rules.ts';

const TESTS = new URL('../../', import.meta.url);
const NAME = /\bt\.test\(\s*(?:'((?:[^'\\]|\\.)*)'|"([^"]*)")/g;

/** The name of every test, with its file. */
const named = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .flatMap((file) =>
    [...readFileSync(new URL(file, TESTS), 'utf8').matchAll(NAME)].map(([, single, double]) => ({
      name: (single ?? double!).replaceAll('\\', ''),
      file,
    })),
  );

t.test('RULES: every rule of the specification has tests that are named for it', async (t) => {
  for (const [part, rules] of Object.entries(RULES)) {
    for (const [rule, ...tests] of rules) {
      const files = tests.map((begin) => named.filter(({ name }) => name.startsWith(begin)).map(({ file }) => file));
      t.ok(
        tests.length && files.every((found) => found.length),
        `${part}: ${rule} [${[...new Set(files.flat())].join(', ') || tests.join()}]`,
      );
    }
  }
});

t.test('RULES: every test of this folder belongs to a rule', async (t) => {
  const asked = Object.values(RULES).flatMap((rules) => rules.flatMap(([, ...tests]) => tests));
  for (const { name, file } of named) {
    if (file.startsWith('api/conformance/'))
      t.ok(
        asked.some((begin) => name.startsWith(begin)),
        `${file}: ${name}`,
      );
  }
});
