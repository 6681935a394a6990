import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { ROOT } from './support/processes/processes.ts';

interface Entry {
  version?: string;
  link?: boolean;
  resolved?: string;
  integrity?: string;
}

const read = (file: string) => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));
const { packages } = read('package-lock.json') as { packages: Record<string, Entry> };

t.test(
  'package-lock.json: every package has its checksum, including those of other systems; the two stubs are in scripts/stubs',
  async (t) => {
    const open = Object.entries(packages).filter(([place, { integrity }]) => place && !integrity);
    const own = open.filter(([place, { link }]) => link || place.includes('scripts/stubs/'));
    t.equal(own.length, 4);
    t.strictSame(
      open.filter((entry) => !own.includes(entry)).map(([place]) => place),
      [],
      'npm omits them if it finds node_modules: remove the entries, copy package.json, package-lock.json and scripts/stubs into an empty folder and run `npm install --package-lock-only` there',
    );
  },
);

t.test('package-lock.json: packages come only from the configured npm registry', async (t) => {
  const elsewhere = Object.entries(packages).filter(
    ([, { resolved, link }]) => resolved && !link && !resolved.startsWith('https://registry.npmjs.org/'),
  );
  t.strictSame(elsewhere, []);
});
