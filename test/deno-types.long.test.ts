import t from 'tap';
import { finish } from './support/processes/processes.ts';
import { needPrograms } from './support/processes/programs.ts';

const { deno } = needPrograms(t, 'deno');
const ENTRIES = ['api/main.ts', 'engine/main.ts', 'scripts/commands/main.ts'];

t.test('the sources type-check under Deno', async (t) => {
  const { code, stderr } = await finish(deno, ['check', '--no-lock', '--node-modules-dir=manual', ...ENTRIES], { NO_COLOR: '1' });
  t.equal(code, 0, stderr);
});
