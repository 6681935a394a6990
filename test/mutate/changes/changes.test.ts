import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../../support/processes/processes.ts';
import { testsOf } from './change.ts';
import { CHANGES } from './changes.ts';

t.test('CHANGES: every text to replace occurs once in its file, and every test exists', async (t) => {
  t.ok(CHANGES.length >= 150, `${CHANGES.length} changes`);
  const wrong = CHANGES.flatMap((change) => {
    const [file, from, to] = change;
    const found = existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8').split(from).length - 1 : 0;
    const missing = testsOf(change).filter((test) => !existsSync(join(ROOT, test)));
    return [
      ...(found === 1 && from !== to ? [] : [`${file}: "${from}" was found ${found} times; correct the line in test/mutate/changes`]),
      ...missing.map((test) => `${file}: there is no ${test}`),
    ];
  });
  t.strictSame(wrong, []);
});
