import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { LONGHAND, start } from '../support/processes/processes.ts';
import { eventually } from '../support/processes/service.ts';

t.test('scratchFolder(): a measurement that is stopped leaves no PostgreSQL, no API and no files', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-stopped-')); // where PostgreSQL's account may go
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const bench = start(t, process.execPath, ['--import', 'tsx', 'bench/load/load.ts'], { TMPDIR: folder });
  const { pid } = bench.child;
  const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const command = (child: string) => readFileSync(`/proc/${child}/cmdline`, 'utf8');
  const started = await eventually(() => {
    const found = children();
    return ['postgres', 'launch.mjs'].every((name) => found.some((child) => command(child).includes(name))) ? found : null;
  }, 'PostgreSQL and the API');
  await bench.stop('SIGTERM');
  await eventually(() => !started.some((child) => existsSync(`/proc/${child}`)), 'the end of everything');
  t.strictSame(
    readdirSync(folder).filter((name) => name.startsWith('longhand-')),
    [],
  );
});

t.test('scratchFolder(): a measurement that is stopped while models run ends by the signal, without an error of onnxruntime', async (t) => {
  const folder = t.testdir();
  const bench = start(t, LONGHAND, ['bench', '--minutes', '1', '--files', '1'], {
    TMPDIR: folder,
    LONGHAND_THREADS: '1',
    NODE_OPTIONS: '',
  });
  await eventually(() => /recognition of/.test(bench.output.stderr), 'the recognition');
  await sleep(1000); // a step takes less
  await bench.stop('SIGTERM');
  t.equal(bench.child.signalCode, 'SIGTERM');
  t.notMatch(bench.output.stderr, /terminate|Error/);
  t.strictSame(
    readdirSync(folder).filter((name) => name.startsWith('longhand-')),
    [],
  );
});
