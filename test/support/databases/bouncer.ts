import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bouncer, startBouncer as startIn } from '../../../bench/scale/bouncer.ts';

/** Starts PgBouncer in transaction mode in front of the server of `url`, with at most `servers` connections to it, `engines` of them for engines. */
export async function startBouncer(
  t: { teardown(after: () => unknown): void },
  program: string,
  url: string,
  servers: number,
  engines = 0,
): Promise<Pick<Bouncer, 'url' | 'enginesUrl'>> {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-bouncer-'));
  const bouncer = await startIn(folder, url, { servers, engines }, program);
  t.teardown(async () => {
    await bouncer.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return bouncer;
}
