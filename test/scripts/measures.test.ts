import path from 'node:path';
import t from 'tap';
import { MEASURES } from '../../scripts/commands/measures.ts';
import { finish, ROOT } from '../support/processes/processes.ts';

t.test('longhand bench: the program of each measurement starts, and answers an unknown option with those that it has', async (t) => {
  const wanted = { code: 2, stdout: '', stderr: /^Unknown option '--none'\. Options: --\w[^\n]*\n$/ };
  for (const [name, { file }] of Object.entries(MEASURES))
    t.match(await finish(process.execPath, ['--import', 'tsx', path.join(ROOT, 'bench', file), '--none']), wanted, name);
});
