import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../../support/processes/processes.ts';

const PROGRAM = `
  const { openLog } = await import(${JSON.stringify(join(ROOT, 'db/ops/log.ts'))});
  const log = openLog({ LOG_LEVEL: 'info', LOG_FORMAT: process.env.FORMAT }, 'test');
  for (let count = 0; count < 2000; count++) log.info({ count }, 'a line that cannot be written');
  await new Promise((resolve) => setTimeout(resolve, 100));
  process.stdout.write('running');`;

for (const format of ['json', 'pretty'] as const) {
  t.test(`openLog() in ${format}: a log that cannot be written because the disk is full does not end the program`, async (t) => {
    const full = openSync('/dev/full', 'w');
    const { status, stdout } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', PROGRAM], {
      cwd: ROOT,
      env: { ...process.env, FORMAT: format },
      stdio: ['ignore', 'pipe', full],
      encoding: 'utf8',
    });
    closeSync(full);
    t.strictSame([status, stdout], [0, 'running']);
  });
}
