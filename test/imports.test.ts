import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { BY_FILES, DOORS } from './support/doors.ts';
import { ROOT } from './support/processes/processes.ts';
import { imports, sources, within } from './support/sources.ts';

const SHARED = [
  ...['loudness', 'spectrum'].map((name) => `engine/${name}.ts`),
  ...['session', 'buffers', 'scheduler'].map((name) => `engine/runtime/${name}.ts`),
  'models/descriptor.ts',
  'models/sample-rate.ts',
]; // files that stages may import
const STAGES = ['audio', 'asr', 'diarization', 'transcript', 'reports'];

/** Imports of project files, by files in `from`, that are not in `allowed`. */
function strays(from: (file: string) => boolean, allowed: (to: string, from: string) => boolean): string[] {
  return imports.filter((i) => !i.package && from(i.from) && !allowed(i.to, i.from)).map((i) => `${i.from} -> ${i.to}`);
}

t.test('api/contract is a leaf: it imports zod, an edit distance and itself', async (t) => {
  t.strictSame(
    strays(
      (file) => within(file, ['api/contract/']),
      (to) => within(to, ['api/contract/']),
    ),
    [],
  );
  t.strictSame(
    imports.filter((i) => i.package && within(i.from, ['api/contract/']) && !['zod', 'fastest-levenshtein'].includes(i.to)),
    [],
  );
});

t.test('db imports only itself and the contract', async (t) => {
  t.strictSame(
    strays(
      (file) => within(file, ['db/']),
      (to) => within(to, ['db/', 'api/contract/']),
    ),
    [],
  );
});

t.test('the stages of the engine import the contract, the shared files of the list and themselves, never one another', async (t) => {
  for (const stage of STAGES) {
    const own = `engine/${stage}/`;
    t.strictSame(
      strays(
        (file) => within(file, [own]),
        (to) => within(to, [own, 'api/contract/', 'engine/types.ts', ...SHARED]),
      ),
      [],
      stage,
    );
  }
});

t.test('families of ASR models never import one another, and what they share imports none of them', async (t) => {
  const families = ['whisper', 'ctc', 'transducer'].map((name) => `engine/asr/${name}/`);
  for (const family of families) {
    t.strictSame(
      strays(
        (file) => within(file, [family]),
        (to) => !within(to, families) || within(to, [family]),
      ),
      [],
      family,
    );
  }
  const openers = ['engine/asr/families.ts', 'engine/asr/examine.ts'];
  t.strictSame(
    strays(
      (file) => within(file, ['engine/asr/']) && !within(file, [...families, ...openers]),
      (to) => !within(to, families),
    ),
    [],
  );
});

t.test('the threads and the pipeline of the engine do not import the database', async (t) => {
  const heart = [
    'engine/runtime/worker.ts',
    'engine/runtime/pool.ts',
    'engine/transcribe.ts',
    'engine/recognition.ts',
    'engine/routing.ts',
    'engine/progress.ts',
  ];
  t.strictSame(
    strays(
      (file) => within(file, heart),
      (to) =>
        within(to, ['engine/', 'api/contract/', 'models/networks.ts', 'models/descriptor.ts', 'models/sample-rate.ts']) &&
        !within(to, ['engine/tasks/']),
    ),
    [],
  );
});

t.test('api never imports the engine, nor the engine api beyond the contract', async (t) => {
  t.strictSame(
    strays(
      (file) => within(file, ['api/']),
      (to) => within(to, ['api/', 'db/']),
    ),
    [],
  );
  t.strictSame(
    strays(
      (file) => within(file, ['engine/']),
      (to) =>
        within(to, [
          'engine/',
          'db/',
          'api/contract/',
          'models/choosing/fit.ts',
          'models/manifest.ts',
          'models/networks.ts',
          'models/choosing/routes.ts',
          'models/descriptor.ts',
          'models/sample-rate.ts',
        ]),
    ),
    [],
  );
});

/** Everything that a file imports, directly or indirectly, with packages by name. */

function reach(file: string, found = new Set<string>()): Set<string> {
  for (const { to, package: foreign } of imports.filter((i) => i.from === file)) {
    if (found.has(to)) continue;
    found.add(to);
    if (!foreign) reach(to, found);
  }
  return found;
}

t.test('the engine, which opens untrusted files, makes no outgoing requests; the courier, which makes them, opens no files', async (t) => {
  const engine = reach('engine/main.ts');
  const courier = reach('engine/courier/main.ts');
  t.ok(engine.has('engine/audio/decode.ts') && courier.has('engine/courier/post.ts'), 'the search follows indirect imports');
  const out = (name: string) => ['openai', 'undici', 'standardwebhooks'].includes(name) || /^engine\/(reports|courier)\//.test(name);
  t.strictSame([...engine].filter(out), []);
  const files = (name: string) =>
    ['onnxruntime-node', 'piscina'].includes(name) || /^(engine\/(audio|asr|runtime|diarization)|db\/spool)\//.test(name);
  t.strictSame([...courier].filter(files), []);
});

t.test('the API, the engine and the courier do not load the migrations when they start', async (t) => {
  const loaded = new Set(['api/main.ts', 'engine/main.ts', 'engine/courier/main.ts', 'scripts/commands/database.ts']);
  for (const file of loaded) {
    const atOnce = sources.get(file)?.matchAll(/^(?:import|export) (?!type )(?:[^;']* from )?'(\.[^'\n]+)'/gm) ?? []; // a JSON file imports nothing
    for (const [, name] of atOnce) loaded.add(path.posix.normalize(path.posix.join(path.posix.dirname(file), name!)));
  }
  t.ok(loaded.has('db/postgres/pending.ts') && loaded.has('db/postgres/orm.ts'));
  t.strictSame(
    [...loaded].filter((file) => within(file, ['db/postgres/migrate.ts', 'db/postgres/migrations/'])),
    [],
  );
});

t.test('models import only themselves', async (t) => {
  t.strictSame(
    strays(
      (file) => within(file, ['models/']),
      (to) => within(to, ['models/']),
    ),
    [],
  );
});

t.test('bench, test, scripts and every main.ts are imported only by the command line and the tests', async (t) => {
  const apart = (to: string) => /^(bench|test|scripts)\//.test(to) || /(^|\/)main\.ts$/.test(to);
  const own = (to: string, from: string) => to.split('/')[0] === from.split('/')[0] && !/(^|\/)main\.ts$/.test(to);
  t.strictSame(
    strays(
      (file) => !within(file, ['test/', 'scripts/']),
      (to, from) => !apart(to) || own(to, from),
    ),
    [],
  );
  t.strictSame(
    strays(
      (file) => within(file, ['scripts/']),
      (to) => !within(to, ['test/']),
    ),
    [],
  );
});

t.test('every package is imported only by the files that are listed for it', async (t) => {
  const outside = imports.filter((i) => i.package && !within(i.from, ['test/', 'bench/']));
  for (const { from, to } of outside) t.ok(within(from, DOORS[to] ?? []), `${from} -> ${to}`);
});

t.test('every package of package.json has a list of files that may import it', async (t) => {
  const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  const unnamed = Object.keys(dependencies).filter((name) => !(name in DOORS) && !BY_FILES.test(name));
  t.strictSame(unnamed, []);
  t.strictSame(
    Object.keys(DOORS).filter((name) => !(name in dependencies)),
    [],
    'every listed package is a dependency',
  );
  const touched = (name: string, door: string) => imports.some((i) => i.to === name && within(i.from, [door]));
  t.strictSame(
    Object.entries(DOORS).flatMap(([name, doors]) => doors.filter((door) => !touched(name, door)).map((door) => `${name}: ${door}`)),
    [],
    'every listed file is used',
  );
});
