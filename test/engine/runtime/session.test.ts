import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openSession } from '../../../engine/runtime/session.ts';
import { addTiny, TINY } from '../../support/engine/models.ts';
import { finish, ROOT } from '../../support/processes/processes.ts';

const home = t.testdir();
await addTiny(home);
const path = (name: string) => JSON.stringify(join(ROOT, name));
const MAIN = `
  import { openSession } from ${path('engine/runtime/session.ts')};
  const session = await openSession(${path('models/diarization/segmentation-3.0.onnx')});
  await session.close();`;
const THREADS = `
  import { openPool } from ${path('engine/runtime/pool.ts')};
  const pool = await openPool({ models: { whisper: ${JSON.stringify(join(home, 'models', TINY))}, diarization: ${path('models/diarization')} }, threads: 1 });
  await pool.job(new AbortController().signal).segment([new Float32Array(16000)]);
  await pool.close();`;
const UNSET = ['CI', 'XDG_CACHE_HOME', 'ORT_DISABLE_TELEMETRY'].flatMap((name) => ['-u', name]); // with CI set, the runtime sends no telemetry anyway

for (const [where, program] of Object.entries({ 'the main thread': MAIN, 'worker threads': THREADS })) {
  t.test(`openSession() in ${where}: the runtime writes no telemetry records`, async (t) => {
    const at = t.testdir({ 'program.mts': program });
    const [HOME, TMPDIR] = [join(at, 'home'), join(at, 'temporary')];
    for (const folder of [HOME, TMPDIR]) mkdirSync(folder);
    const { code, stderr } = await finish('env', [...UNSET, process.execPath, '--import', 'tsx', join(at, 'program.mts')], {
      HOME,
      TMPDIR,
    });
    t.equal(code, 0, stderr);
    const files = [HOME, TMPDIR].flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }));
    t.strictSame(
      files.filter((file) => !file.startsWith('tsx-')),
      [],
    );
  });
}

t.test('openSession() says that a file is missing or damaged, and what to do', async (t) => {
  const whole = readFileSync(join(home, 'models', TINY, 'encoder.onnx'));
  const at = t.testdir({ 'half.onnx': whole.subarray(0, whole.length / 2), 'empty.onnx': '', 'pointer.onnx': 'version https://git-lfs' });
  for (const name of ['half.onnx', 'empty.onnx', 'pointer.onnx', 'none.onnx'])
    await t.rejects(openSession(join(at, name)), /^Cannot load .*: it is missing or damaged \(.*\); "longhand models verify" names/, name);
});
