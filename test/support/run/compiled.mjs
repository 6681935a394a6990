/**
 * Runs a bundled program (build.ts) from the code that V8 compiled in an earlier process: compiling takes 0.2 to 0.3 s of CPU time, and tests
 * start more than a hundred programs.
 */
import '../navigator.mjs';
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';

const require = createRequire(new URL('../../../package.json', import.meta.url));

/** Code compiled with other options would be rejected. */
const options = createHash('sha256')
  .update([process.env.NODE_OPTIONS, ...process.execArgv].join(' '))
  .digest('hex')
  .slice(0, 8);

/** The first process with the same options keeps its compiled code. */
export function run(file) {
  const kept = `${file}.${options}`;
  const cachedData = read(kept);
  const script = new Script(`(function (require, module, exports, importing) {${readFileSync(file, 'utf8')}\n})`, {
    filename: file,
    cachedData,
  });
  if (script.cachedDataRejected !== false) process.once('exit', () => keep(kept, script)); // absent, or of another processor
  const module = { exports: {} };
  script.runInThisContext()(require, module, module.exports, (specifier) => import(specifier));
}

function read(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Written atomically; skipped if this account may not write there. */
function keep(file, script) {
  try {
    const partial = `${file}.${process.pid}`;
    writeFileSync(partial, script.createCachedData());
    renameSync(partial, file);
  } catch {}
}
