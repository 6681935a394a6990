import { LIMITS } from '../../../api/contract/limits.ts';
import { installationId, registerEngine } from '../../../db/jobs/engines.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import { openHoldings } from '../../../engine/tasks/holdings.ts';
import { openScratch } from '../../../engine/tasks/scratch.ts';
import { type EngineBench, engineBench } from './engine.ts';
import { engineFacts } from './work.ts';

/** A database, a spool, and engines in this process. */
export interface TaskBench extends EngineBench {
  /** A registered engine, with a pool that never fails; `parts` replace its own. */
  engineHere(parts?: Partial<Engine>): Engine;
}

export const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Opens a database, a spool and what an engine's tasks need, closed at teardown. */
export async function taskBench(t: Parameters<typeof engineBench>[0]): Promise<TaskBench> {
  const bench = await engineBench(t);
  const { db, vault, spool, home } = bench;
  const facts = engineFacts();
  await registerEngine(db, facts);
  const scratch = await openScratch(await installationId(db), facts.id, home);
  t.teardown(() => scratch.close());
  const holdings = openHoldings(db, silent);
  t.teardown(() => holdings.close());
  const engine = {
    ...{ id: facts.id, db, vault, spool, scratch, holdings, log: silent, limits: LIMITS },
    trouble: { over: async () => true },
    options: { accurate: false, keepDays: 0 },
    counts: { finished: 0, uncoveredSeconds: 0, failedDiarizations: 0 },
  } as unknown as Engine;
  return { ...bench, engineHere: (parts = {}) => ({ ...engine, ...parts }) };
}
