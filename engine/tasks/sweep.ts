import { databaseSeconds, mendTimes } from '../../db/jobs/clock.ts';
import { buryDeadEngines, livingEngines } from '../../db/jobs/engines.ts';
import { purgeFailedJobs } from '../../db/jobs/queue.ts';
import { expireTranscripts, forgetExpired, leftoverMedia, reclaimReports, reclaimTranscriptions, unneeded } from '../../db/jobs/sweep.ts';
import type { Engine } from './engine.ts';
import { removeMedia } from './media.ts';

const ORPHAN_MS = 30_000; // a spool file that nothing has needed for so long is removed
const BATCH = 500;
const LEAP = 5; // seconds that the database's clock may run ahead of ours between two sweeps

/** Finds what the dead left behind. Every engine runs it; they do not disturb one another. */
export interface Sweeper {
  /** Joins a sweep that is going on. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export function openSweeper(engine: Engine): Sweeper {
  const orphans = new Map<string, number>(); // spool name -> when it was first seen without an owner, by our own steady clock
  let sweeping: Promise<void> | null = null;
  const readClock = openClockWatch(engine);
  const sweep = async () => {
    await note(engine, 'times that a clock put back had left in the future', () => mendTimes(engine.db));
    const latest = await readClock();
    if (latest) await sweepDead(engine, latest);
    await note(engine, 'media of ended transcriptions', () => removeLeftovers(engine));
    await note(engine, 'transcripts past their age', () => expire(engine));
    await note(engine, 'orphans in the spool', () => removeOrphans(engine, orphans));
    await note(engine, 'jobs that failed for good', () => engine.db.acrossTenants(purgeFailedJobs));
  };
  return {
    sweep() {
      sweeping ??= sweep().finally(() => {
        sweeping = null;
      });
      return sweeping;
    },
    close: async () => sweeping ?? undefined,
  };
}

/** What has run out. */
async function sweepDead(engine: Engine, latest: () => number): Promise<void> {
  await note(engine, 'dead engines', async () => (await buryDeadEngines(engine.db)).length);
  await note(engine, 'transcriptions of dead engines', async () => total(await reclaimTranscriptions(engine.db, latest())));
  await note(engine, 'reports of dead engines', async () => total(await reclaimReports(engine.db, latest())));
  await note(engine, 'scratch folders of dead engines', async () => engine.scratch.clean(await livingEngines(engine.db)));
  await note(engine, 'expired rows', async () => {
    await forgetExpired(engine.db);
    return 0;
  });
}

/**
 * Reads the clock of the database for a sweep. Gives the latest time that it can truly be: when it leaps ahead, during the sweep or just before,
 * all leases seem to have run out, and the living need some seconds to renew theirs. Null: it cannot be read, or has leapt.
 */
function openClockWatch(engine: Engine): () => Promise<(() => number) | null> {
  let known: number | null = null; // seconds that it is ahead of our steady clock
  return async () => {
    try {
      const offset = (await databaseSeconds(engine.db)) - performance.now() / 1000;
      const leap = offset - (known ?? offset);
      known = offset;
      if (leap <= LEAP) return () => offset + performance.now() / 1000 + LEAP;
      engine.log.warn({ seconds: Math.round(leap) }, 'the clock of the database leapt ahead; nothing is taken for dead this time');
    } catch (error) {
      engine.log.warn({ error }, 'the clock of the database cannot be read; trying again');
    }
    return null;
  };
}

/** Runs one step; a step that fails does not keep the others from running. */
async function note(engine: Engine, what: string, step: () => Promise<number>): Promise<void> {
  try {
    const count = await step();
    if (count) engine.log.warn({ count, what }, 'swept');
  } catch (error) {
    engine.log.warn({ error, what }, 'a step of the sweep failed; trying again');
  }
}

function total({ handedOn, ended }: { handedOn: number; ended: number }): number {
  return handedOn + ended;
}

async function removeLeftovers(engine: Engine): Promise<number> {
  const media = await leftoverMedia(engine.db);
  for (const each of media) await removeMedia(engine, each);
  return media.length;
}

async function expire(engine: Engine): Promise<number> {
  const gone = await expireTranscripts(engine.db, engine.options.retentionDays);
  for (const { id, extension } of gone) await engine.spool.remove(id, extension);
  return gone.length;
}

/** Removes spool files that no transcription and no upload in flight needs, once they were seen so twice with a while between. */
async function removeOrphans(engine: Engine, seen: Map<string, number>): Promise<number> {
  if (engine.trouble.reason) return 0; // who knows whose place it is
  const present = new Map<string, { id: string; extension: string }>();
  for await (const { id, extension } of engine.spool.list()) present.set(`${id}.${extension}`, { id, extension });
  const ids = [...new Set([...present.values()].map(({ id }) => id))];
  const free = new Set<string>();
  for (let at = 0; at < ids.length; at += BATCH) for (const id of await unneeded(engine.db, ids.slice(at, at + BATCH))) free.add(id);
  for (const name of seen.keys()) if (!free.has(present.get(name)?.id ?? '')) seen.delete(name);
  let removed = 0;
  for (const [name, { id, extension }] of present) {
    if (!free.has(id)) continue;
    const since = seen.get(name) ?? performance.now();
    seen.set(name, since);
    if (performance.now() - since < ORPHAN_MS) continue;
    await engine.spool.remove(id, extension);
    seen.delete(name);
    removed++;
  }
  return removed;
}
