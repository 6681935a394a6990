import { type EngineFacts, registerEngine, seen, unregisterEngine } from '../../db/jobs/engines.ts';
import { nextDelivery } from './deliver.ts';
import type { Engine } from './engine.ts';
import { nextPreview } from './preview.ts';
import { nextProbe } from './probe.ts';
import { nextReport } from './report.ts';
import { openSlots, type Slots } from './slots.ts';
import { openSweeper } from './sweep.ts';
import { type Lanes, nextTranscription } from './transcribe.ts';

/** An engine at work. */
export interface Running {
  /** Looks for work of a kind now instead of at the next poll. */
  wake: Record<'probe' | 'dispatch' | 'report' | 'deliver' | 'sweep', () => void>;
  /** Takes nothing more; what does not end within `graceMs` is handed back. */
  stop(graceMs: number): Promise<void>;
}

const POLL_MS = 2000; // in case a wake-up went to an engine without a free place
const ALIVE_MS = 15_000; // between signs of life, and between sweeps
const PROBES = 2;
const REPORTS = 2;
const PREVIEWS = 1; // beside the reports: a person waits for it
const DELIVERIES = 4;

/** Registers the engine and works until `stop`. */
export async function runEngine(engine: Engine, facts: EngineFacts): Promise<Running> {
  await registerEngine(engine.db, facts);
  const { log } = engine;
  const lanes: Lanes = { capacity: facts.concurrency, long: 0 };
  const turns: string[] = [];
  const transcriptions = openSlots('transcriptions', facts.concurrency, () => nextTranscription(engine, lanes), log);
  const probes = openSlots('probes', PROBES, () => nextProbe(engine, transcriptions.wake), log);
  const reports = openSlots('reports', REPORTS, () => nextReport(engine), log);
  const previews = openSlots('previews', PREVIEWS, () => nextPreview(engine), log);
  const deliveries = openSlots('deliveries', DELIVERIES, () => nextDelivery(engine, turns), log);
  const all: Slots[] = [probes, transcriptions, reports, previews, deliveries];
  const sweeper = openSweeper(engine);
  const wakeAll = () => {
    for (const slots of all) slots.wake();
  };
  const wakeWriters = () => {
    reports.wake();
    previews.wake();
  };
  const alive = () => giveSign(engine, facts, transcriptions);
  const look = () => void engine.trouble.look();
  const sweep = () => void sweeper.sweep();
  const timers = [setInterval(wakeAll, POLL_MS), setInterval(alive, ALIVE_MS), setInterval(look, ALIVE_MS), setInterval(sweep, ALIVE_MS)];
  await engine.trouble.look();
  wakeAll();
  sweep();
  return {
    wake: { probe: probes.wake, dispatch: transcriptions.wake, report: wakeWriters, deliver: deliveries.wake, sweep },
    async stop(graceMs) {
      for (const timer of timers) clearInterval(timer);
      const ended = Promise.all(all.map((slots) => slots.close()));
      const hurry = setTimeout(() => engine.holdings.stopAll(), graceMs);
      await ended;
      clearTimeout(hurry);
      await sweeper.close();
      await unregisterEngine(engine.db, engine.id);
    },
  };
}

/** A sign of life with the engine's figures; one that was taken for dead registers anew. */
async function giveSign(engine: Engine, facts: EngineFacts, transcriptions: Slots): Promise<void> {
  try {
    const { finished, failedDiarizations } = engine.counts;
    const known = await seen(engine.db, engine.id, {
      polled: transcriptions.silentMs < 2 * ALIVE_MS && !engine.trouble.reason,
      trouble: engine.trouble.reason,
      memoryBytes: process.memoryUsage.rss(),
      working: transcriptions.running,
      finished,
      failedDiarizations,
      writing: { model: engine.writer.name, ...engine.writer.figures },
    });
    if (!known) await registerEngine(engine.db, facts);
  } catch (error) {
    engine.log.warn({ error }, 'no sign of life could be given; trying again');
  }
}
