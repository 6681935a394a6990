import path from 'node:path';
import t from 'tap';
import { finish, ROOT } from './support/processes/processes.ts';

const tool = (name: string) => path.join(ROOT, 'node_modules', '.bin', name);

t.test('every source passes the strict type check', async (t) => {
  const tsc = path.join(ROOT, 'node_modules', 'typescript-7', 'bin', 'tsc'); // `typescript` is the older compiler, whose API other tools need
  const { code, stdout } = await finish(process.execPath, [tsc, '--noEmit', '--checkers', '1']);
  t.equal(stdout, '');
  t.equal(code, 0);
});

t.test('every source passes lint and is formatted', async (t) => {
  for (const command of ['lint', 'format']) {
    const { code, stderr } = await finish(tool('biome'), [command, ...(command === 'lint' ? ['--error-on-warnings'] : []), '.']);
    t.equal(code, 0, stderr);
  }
});
