import { type EngineFacts, registerEngine, unregisterEngine } from '../../db/jobs/engines.ts';
import { beat, type News } from '../../db/jobs/heartbeat.ts';
import type { Jobs } from '../../db/jobs/queue.ts';
import type { FleetSize } from '../tasks/queue.ts';
import { openSlots, type Slots } from '../tasks/slots.ts';
import type { Courier } from './courier.ts';
import { deliver } from './deliver.ts';
import { nextLayer } from './layer.ts';
import { nextPreview } from './preview.ts';
import { nextReport } from './report.ts';

/** A running courier. */
export interface RunningCourier {
  /**
   * Handlers of the queue's jobs: a delivery is attempted; other jobs start a search for work of their kind without waiting for the next
   * poll.
   */
  tasks: Record<'report' | 'preview' | 'describe' | 'deliver', (payload: unknown) => Promise<void>>;
  /** Names of jobs without a free slot here: they are left to other couriers. */
  full(): string[];
  /** Number of couriers, at the last heartbeat. */
  fleet(): FleetSize;
  /** Stops claiming work; whatever does not finish within `graceMs` is requeued. */
  stop(graceMs: number): Promise<void>;
}

const ALIVE_MS = 15_000; // between heartbeats, which also find work that lost its job: a courier without a free slot leaves jobs to others
const REPORTS = 2;
const PREVIEWS = 1; // in addition to the reports, because somebody is waiting
const LAYERS = 2; // an engine waits for each
export const DELIVERIES = 4;

/** Registers the courier and works until `stop`. */
export async function runCourier(courier: Courier, facts: EngineFacts): Promise<RunningCourier> {
  const { db, log } = courier;
  await registerEngine(db, facts);
  let delivering = 0;
  const stopping = new AbortController();
  const reports = openSlots('reports', REPORTS, () => nextReport(courier), log);
  const previews = openSlots('previews', PREVIEWS, () => nextPreview(courier), log);
  const layers = openSlots('layers', LAYERS, () => nextLayer(courier, stopping.signal), log);
  const places = { report: reports, preview: previews, describe: layers };
  const all: Slots[] = Object.values(places);
  let fleet: FleetSize = { living: 1, idle: 1 };
  const tick = async () => {
    const news = await sendHeartbeat(courier, facts, reports.running);
    if (!news) return;
    fleet = { living: Math.max(1, news.living), idle: news.living };
    if (news.waiting.reports) reports.wake();
    if (news.waiting.previews) previews.wake();
    if (news.waiting.layers) layers.wake();
  };
  const timer = setInterval(tick, ALIVE_MS);
  for (const slots of all) slots.wake();
  return {
    tasks: {
      report: async () => reports.wake(),
      preview: async () => previews.wake(),
      describe: async () => layers.wake(),
      async deliver(payload) {
        delivering++;
        await deliver(courier, (payload as Jobs['deliver']).id).finally(() => delivering--);
      },
    },
    full: () => [
      ...Object.entries(places).flatMap(([name, slots]) => (slots.full ? [name] : [])),
      ...(delivering >= DELIVERIES ? ['deliver'] : []),
    ],
    fleet: () => fleet,
    async stop(graceMs) {
      clearInterval(timer);
      const ended = Promise.all(all.map((slots) => slots.close()));
      const hurry = setTimeout(() => {
        courier.holdings.stopAll();
        stopping.abort();
      }, graceMs);
      await ended;
      clearTimeout(hurry);
      await unregisterEngine(db, courier.id);
    },
  };
}

/** Sends a heartbeat with the courier's metrics. A courier that was taken for dead registers again. Null: the database did not respond. */
async function sendHeartbeat({ id, db, writer, log }: Courier, facts: EngineFacts, working: number): Promise<News | null> {
  try {
    const vitals = {
      ...{ polled: true, trouble: null, memoryBytes: process.memoryUsage.rss(), working },
      ...{ finished: 0, failedDiarizations: 0, uncoveredSeconds: 0, recognised: {} },
      writing: { model: writer.name, ...writer.figures },
    };
    const news = await beat(db, id, vitals);
    if (!news.known) await registerEngine(db, facts);
    return news;
  } catch (error) {
    log.warn({ error }, 'heartbeat failed; trying again');
    return null;
  }
}
