import { setTimeout as sleep } from 'node:timers/promises';
import { enqueuePurge } from '../../db/jobs/queue.ts';
import { purgeNext } from '../../db/tenants/purge.ts';
import type { Engine } from './engine.ts';

const TURN_MS = 5_000; // after this the job is requeued behind others
const REST = 1; // pause per unit of work: requests of clients have priority in the database

/**
 * Removes data of a deleted workspace for a limited time, and adds the job that continues. No step is lost in a crash: the next engine
 * continues where this one stopped.
 */
export async function purge({ db, spool, log }: Pick<Engine, 'db' | 'spool' | 'log'>, workspaceId: string): Promise<void> {
  for (const end = performance.now() + TURN_MS; performance.now() < end; ) {
    const start = performance.now();
    const { media, done } = await purgeNext(db, workspaceId);
    for (const { id, extension } of media)
      await spool
        .remove(id, extension)
        .catch((error: unknown) => log.warn({ error, transcription: id }, 'the sweeper will remove the media'));
    if (done) return log.info({ workspace: workspaceId }, 'a deleted workspace was purged');
    await sleep((performance.now() - start) * REST);
  }
  await db.acrossTenants((tx) => enqueuePurge(tx, workspaceId, 1));
}
