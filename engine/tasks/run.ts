import { type EngineFacts, livingEngines, registerEngine, seen, unregisterEngine } from '../../db/jobs/engines.ts';
import { readWaiting } from '../../db/jobs/waiting.ts';
import type { Engine } from './engine.ts';
import { nextProbe } from './probe.ts';
import { purge } from './purge.ts';
import { nextIndexing } from './search.ts';
import { openSlots, type Slots } from './slots.ts';
import { openSweeper, type Sweeper } from './sweep.ts';
import { type Lanes, nextTranscription } from './transcribe.ts';

/** A running engine. */
export interface Running {
  /** Looks for work of a kind now instead of at the next poll. */
  wake: Record<'probe' | 'dispatch', () => void>;
  /** Removes rows of a deleted workspace for a limited time. */
  purge(workspaceId: string): Promise<void>;
  /** Names of jobs without a free slot here: they are left to other engines. */
  full(): string[];
  sweeper: Omit<Sweeper, 'close'>;
  /** Stops claiming work; whatever does not finish within `graceMs` is requeued. */
  stop(graceMs: number): Promise<void>;
}

const POLL_MS = 15_000; // fallback for work that lost its job: an engine without a free slot leaves jobs to others
const ALIVE_MS = 15_000; // between heartbeats
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
  let polled = performance.now();
  const wakeAll = () => {
    for (const slots of all) slots.wake();
  };
  const poll = () =>
    readWaiting(engine.db).then(
      (waiting) => {
        if (waiting.probes) probes.wake();
        if (waiting.transcriptions) transcriptions.wake();
        if (waiting.searches) indexing.wake();
        polled = performance.now();
      },
      (error) => log.warn({ error }, 'could not query for work; trying again'),
    );
  const alive = () => sendHeartbeat(engine, facts, transcriptions, performance.now() - polled);
  const clean = async () => engine.scratch.clean(await livingEngines(engine.db)); // local to this host, so every engine does it
  const look = () => {
    void engine.trouble.look();
    void sweeper.mend();
    clean().catch((error) => log.warn({ error }, 'scratch folders of dead engines could not be removed'));
  };
  const timers = [setInterval(poll, POLL_MS * (0.9 + Math.random() / 5)), setInterval(alive, ALIVE_MS), setInterval(look, ALIVE_MS)];
  await engine.trouble.look();
  wakeAll();
  await alive(); // visible as online immediately
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
    sweeper,
    async stop(graceMs) {
      for (const timer of timers) clearInterval(timer);
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

/** Sends a heartbeat with the engine's metrics. An engine that was taken for dead registers again. */
async function sendHeartbeat(engine: Engine, facts: EngineFacts, transcriptions: Slots, silentMs: number): Promise<void> {
  try {
    const { finished, failedDiarizations, uncoveredSeconds, recognised } = engine.counts;
    const known = await seen(engine.db, engine.id, {
      polled: Math.min(silentMs, transcriptions.silentMs) < 2 * ALIVE_MS && !engine.trouble.reason,
      trouble: engine.trouble.reason,
      memoryBytes: process.memoryUsage.rss(),
      working: transcriptions.running,
      finished,
      failedDiarizations,
      uncoveredSeconds,
      recognised,
      writing: null,
    });
    if (!known) await registerEngine(engine.db, facts);
  } catch (error) {
    engine.log.warn({ error }, 'heartbeat failed; trying again');
  }
}
