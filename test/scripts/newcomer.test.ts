/* First steps: a clone without packages, and development with automatic restarts. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { partsOf } from '../../scripts/commands/watch.ts';
import { addTiny, TINY } from '../support/engine/models.ts';
import { finish, LONGHAND, ROOT, start } from '../support/processes/processes.ts';
import { findProgram } from '../support/processes/programs.ts';
import { eventually } from '../support/processes/service.ts';

t.test('scripts/longhand in a clone without packages prints the command to run, not a stack trace', async (t) => {
  const clone = mkdtempSync(path.join(tmpdir(), 'longhand-clone-')); // outside the checkout, where Node would find its packages
  t.teardown(() => rmSync(clone, { recursive: true, force: true }));
  for (const name of ['scripts', 'api/version.ts', 'package.json'])
    cpSync(path.join(ROOT, name), path.join(clone, name), { recursive: true });
  for (const args of [['doctor'], ['--help'], ['up'], ['transcribe', 'call.wav']]) {
    const { code, stdout, stderr } = await finish(path.join(clone, 'scripts/longhand'), args);
    t.match(
      [code, stdout, stderr],
      [1, /^$/, new RegExp(`^Longhand cannot start: .*\\n\\n {2}node ${clone}/scripts/prepare\\.mjs\\n`)],
      args.join(' '),
    );
    t.notMatch(stderr, /^\s+at /m);
  }
  const programs = path.join(clone, 'programs');
  mkdirSync(programs);
  for (const name of ['dirname', 'readlink']) symlinkSync(findProgram(name)!, path.join(programs, name));
  const without = await finish('/bin/sh', [path.join(clone, 'scripts/longhand'), 'doctor'], { PATH: programs });
  t.match([without.code, without.stderr], [1, /^Longhand needs Node 20\.19 or newer, and there is no "node" on the PATH/]);
});

const setpriv = process.getuid?.() === 0 ? findProgram('setpriv') : null;
const noOther = process.getuid?.() === 0 && !setpriv && 'needs setpriv, because root may enter every folder';
t.test(
  "scripts/longhand runs in a folder that its account may not enter, such as root's with sudo, or that was removed",
  { skip: noOther },
  async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'longhand-shut-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const unprivileged = setpriv ? `${setpriv} --bounding-set=-all --inh-caps=-all ` : '';
    for (const spoilt of ['chmod 0 .', 'rmdir "$PWD"']) {
      const script = `mkdir "${folder}/here" && cd "${folder}/here" && ${spoilt} && exec ${unprivileged}"${LONGHAND}" --version`;
      const { code, stdout, stderr } = await finish('/bin/sh', ['-c', script], { NODE_OPTIONS: '', TSX_DISABLE_CACHE: '1' }); // as shipped: with esbuild
      rmSync(path.join(folder, 'here'), { recursive: true, force: true });
      t.match([code, stdout], [0, /^\d+\.\d+\.\d+\n$/], `${spoilt}: ${stderr}`);
    }
  },
);

t.test('npm start prints no npm warning before its first line', async (t) => {
  const { stderr } = await finish('npm', ['run', '--silent'], {}, ROOT);
  t.notMatch(stderr, /npm warn/i);
});

t.test('partsOf() maps a changed source file to the parts that use it', async (t) => {
  t.strictSame(partsOf('api/v1/uploads.ts'), ['api']);
  t.strictSame(partsOf('api/contract/limits.ts'), ['api', 'engine']);
  t.strictSame(partsOf('db/jobs/claim.ts'), ['api', 'engine']);
  t.strictSame(partsOf('engine/transcribe.ts'), ['engine']);
  t.strictSame(partsOf('api/console/app/app.tsx'), ['console']);
  t.strictSame(partsOf('api/console/dist/index.html'), []);
  t.strictSame(partsOf('models/whisper-base/encoder.onnx'), []);
});

t.test('up --watch restarts the API when its source changes', async (t) => {
  const home = mkdtempSync(path.join(tmpdir(), 'longhand-dev-'));
  await addTiny(home);
  const env = { LONGHAND_HOME: home, LONGHAND_MODEL: TINY, LONGHAND_THREADS: '1', LOG_LEVEL: 'info' };
  const up = start(t, LONGHAND, ['up', '--watch', '--port', '0'], env);
  t.teardown(async () => {
    await up.stop();
    rmSync(home, { recursive: true, force: true });
  });
  const [, base] = await up.said(/listening on (http:\S+)/);
  const file = path.join(ROOT, 'api/version.ts');
  utimesSync(file, new Date(), new Date());
  await eventually(() => up.output.stderr.includes('Changed: api'), 'the detection of the change');
  await eventually(() => up.output.stderr.includes('stopping'), 'the stop of the API');
  const answers = async () => (await fetch(`${base}/healthz`).catch(() => null))?.status === 200;
  await eventually(answers, 'a response of the API', 60);
  t.match(readFileSync(file, 'utf8'), /VERSION/, 'the file is restored');
});
