import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const KEPT = fileURLToPath(new URL('../../node_modules/.cache/longhand-types/', import.meta.url));
const TAP_OF_A_FILE = new URL('run/tap-of-file.mjs', import.meta.url).href;
const DOMAIN = new URL('run/domain.mjs', import.meta.url).href;
const VERSION = '1';

let blank;

const NO_TSX = { url: 'data:text/javascript,export const register = () => {};', format: 'module', shortCircuit: true };

/** First imports of the command line and of threads, each from its bundle if there is one (run/build.ts). */
const BUNDLED = { '/scripts/commands/launch.mjs': 'scripts/commands/main.mjs', '/engine/runtime/worker.mjs': 'engine/runtime/worker.mjs' };

/**
 * Files that share a process (`?together=3`) each have their own `tap`. The command line and engine threads register `tsx`, which takes 1 s of CPU
 * time and is not needed here.
 */
export async function resolve(specifier, context, next) {
  const program = Object.keys(BUNDLED).find((file) => context.parentURL?.endsWith(file));
  if (program && specifier === 'tsx/esm/api') return NO_TSX;
  if (program && process.env.TEST_PROGRAMS && specifier.endsWith('.ts'))
    return next(pathToFileURL(join(process.env.TEST_PROGRAMS, BUNDLED[program])).href, context);
  if (specifier === 'async-hook-domain') return { url: DOMAIN, format: 'module', shortCircuit: true };
  const together = specifier === 'tap' && /\?together=\d+$/.exec(context.parentURL ?? '');
  return together ? { url: TAP_OF_A_FILE + together[0], format: 'module', shortCircuit: true } : next(specifier, context);
}

export async function load(url, context, next) {
  if (!/^file:.*\.m?ts(\?|$)/.test(url) || url.includes('/node_modules/')) return next(url, context);
  return { format: 'module', source: javascript(fileURLToPath(url.split('?')[0])), shortCircuit: true };
}

function javascript(file) {
  const source = readFileSync(file, 'utf8');
  const kept = join(KEPT, `${createHash('sha256').update(VERSION).update(source).digest('hex')}.js`);
  try {
    return readFileSync(kept, 'utf8');
  } catch {
    const made = withoutTypes(source, file);
    keep(kept, made);
    return made;
  }
}

function withoutTypes(source, file) {
  blank ??= require('ts-blank-space').default;
  return blank(source, (node) => {
    throw new SyntaxError(`${file}: "${node.getText().slice(0, 60)}" is TypeScript that cannot be erased`);
  });
}

/** Written atomically; skipped if the checkout is read-only. */
function keep(file, text) {
  try {
    mkdirSync(KEPT, { recursive: true });
    const partial = `${file}.${process.pid}.${Math.random()}`;
    writeFileSync(partial, text);
    renameSync(partial, file);
  } catch {}
}
