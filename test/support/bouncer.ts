import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBouncer as startIn } from '../../bench/scale/bouncer.ts';

/** Starts PgBouncer in transaction mode in front of the server of `url`, with at most `servers` connections to it. Returns the address through it. */
export async function startBouncer(
  t: { teardown(after: () => unknown): void },
  program: string,
  url: string,
  servers: number,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-bouncer-'));
  const bouncer = await startIn(folder, url, { servers }, program);
  t.teardown(async () => {
    await bouncer.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return bouncer.url;
}
