import { findLost, type Heartbeat, type Lease, renew } from '../../db/jobs/leases.ts';
import type { Log } from '../../db/ops/log.ts';
import type { Db } from '../../db/postgres/orm.ts';
import type { Stage } from '../types.ts';

/** Abort reason: the row was deleted, or another engine has taken it over. */
export class Lost extends Error {
  constructor() {
    super('the lease is lost: the work was deleted or taken over');
    this.name = 'Lost';
  }
}

/** Abort reason: the engine is stopping. The work is requeued. */
export class Stopping extends Error {
  constructor() {
    super('the engine is stopping');
    this.name = 'Stopping';
  }
}

/** Work that this engine holds a lease on. */
export interface Holding {
  readonly lease: Lease;
  /** Aborts with Lost, Stopping, or the argument of `abort`. */
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  progress(stage: Stage, fraction: number): void;
  /** Milliseconds since the last call of `progress`, also with the same fraction. */
  readonly idleMs: number;
  letGo(): void;
}

/** Renews the leases of all held work in one statement, and aborts work whose lease is lost. */
export interface Holdings {
  take(lease: Lease): Holding;
  readonly size: number;
  /** Aborts all work with Stopping. */
  stopAll(): void;
  close(): void;
}

const TICK_MS = 1000; // how quickly a deletion is noticed
const RENEWAL_MS = 15_000; // between renewals; a lease lasts four intervals
const STEP = 0.1; // fraction of the whole work: progress reported immediately, as is a change of stage

interface Held extends Heartbeat {
  /** Last progress reported, and its time (performance.now()). */
  told: { stage?: string; fraction: number; at: number };
}

export function openHoldings(db: Db, log: Log, now = () => performance.now()): Holdings {
  const held = new Map<Holding, Held>();
  let ticking = false;
  const due = ({ stage, fraction = 0, told }: Held) =>
    performance.now() - told.at >= RENEWAL_MS || stage !== told.stage || fraction - told.fraction >= STEP;
  const tick = async () => {
    if (ticking || !held.size) return;
    ticking = true;
    const asked = [...held];
    try {
      const lost = await db.reserved(async (tx) => {
        const heartbeats = asked.map(([, heartbeat]) => heartbeat).filter(due);
        if (heartbeats.length) await renew(tx, heartbeats);
        for (const heartbeat of heartbeats)
          heartbeat.told = { stage: heartbeat.stage, fraction: heartbeat.fraction ?? 0, at: performance.now() };
        return findLost(
          tx,
          asked.map(([, { lease }]) => lease),
        );
      });
      for (const [holding] of asked) if (lost.has(holding.lease.token)) holding.abort(new Lost());
    } catch (error) {
      for (const [, heartbeat] of asked) heartbeat.told.at = Number.NEGATIVE_INFINITY; // the report may have been lost
      log.warn({ error, held: asked.length }, 'leases could not be renewed; trying again');
    } finally {
      ticking = false;
    }
  };
  const timer = setInterval(tick, TICK_MS);
  return {
    take(lease) {
      const controller = new AbortController();
      const heartbeat: Held = { lease, told: { fraction: 0, at: performance.now() } }; // claiming counts as a renewal
      let moved = now();
      const holding: Holding = {
        lease,
        signal: controller.signal,
        abort: (reason) => controller.abort(reason),
        progress(stage, fraction) {
          moved = now();
          Object.assign(heartbeat, { stage, fraction: Math.max(heartbeat.fraction ?? 0, fraction) });
        },
        get idleMs() {
          return now() - moved;
        },
        letGo: () => void held.delete(holding),
      };
      held.set(holding, heartbeat);
      return holding;
    },
    get size() {
      return held.size;
    },
    stopAll() {
      for (const holding of held.keys()) holding.abort(new Stopping());
    },
    close: () => clearInterval(timer),
  };
}
