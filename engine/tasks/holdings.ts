import { type Lease, renew, type Sign } from '../../db/jobs/leases.ts';
import type { Log } from '../../db/ops/log.ts';
import type { Db } from '../../db/postgres/orm.ts';
import type { Stage } from '../types.ts';

/** Why held work stops: its row was deleted, or another engine has taken it over. */
export class Lost extends Error {
  constructor() {
    super('the lease is lost: the work was deleted or taken over');
    this.name = 'Lost';
  }
}

/** Why held work stops: the engine does. The work is handed back. */
export class Stopping extends Error {
  constructor() {
    super('the engine is stopping');
    this.name = 'Stopping';
  }
}

/** Work that this engine holds. */
export interface Holding {
  readonly lease: Lease;
  /** Aborts with Lost, Stopping, or what `abort` was given. */
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  progress(stage: Stage, fraction: number): void;
  /** Milliseconds since the work last got on. */
  readonly idleMs: number;
  letGo(): void;
}

/** Gives signs of life for all work held, in one statement, and aborts what is held no more. */
export interface Holdings {
  take(lease: Lease): Holding;
  readonly size: number;
  /** Ends all work with Stopping. */
  stopAll(): void;
  close(): void;
}

const TICK_MS = 1000; // also how soon a deletion is noticed

export function openHoldings(db: Db, log: Log): Holdings {
  const held = new Map<Holding, Sign>();
  let ticking = false;
  const tick = async () => {
    if (ticking || !held.size) return;
    ticking = true;
    const asked = [...held];
    try {
      const lost = await db.reserved((tx) =>
        renew(
          tx,
          asked.map(([, sign]) => sign),
        ),
      );
      for (const [holding] of asked) if (lost.has(holding.lease.token)) holding.abort(new Lost());
    } catch (error) {
      log.warn({ error, held: asked.length }, 'no sign of life could be given; trying again');
    } finally {
      ticking = false;
    }
  };
  const timer = setInterval(tick, TICK_MS);
  return {
    take(lease) {
      const controller = new AbortController();
      const sign: Sign = { lease };
      let moved = performance.now();
      const holding: Holding = {
        lease,
        signal: controller.signal,
        abort: (reason) => controller.abort(reason),
        progress(stage, fraction) {
          if (stage !== sign.stage || fraction > (sign.fraction ?? 0)) moved = performance.now();
          Object.assign(sign, { stage, fraction: Math.max(sign.fraction ?? 0, fraction) });
        },
        get idleMs() {
          return performance.now() - moved;
        },
        letGo: () => void held.delete(holding),
      };
      held.set(holding, sign);
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
