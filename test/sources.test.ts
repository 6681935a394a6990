import { existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { ROOT } from './support/processes/processes.ts';
import { imports, importsOf, sources } from './support/sources.ts';

const MOST_LINES = 250;

t.test('importsOf() finds static, re-exported, side-effect and lazy imports', async (t) => {
  const text = `import a from 'zod';\nimport type { B } from './b.ts';\nexport { c } from '../c.ts';\nimport './d.ts';\nawait import('@a/b/c');\n`;
  t.strictSame(
    importsOf('api/x/y.ts', text).map((i) => i.to),
    ['zod', 'api/x/b.ts', 'api/c.ts', 'api/x/d.ts', '@a/b'],
  );
});

t.test('imports: every import names a file that exists', async (t) => {
  t.strictSame(
    imports.filter((i) => !i.package && !sources.has(i.to) && !/\.(json|css|js)$/.test(i.to)).map((i) => `${i.from} -> ${i.to}`),
    [],
  );
});

t.test('imports: every file that a source names relative to itself exists', async (t) => {
  const written = ['.longhand/peers', 'bench/results/vocabulary.json', 'test/support/run/worker.mjs']; // the last by the bundles of the tests
  const named = [...sources].flatMap(([file, text]) =>
    [...text.matchAll(/new URL\('([^']+)', import\.meta\.url\)/g)].map(([, name]) => ({ file, to: path.join(path.dirname(file), name!) })),
  );
  t.ok(named.length > 50);
  t.strictSame(
    named.filter(({ to }) => !written.includes(to) && !existsSync(path.join(ROOT, to))).map(({ file, to }) => `${file} names ${to}`),
    [],
  );
});

t.test('no file imports itself, directly or through others', async (t) => {
  const targets = new Map([...sources.keys()].map((file): [string, string[]] => [file, []]));
  for (const { from, to } of imports) if (sources.has(to)) targets.get(from)!.push(to);
  const reached = (file: string) => {
    const found = new Set<string>();
    const open = [...targets.get(file)!];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (found.has(at)) continue;
      found.add(at);
      open.push(...targets.get(at)!);
    }
    return found;
  };
  t.ok(reached('api/export/documents/content.ts').has('api/export/documents/blocks.ts'), 'type-only imports count');
  t.strictSame(
    [...sources.keys()].filter((file) => reached(file).has(file)),
    [],
  );
});

t.test('SAMPLE_RATE is defined once', async (t) => {
  const defined = [...sources].filter(([file, text]) => !file.startsWith('test/') && /\bSAMPLE_RATE = |\b16_?000\b/.test(text));
  t.strictSame(
    defined.map(([file]) => file),
    ['models/sample-rate.ts'],
  );
});

t.test(`source files have at most ${MOST_LINES} lines`, async (t) => {
  const long = [...sources]
    .filter(([file]) => !file.startsWith('test/'))
    .map(([file, text]) => ({ file, lines: text.split('\n').length - 1 }));
  t.strictSame(
    long.filter(({ lines }) => lines > MOST_LINES),
    [],
  );
});
