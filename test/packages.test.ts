import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { finish, ROOT } from './support/processes/processes.ts';

interface Component {
  name: string;
  purl: string;
  licenses?: unknown[];
}

interface Entry {
  name?: string;
  dev?: boolean;
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

t.test('npm run sbom prints every package that runs, with its licence, and nothing else', async (t) => {
  const { code, stdout, stderr } = await finish('npm', ['run', '--silent', 'sbom'], {}, ROOT);
  t.equal(code, 0, stderr);
  const { metadata, components } = JSON.parse(stdout) as { metadata: { component: Component }; components: Component[] };
  t.equal(metadata.component.name, 'longhand');
  const runtime = Object.entries(packages).filter(([place, { dev, version }]) => place && !dev && version); // stubs have no version
  const wanted = new Set(runtime.map(([place, { name, version }]) => `${name ?? place.replace(/^.*node_modules\//, '')}@${version}`));
  const printed = components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', '')));
  t.strictSame(new Set(printed), wanted);
  t.ok(components.filter(({ licenses }) => !licenses?.length).length < 10, 'some packages do not state it in the lockfile');
});
