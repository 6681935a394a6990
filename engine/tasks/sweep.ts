import { sweepBuckets } from '../../db/access/rate-limits.ts';
import { type ClockWatch, correctTimes, hasTimesAhead, openClockWatch } from '../../db/jobs/clock.ts';
import type { Media } from '../../db/jobs/complete.ts';
import { buryDeadEngines } from '../../db/jobs/engines.ts';
import { expiredMedia } from '../../db/jobs/kept.ts';
import {
  abandoned,
  deletedMedia,
  forgetOrphans,
  listPlace,
  noteOrphans,
  type Orphan,
  postponeOrphans,
  setListPlace,
} from '../../db/jobs/orphans.ts';
import { enqueuePurge, purgeFailedJobs } from '../../db/jobs/queue.ts';
import { expireTranscripts, forgetExpired, leftoverMedia, reclaimReports, reclaimTranscriptions } from '../../db/jobs/sweep.ts';
import { noteStale } from '../../db/search/blocks.ts';
import { deletedWorkspaces } from '../../db/tenants/purge.ts';
import { settleForeignChanges } from '../../db/transcripts/changes.ts';
import { sumUpChanges } from '../../db/transcripts/totals.ts';
import { requeueDeliveries } from '../../db/webhooks/outbox.ts';
import type { Engine } from './engine.ts';
import { dropMedia } from './media.ts';

const ORPHAN_SECONDS = 30; // age at which an unreferenced spool file is removed
const LISTED = 10_000; // files per run: how many more the spool has must not matter
const BATCH = 1000;
const REMOVING_MS = 30_000; // of a sweep, which dead engines' work waits for
const REMOVERS = 4; // at once
const MOST_STUCK = 10_000; // ids of one kind in memory; if so many media cannot be removed, the spool as a whole is at fault

/** Cleans up after dead engines for the whole fleet: the engine whose heartbeat finds a task due runs it (db/jobs/fleet-tasks.ts). */
export interface Sweeper {
  /** Urgent: work of dead engines, media of finished and deleted transcriptions. Joins a sweep in progress. */
  sweep(): Promise<void>;
  /** Not urgent: expired rows, transcripts past their retention, orphans in the spool, totals. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

export function openSweeper(engine: Engine): Sweeper {
  const clock = openClockWatch(engine.db);
  const stuck = { finished: new Set<string>(), kept: new Set<string>() };
  const sweep = async () => {
    await note(engine, 'work of dead engines', () => sweepDead(engine, clock).then(() => 0));
    await note(engine, 'media of finished transcriptions', () =>
      removeAll(engine, stuck.finished, (except) => leftoverMedia(engine.db, except)),
    );
    await note(engine, 'recordings past their term', () =>
      removeAll(engine, stuck.kept, (except) => expiredMedia(engine.db, engine.options.keepDays, except)),
    );
    await note(engine, 'media of deleted transcriptions', () => removeDeleted(engine));
  };
  const tidy = async () => {
    await note(engine, 'transcripts past their retention', () => expire(engine));
    await note(engine, 'orphans in the spool', () => removeOrphans(engine));
    await note(engine, 'permanently failed jobs', () => engine.db.acrossTenants(purgeFailedJobs));
    await note(engine, 'deleted workspaces', () => purgeLater(engine).then(() => 0));
    await note(engine, 'deliveries without a job', () => requeueDeliveries(engine.db));
    await note(engine, 'expired rows', () => forgetExpired(engine.db, clock.latest()).then(() => 0));
    await note(engine, 'rate limit buckets', () => sweepBuckets(engine.db).then(() => 0));
    await note(engine, 'search blocks with deleted transcripts', () => noteStale(engine.db).then(() => 0));
    await note(engine, 'changes that another database counted', () => settleForeignChanges(engine.db).then(() => 0));
    await note(engine, 'list changes', () => sumUpChanges(engine.db).then(() => 0));
  };
  const [sweeping, tidying] = [joined(sweep), joined(tidy)];
  return {
    sweep: sweeping.run,
    tidy: tidying.run,
    close: async () => void (await Promise.all([sweeping.running(), tidying.running()])),
  };
}

/** Runs `work` once at a time; callers during a run share its result. */
function joined(work: () => Promise<void>) {
  let running: Promise<void> | null = null;
  return {
    run() {
      running ??= work().finally(() => {
        running = null;
      });
      return running;
    },
    running: () => running,
  };
}

/** Recovers work whose lease has expired, unless the database's clock was set ahead: live engines then need some seconds to renew theirs. */
async function sweepDead(engine: Engine, clock: ClockWatch): Promise<void> {
  const leap = await clock.read();
  await note(engine, 'times in the future, left by a clock that was set back', async () =>
    leap === null || leap < 0 || (await hasTimesAhead(engine.db)) ? correctTimes(engine.db) : 0,
  );
  if (leap !== null && leap > 0)
    return engine.log.warn({ seconds: Math.round(leap) }, 'the database clock jumped ahead; no engine is considered dead in this sweep');
  await note(engine, 'dead engines', async () => (await buryDeadEngines(engine.db)).length);
  await note(engine, 'transcriptions of dead engines', async () => total(await reclaimTranscriptions(engine.db, clock.latest())));
  await note(engine, 'reports of dead engines', async () => total(await reclaimReports(engine.db, clock.latest())));
}

/** Runs one step of the sweep; a failing step does not prevent the others. */
async function note(engine: Engine, what: string, step: () => Promise<number>): Promise<void> {
  try {
    const count = await step();
    if (count) engine.log.warn({ count, what }, 'swept');
  } catch (error) {
    engine.log.warn({ error, what }, 'a sweep step failed; trying again');
  }
}

function total({ handedOn, ended }: { handedOn: number; ended: number }): number {
  return handedOn + ended;
}

/**
 * Removes media in batches, until none is left or it has taken long. Those that cannot be removed are added to `stuck`, and tried again after
 * all others, which must not wait for them.
 */
async function removeAll(engine: Engine, stuck: Set<string>, next: (except: readonly string[]) => Promise<Media[]>): Promise<number> {
  if (engine.trouble.reason) return 0; // as for orphans
  let removed = 0;
  for (const end = performance.now() + REMOVING_MS; performance.now() < end; ) {
    const media = await next([...stuck]);
    const { done, failed } = await attempt(engine, media, (each) => dropMedia(engine, each), end);
    removed += done.length;
    for (const { id } of failed) stuck.add(id);
    if (!media.length || stuck.size > MOST_STUCK) {
      stuck.clear();
      break;
    }
  }
  return removed;
}

/** Most of these files were removed by whoever deleted the transcription or ended the upload; these are not worth a log line. */
async function removeDeleted(engine: Engine): Promise<number> {
  if (engine.trouble.reason) return 0; // as for orphans
  for (const end = performance.now() + REMOVING_MS; performance.now() < end; ) {
    if (!(await removeFiles(engine, await deletedMedia(engine.db), end))) break;
  }
  return 0;
}

/**
 * Removes files of the spool until `end`, and forgets those that are gone. Those that cannot be removed are tried again after all others.
 * Returns the number of files removed.
 */
async function removeFiles(engine: Engine, files: readonly Orphan[], end: number): Promise<number> {
  const { done, failed } = await attempt(engine, files, ({ id, extension }) => engine.spool.remove(id, extension), end);
  await forgetOrphans(engine.db, done);
  if (failed.length) await postponeOrphans(engine.db, failed);
  return done.length;
}

/** `remove` for each file of a batch, a few at a time, and none after `end`. One line in the log for all that fail. */
async function attempt<T extends { id: string }>({ log }: Engine, files: readonly T[], remove: (file: T) => Promise<void>, end: number) {
  const [done, failed, errors]: [T[], T[], unknown[]] = [[], [], []];
  const one = async (file: T) => {
    try {
      await remove(file);
      done.push(file);
    } catch (error) {
      failed.push(file);
      errors.push(error);
    }
  };
  for (let i = 0; i < files.length && performance.now() < end; i += REMOVERS) await Promise.all(files.slice(i, i + REMOVERS).map(one));
  const about = { count: failed.length, transcription: failed[0]?.id, error: errors[0] };
  if (failed.length) log.warn(about, 'files of the spool could not be removed; the sweeper will retry');
  return { done, failed };
}

/** A deleted workspace that lost its job gets one. */
async function purgeLater({ db }: Engine): Promise<void> {
  for (const id of await deletedWorkspaces(db)) await db.acrossTenants((tx) => enqueuePurge(tx, id, 60));
}

async function expire(engine: Engine): Promise<number> {
  let expired = 0;
  for (const end = performance.now() + REMOVING_MS; performance.now() < end; ) {
    const gone = await expireTranscripts(engine.db, engine.options.retentionDays);
    if (!gone.length) break;
    expired += gone.length;
    // a trigger has noted them, so that those that fail are tried again as media of deleted transcriptions
    await attempt(engine, gone, ({ id, extension }) => engine.spool.remove(id, extension), end);
  }
  return expired;
}

/**
 * Removes spool files that no transcription or upload in progress references, once two checks some time apart agree. Each run lists the next
 * part of the spool. Most orphans do not wait for it: rows announce them (db/jobs/orphans.ts).
 */
async function removeOrphans(engine: Engine): Promise<number> {
  const { db, spool, trouble } = engine;
  if (trouble.reason) return 0; // the folder may belong to another installation
  let removed = 0;
  for (const end = performance.now() + REMOVING_MS; performance.now() < end; ) {
    const gone = await removeFiles(engine, await abandoned(db, ORPHAN_SECONDS), end);
    removed += gone;
    if (!gone) break;
  }
  const { entries, next } = await spool.page(await listPlace(db), LISTED);
  for (let from = 0; from < entries.length; from += BATCH) await noteOrphans(db, entries.slice(from, from + BATCH));
  await setListPlace(db, next);
  return removed;
}
