import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './processes/processes.ts';

export interface Import {
  from: string;
  /** A file of the project, or the name of a package. */
  to: string;
  package: boolean;
}

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|tsx|mjs)$/.test(file))
  .filter((file) => !file.startsWith('scripts/stubs/'));
/** The text of every source of the project, by its path. */
export const sources = new Map(files.map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')]));
/** Their imports; those in the examples of a test are none. */
export const imports = [...sources].flatMap(([file, text]) => (file === 'test/sources.test.ts' ? [] : importsOf(file, text)));

/** The imports of a source. */
export function importsOf(file: string, text: string): Import[] {
  const specifiers = [...text.matchAll(/(?:^|[\s;}])(?:from|import)\s*\(?\s*'([^'\n]+)'/gm)].map((match) => match[1]!);
  return specifiers
    .filter((specifier) => !specifier.startsWith('node:'))
    .map((specifier) =>
      specifier.startsWith('.')
        ? { from: file, to: path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier)), package: false }
        : { from: file, to: specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'), package: true },
    );
}

/** Whether a file is one of the places, or in one that ends in a slash. */
export const within = (file: string, places: readonly string[]) =>
  places.some((place) => (place.endsWith('/') ? file.startsWith(place) : file === place));
