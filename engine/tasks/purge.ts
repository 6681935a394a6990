import { setTimeout as sleep } from 'node:timers/promises';
import { enqueuePurge } from '../../db/jobs/queue.ts';
import { purgeNext } from '../../db/tenants/purge.ts';
import type { Engine } from './engine.ts';

const TURN_MS = 5_000; // then the job goes behind others
const REST = 1; // pauses as long as the work: the database is for those who wait

/** Removes what is left of a deleted workspace for a while, and adds the job that goes on. A crash loses no step: the next engine goes on where this one was. */
export async function purge({ db, spool, log }: Engine, workspaceId: string): Promise<void> {
  for (const end = performance.now() + TURN_MS; performance.now() < end; ) {
    const start = performance.now();
    const { media, done } = await purgeNext(db, workspaceId);
    for (const { id, extension } of media) await spool.remove(id, extension);
    if (done) return log.info({ workspace: workspaceId }, 'what was left of a deleted workspace is gone');
    await sleep((performance.now() - start) * REST);
  }
  await db.acrossTenants((tx) => enqueuePurge(tx, workspaceId, 1));
}
