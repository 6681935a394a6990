import path from 'node:path';
import t from 'tap';
import { finish, ROOT } from './support/processes/processes.ts';
import { needPrograms } from './support/processes/programs.ts';

// The same sources under Deno: `sh scripts/systems/deno.sh` installs it and runs this. Their types: deno-types.long.test.ts.
const { deno } = needPrograms(t, 'deno');
const FLAGS = ['--no-lock', '--node-modules-dir=manual'];
const MAIN = path.join('scripts', 'commands', 'main.ts');

t.test('the command line prints its help under Deno', async (t) => {
  const { code, stdout, stderr } = await finish(deno, ['run', '-A', ...FLAGS, MAIN, '--help']);
  t.equal(code, 0, stderr);
  t.match(stdout, /transcribe \[options\] <file\.\.\.>/);
});

t.test('transcribe works under Deno', async (t) => {
  const recording = path.join(ROOT, 'bench', 'data', 'two-speakers.wav');
  const { code, stdout, stderr } = await finish(deno, ['run', '-A', ...FLAGS, MAIN, 'transcribe', recording], { LONGHAND_THREADS: '1' });
  t.equal(code, 0, stderr);
  t.match(stdout, /account of himself/i);
});
