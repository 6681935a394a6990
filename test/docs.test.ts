/* Documentation pages: links resolve, names exist, commands parse, tables are current. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import t from 'tap';
import { SETTING_NAMES } from '../api/contract/settings.ts';
import { reliabilityPlot } from '../bench/accuracy/reliability-plot.ts';
import { committedReports, resultFiles } from '../bench/results.ts';
import { openProgram } from '../scripts/commands/program.ts';
import { generatedPages } from '../scripts/docs/pages.ts';
import { ROOT } from './support/processes/processes.ts';

const FOLDERS = /^(api|bench|db|docs|engine|models|scripts|test)\//;
const MOST_WORDS = 1200; // of README
const PICTURE_BYTES = 150_000;

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const pages = files.filter((file) => file.endsWith('.md') && existsSync(path.join(ROOT, file))).map((file) => ({ file, text: read(file) }));
const prose = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, '');
const codes = (text: string) => [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
const shell = (text: string) => [...text.matchAll(/^```sh.*\n([\s\S]*?)^```$/gm)].flatMap(([, block]) => block!.split('\n'));

/** Anchors of a page, as GitHub makes them from headings. */
function anchors(text: string): string[] {
  const headings = [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

t.test('links: every relative link resolves, and so does its anchor if it has one', async (t) => {
  const broken = pages.flatMap(({ file, text }) => {
    const targets = [...prose(text).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(([, link, source]) => link ?? source!);
    return targets.filter((target) => !/^(https?|mailto):/.test(target) && !resolves(file, target)).map((target) => `${file}: ${target}`);
  });
  t.strictSame(broken, []);
});

function resolves(file: string, target: string): boolean {
  const [place, anchor] = target.split('#');
  const found = place ? path.join(path.dirname(file), place) : file;
  return existsSync(path.join(ROOT, found)) && (!anchor || anchors(read(found)).includes(anchor));
}

t.test('pages name files that exist', async (t) => {
  const missing = pages.flatMap(({ file, text }) =>
    codes(text)
      .flatMap((code) => code.split(/\s+/))
      .filter((word) => FOLDERS.test(word) && !/[…<*]/.test(word) && !existsSync(path.join(ROOT, word)))
      .map((word) => `${file}: ${word}`),
  );
  t.strictSame(missing, []);
});

t.test('sources of ours that pages and comments name exist, at the path given from the checkout, their folder or one above', async (t) => {
  const texts = files.filter(
    (file) => /\.(ts|tsx|mts|mjs|sh|py|md)$/.test(file) && file !== 'CHANGELOG.md' && existsSync(path.join(ROOT, file)),
  );
  const ours = new Set(files.map((file) => path.basename(file)));
  const strays = texts.flatMap((file) => {
    const comments = file.endsWith('.md') ? [prose(read(file))] : (read(file).match(/\/\*[\s\S]*?\*\/|(?:^|\s)(?:\/\/|#).*$/gm) ?? []);
    const named = comments.flatMap(
      (comment) => comment.match(/(?<![\w./@$}*-])(?:[\w-]+\/)*[\w-]+\.(?:tsx?|mjs|mts|sh|py)\b(?!\()/g) ?? [],
    );
    const isStray = (name: string) =>
      (FOLDERS.test(name) || ours.has(path.basename(name))) && !above(file).some((folder) => existsSync(path.join(ROOT, folder, name)));
    return named.filter(isStray).map((name) => `${file}: ${name}`);
  });
  t.strictSame(strays, []);
});

/** The folder of a file, and those above it. */
function above(file: string): string[] {
  const folder = path.dirname(file);
  return folder === '.' ? [folder] : [folder, ...above(folder)];
}

t.test('README names the commands that start and test Longhand', async (t) => {
  for (const command of ['npm start', 'npm test']) t.ok(read('README.md').includes(command), command);
});

t.test(`README has at most ${MOST_WORDS} words`, async (t) => {
  t.ok(read('README.md').split(/\s+/).length <= MOST_WORDS);
});

t.test('generatedPages() equal the committed pages; `npm run docs` writes them', async (t) => {
  const old = generatedPages().filter(({ file, text }) => read(`docs/${file}`) !== text);
  t.strictSame(
    old.map(({ file }) => `docs/${file}: run npm run docs`),
    [],
  );
});

t.test('resultFiles() equal the committed pages and charts; `node --import tsx bench/results.ts` writes them', async (t) => {
  const old = [...resultFiles(committedReports())].filter(([file, text]) => read(file) !== text);
  t.strictSame(
    old.map(([file]) => `${file}: run node --import tsx bench/results.ts`),
    [],
  );
});

t.test('README and benchmarks give the word error rate of the newest committed report', async (t) => {
  const newest = /WER, English clips one by one \| ([\d.]+ %) of (\d+ words) \(([\d.]+)-([\d.]+ %)\)/.exec(read('docs/results.md'))!;
  const [, rate, words, low, high] = newest;
  t.match(read('README.md'), `(WER) of ${rate} (${words}, 95 % interval ${low} to ${high},`);
  t.match(read('docs/benchmarks.md').replaceAll('\n', ' '), `${rate} on single English clips (${words}, 95 % interval ${low} to ${high})`);
});

t.test(
  'reliabilityPlot() of the committed results equals the committed chart; `bench/accuracy/confidence.ts --save` draws it',
  async (t) => {
    t.equal(read('docs/images/confidence.svg'), reliabilityPlot(JSON.parse(read('bench/results/confidence.json'))));
  },
);

t.test('pages name settings that exist, and every setting is in the configuration', async (t) => {
  const configuration = read('docs/configuration.md');
  t.strictSame(
    SETTING_NAMES.filter((name) => !configuration.includes(`\`${name}\``)),
    [],
  );
  const named = pages.flatMap(({ text }) => [...text.matchAll(/\bLONGHAND_[A-Z0-9_]*[A-Z0-9]\b(?!_?\*)/g)].map(([name]) => name));
  t.ok(named.length > 40);
  t.strictSame(
    named.filter((name) => !SETTING_NAMES.includes(name)),
    [],
  );
});

t.test('the configuration explains LONGHAND_MODEL=auto, which other pages recommend', async (t) => {
  t.match(read('docs/configuration.md'), /^\| `LONGHAND_MODEL` .*`auto`/m);
});

t.test('README requires the free space below which `doctor` reports a problem', async (t) => {
  const [, bytes] = /FREE_BYTES = (\d+)e9;/.exec(read('scripts/commands/checks.ts'))!;
  t.match(read('README.md'), `${bytes} GB free`);
});

t.test('pages call commands and options that exist', async (t) => {
  const program = openProgram();
  const calls = pages.flatMap(({ file, text }) => {
    const lines = [...codes(text), ...shell(text)].flatMap((line) => /(?:^|scripts\/|npx )longhand ([a-z].*)/.exec(line)?.[1] ?? []);
    return file.endsWith('command-line.md') ? shell(text).flatMap((line) => line.split('longhand ')[1] ?? []) : lines;
  });
  t.ok(calls.length > 30);
  const wrong = calls.filter((call) => {
    const words = call.replace(/\s#.*/, '').split(/\s+/);
    const command = named(program, words);
    const known = new Set(['--help', ...command.options.map(({ long }) => long)]);
    return command === program || words.some((word) => /^--[a-z]/.test(word) && !known.has(word));
  });
  t.strictSame(wrong, []);
});

/** The command that these words call. */
function named(program: Command, words: readonly string[]): Command {
  const child = program.commands.find((command) => command.name() === words[0]);
  return child ? named(child, words.slice(1)) : program;
}

t.test('pages run npm scripts and tests that exist', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const { file, text } of pages) {
    for (const [, name] of text.matchAll(/\bnpm run ([a-z]+)/g)) t.ok(name! in scripts, `${file}: npm run ${name}`);
    for (const line of shell(text)) {
      const globs = /npx tap (.*?)(?:\s+#.*)?$/.exec(line)?.[1];
      if (!globs) continue;
      const found = execFileSync('sh', ['-c', `ls ${globs.replace('--timeout=0 ', '')}`], { cwd: ROOT, encoding: 'utf8' });
      t.notOk(
        found
          .trim()
          .split('\n')
          .some((name) => !name.endsWith('.test.ts')),
        `${file}: ${line}`,
      );
    }
  }
});

t.test('the architecture diagram shows every process', async (t) => {
  const picture = read('docs/images/architecture.svg');
  for (const name of ['api', 'engine', 'courier', 'PostgreSQL', 'Spool']) t.ok(picture.includes(`>${name}</text>`), name);
});

t.test('pictures are small', async (t) => {
  const pictures = files.filter((name) => name.startsWith('docs/images/') && existsSync(path.join(ROOT, name)));
  t.ok(pictures.length > 2);
  t.strictSame(
    pictures.filter((file) => statSync(path.join(ROOT, file)).size > PICTURE_BYTES),
    [],
  );
});

t.test('sources cite only pages that are in the repository', async (t) => {
  const sources = files.filter((file) => /\.(ts|tsx|mjs|css|sh|ya?ml)$/.test(file) && existsSync(path.join(ROOT, file)));
  const strays = sources.flatMap((file) => {
    const comments = read(file).match(/\/\*[\s\S]*?\*\/|(?:^|\s)(?:\/\/|#).*$/gm) ?? [];
    return comments.flatMap((comment) =>
      [
        ...(comment.match(/\b[Ss]pecification \d|[Ss]pecification part|by specification|\(contract \d|of the specification/g) ?? []),
        ...(comment.match(/[\w/.-]+\.md\b/g) ?? []).filter(
          (page) => ![page, path.join(path.dirname(file), page)].some((place) => existsSync(path.join(ROOT, place))),
        ),
      ].map((cited) => `${file} cites ${cited}`),
    );
  });
  t.strictSame(
    strays.filter((stray) => !stray.startsWith('test/docs.test.ts')),
    [],
  );
});
