import { type EngineFacts, livingEngines, registerEngine, unregisterEngine } from '../../db/jobs/engines.ts';
import { type FleetTask, taskEnded } from '../../db/jobs/fleet-tasks.ts';
import { beat, type News } from '../../db/jobs/heartbeat.ts';
import type { Engine } from './engine.ts';
import { nextProbe } from './probe.ts';
import { purge } from './purge.ts';
import type { FleetSize } from './queue.ts';
import { nextIndexing } from './search.ts';
import { openSlots, type Slots } from './slots.ts';
import { openSweeper } from './sweep.ts';
import { type Lanes, nextTranscription } from './transcribe.ts';

/** A running engine. */
export interface Running {
  /** Looks for work of a kind now instead of at the next poll. */
  wake: Record<'probe' | 'dispatch', () => void>;
  /** Removes rows of a deleted workspace for a limited time. */
  purge(workspaceId: string): Promise<void>;
  /** Names of jobs without a free slot here: they are left to other engines. */
  full(): string[];
  /** Number of engines, at the last heartbeat. */
  fleet(): FleetSize;
  /** Stops claiming work; whatever does not finish within `graceMs` is requeued. */
  stop(graceMs: number): Promise<void>;
}

const ALIVE_MS = 15_000; // between heartbeats, which also find work that lost its job: an engine without a free slot leaves jobs to others
const PROBES = 2;

/** Registers the engine and works until `stop`. */
export async function runEngine(engine: Engine, facts: EngineFacts): Promise<Running> {
  await registerEngine(engine.db, facts);
  const { log } = engine;
  const lanes: Lanes = { capacity: facts.concurrency, long: 0 };
  let purging = false;
  const stopping = new AbortController();
  const indexing = openSlots('search', 1, () => nextIndexing(engine, stopping.signal), log);
  const take = async () => {
    const job = await nextTranscription(engine, lanes);
    return job && (() => job().finally(indexing.wake)); // the new transcript is indexed
  };
  const transcriptions = openSlots('transcriptions', facts.concurrency, take, log);
  const probes = openSlots('probes', PROBES, () => nextProbe(engine, transcriptions.wake), log);
  const all: Slots[] = [probes, transcriptions, indexing];
  const sweeper = openSweeper(engine);
  let fleet: FleetSize = { living: 1, idle: 1 };
  const heartbeat = () => sendHeartbeat(engine, facts, transcriptions.running);
  const run = async (task: FleetTask) => {
    const began = performance.now();
    await sweeper[task]();
    await taskEnded(engine.db, task, (performance.now() - began) / 1000).catch((error) =>
      log.warn({ error, task }, 'the end of a task could not be stored; it is due again soon'),
    );
  };
  const follow = async () => {
    const news = await heartbeat();
    const reported = engine.trouble.reason;
    await engine.trouble.look(news ?? undefined);
    if (news) {
      fleet = { living: Math.max(1, news.living), idle: news.idle };
      const again = engine.trouble.reason === reported ? null : await heartbeat(); // reported at once
      if (news.waiting.probes) probes.wake();
      if (news.waiting.transcriptions) transcriptions.wake();
      if (news.waiting.searches) indexing.wake();
      for (const task of [...news.tasks, ...(again?.tasks ?? [])]) void run(task);
    }
  };
  const clean = () => engine.scratch.clean((ids) => livingEngines(engine.db, ids)); // local to this host, so every engine does it
  const tick = () =>
    follow()
      .then(clean)
      .catch((error) => log.warn({ error }, 'periodic work failed; trying again in 15 s'));
  const timer = setInterval(tick, ALIVE_MS);
  await engine.trouble.look();
  for (const slots of all) slots.wake();
  await tick(); // visible as online immediately
  void sweeper.sweep();
  return {
    wake: { probe: probes.wake, dispatch: transcriptions.wake },
    async purge(workspaceId) {
      purging = true;
      await purge(engine, workspaceId).finally(() => {
        purging = false;
      });
    },
    full: () => [...(purging ? ['purge'] : []), ...(probes.full ? ['probe'] : []), ...(transcriptions.full ? ['dispatch'] : [])],
    fleet: () => fleet,
    async stop(graceMs) {
      clearInterval(timer);
      stopping.abort();
      const ended = Promise.all(all.map((slots) => slots.close()));
      const hurry = setTimeout(() => engine.holdings.stopAll(), graceMs);
      await ended;
      clearTimeout(hurry);
      await sweeper.close();
      await unregisterEngine(engine.db, engine.id);
    },
  };
}

/** Sends a heartbeat with the engine's metrics. An engine that was taken for dead registers again. Null: the database did not respond. */
async function sendHeartbeat(engine: Engine, facts: EngineFacts, working: number): Promise<News | null> {
  try {
    const { finished, failedDiarizations, uncoveredSeconds, recognised } = engine.counts;
    const { reason } = engine.trouble;
    const vitals = { polled: !reason, trouble: reason, memoryBytes: process.memoryUsage.rss(), working };
    const news = await beat(engine.db, engine.id, {
      ...{ ...vitals, finished, failedDiarizations, uncoveredSeconds, recognised, writing: null },
    });
    if (!news.known) await registerEngine(engine.db, facts);
    return news;
  } catch (error) {
    engine.log.warn({ error }, 'heartbeat failed; trying again');
    return null;
  }
}
