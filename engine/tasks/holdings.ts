import { findLost, type Lease, renew, type Sign } from '../../db/jobs/leases.ts';
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

const TICK_MS = 1000; // how soon a deletion is noticed
const SIGN_MS = 15_000; // between signs of life; a lease lasts for four
const STEP = 0.1; // of the whole work: progress that is told at once, as a change of stage is

interface Held extends Sign {
  /** What was told last, and when by performance.now(). */
  told: { stage?: string; fraction: number; at: number };
}

export function openHoldings(db: Db, log: Log): Holdings {
  const held = new Map<Holding, Held>();
  let ticking = false;
  const due = ({ stage, fraction = 0, told }: Held) =>
    performance.now() - told.at >= SIGN_MS || stage !== told.stage || fraction - told.fraction >= STEP;
  const tick = async () => {
    if (ticking || !held.size) return;
    ticking = true;
    const asked = [...held];
    try {
      const lost = await db.reserved(async (tx) => {
        const signs = asked.map(([, sign]) => sign).filter(due);
        if (signs.length) await renew(tx, signs);
        for (const sign of signs) sign.told = { stage: sign.stage, fraction: sign.fraction ?? 0, at: performance.now() };
        return findLost(
          tx,
          asked.map(([, { lease }]) => lease),
        );
      });
      for (const [holding] of asked) if (lost.has(holding.lease.token)) holding.abort(new Lost());
    } catch (error) {
      for (const [, sign] of asked) sign.told.at = Number.NEGATIVE_INFINITY; // it may not have been heard
      log.warn({ error, held: asked.length }, 'no sign of life could be given; trying again');
    } finally {
      ticking = false;
    }
  };
  const timer = setInterval(tick, TICK_MS);
  return {
    take(lease) {
      const controller = new AbortController();
      const sign: Held = { lease, told: { fraction: 0, at: performance.now() } }; // the claim was a sign of life
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
