import { type EngineFacts, registerEngine, seen, unregisterEngine } from '../../db/jobs/engines.ts';
import { readWaiting } from '../../db/jobs/waiting.ts';
import { openSlots, type Slots } from '../tasks/slots.ts';
import type { Courier } from './courier.ts';
import { nextDelivery } from './deliver.ts';
import { nextLayer } from './layer.ts';
import { nextPreview } from './preview.ts';
import { nextReport } from './report.ts';

/** A running courier. */
export interface RunningCourier {
  /** Looks for work of a kind now instead of at the next poll; called by the queue's jobs. */
  tasks: Record<'report' | 'describe' | 'deliver', () => Promise<void>>;
  /** Stops claiming work; whatever does not finish within `graceMs` is requeued. */
  stop(graceMs: number): Promise<void>;
}

const POLL_MS = 5000; // fallback, in case a notification went to a courier without a free slot
const ALIVE_MS = 15_000; // between heartbeats
const REPORTS = 2;
const PREVIEWS = 1; // besides the reports, because a person is waiting
const LAYERS = 2; // an engine waits for each
const DELIVERIES = 4;

/** Registers the courier and works until `stop`. */
export async function runCourier(courier: Courier, facts: EngineFacts): Promise<RunningCourier> {
  const { db, log } = courier;
  await registerEngine(db, facts);
  const turns: string[] = [];
  const reports = openSlots('reports', REPORTS, () => nextReport(courier), log);
  const previews = openSlots('previews', PREVIEWS, () => nextPreview(courier), log);
  const layers = openSlots('layers', LAYERS, () => nextLayer(courier), log);
  const deliveries = openSlots('deliveries', DELIVERIES, () => nextDelivery(courier, turns), log);
  const all: Slots[] = [reports, previews, layers, deliveries];
  const wakeWriters = () => {
    reports.wake();
    previews.wake();
  };
  const poll = () =>
    readWaiting(db).then(
      (waiting) => {
        if (waiting.reports) wakeWriters();
        if (waiting.layers) layers.wake();
        if (waiting.deliveries) deliveries.wake();
      },
      (error) => log.warn({ error }, 'could not query for work; trying again'),
    );
  const alive = () => giveSign(courier, facts, reports.running);
  const timers = [setInterval(poll, POLL_MS * (0.9 + Math.random() / 5)), setInterval(alive, ALIVE_MS)];
  for (const slots of all) slots.wake();
  return {
    tasks: {
      report: async () => wakeWriters(),
      describe: async () => layers.wake(),
      deliver: async () => deliveries.wake(),
    },
    async stop(graceMs) {
      for (const timer of timers) clearInterval(timer);
      const ended = Promise.all(all.map((slots) => slots.close()));
      const hurry = setTimeout(() => courier.holdings.stopAll(), graceMs);
      await ended;
      clearTimeout(hurry);
      await unregisterEngine(db, courier.id);
    },
  };
}

/** Sends a heartbeat with the courier's metrics. A courier that was taken for dead registers again. */
async function giveSign({ id, db, writer, log }: Courier, facts: EngineFacts, working: number): Promise<void> {
  try {
    const known = await seen(db, id, {
      ...{ polled: true, trouble: null, memoryBytes: process.memoryUsage.rss(), working },
      ...{ finished: 0, failedDiarizations: 0, uncoveredSeconds: 0 },
      writing: { model: writer.name, ...writer.figures },
    });
    if (!known) await registerEngine(db, facts);
  } catch (error) {
    log.warn({ error }, 'heartbeat failed; trying again');
  }
}
