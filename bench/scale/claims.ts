import { randomUUID } from 'node:crypto';
import { claimNext } from '../../db/jobs/claim.ts';
import type { Db } from '../../db/postgres/orm.ts';
import { type Latency, latencyOf } from './api.ts';

export interface Claims {
  queued: number;
  perSecond: number;
  latency: Latency;
}

const ENGINES = 8; // that claim concurrently
const CLAIMS = 500;

/** Measures claims of a few engines at full speed, with the transactions of real engines. */
export async function claimsOf(db: Db, queued: number): Promise<Claims> {
  const times: number[] = [];
  let left = CLAIMS;
  const started = performance.now();
  const engine = async () => {
    for (const engineId = randomUUID(); left-- > 0; ) {
      const start = performance.now();
      if (!(await claimNext(db, { engineId, shortOnly: false }))) throw new Error(`Nothing to claim of ${queued}`);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: ENGINES }, engine));
  return { queued, perSecond: (1000 * CLAIMS) / (performance.now() - started), latency: latencyOf(times) };
}
