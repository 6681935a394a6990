import { existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { MEASURES } from '../../scripts/commands/measures.ts';
import { ROOT } from '../support/processes/processes.ts';

t.test('longhand bench: the program of each measurement exists', (t) => {
  for (const [name, { file }] of Object.entries(MEASURES)) t.ok(existsSync(path.join(ROOT, 'bench', file)), `${name}: bench/${file}`);
  t.end();
});
