import type { Db } from '../../db/postgres/orm.ts';
import { purgeNext } from '../../db/tenants/purge.ts';
import { deleteWorkspace } from '../../db/tenants/workspaces.ts';
import { askList } from '../lists.ts';
import type { Workspaces } from './fill.ts';

/** Milliseconds. */
export interface Latency {
  p50: number;
  p95: number;
  p99: number;
}

const ROUNDS = 10; // requests per caller and query
const PAUSE_MS = 5; // between reads

const QUERIES = { 'first page': '', failed: 'status=failed', 'by duration': 'sort=-duration', 'external id': 'external_id=call-20' };

export function latencyOf(times: readonly number[]): Latency {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** Lists of all callers, one request after another, the first of each included. */
export async function listLatency(url: string, { callers }: Workspaces): Promise<Record<string, Latency>> {
  const found: Record<string, Latency> = {};
  for (const [name, query] of Object.entries(QUERIES)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) for (const { key } of callers) times.push((await askList(url, key, query)).ms);
    found[name] = latencyOf(times);
  }
  return found;
}

/** Lists of other workspaces while one is deleted and purged as an engine does it. */
export async function readsDuringDeletion(
  url: string,
  { db }: { db: Db },
  { callers, large }: Workspaces,
): Promise<{ rows: number; seconds: number; reads: Latency }> {
  const { id } = large.pop()!;
  const row = await db.acrossTenants((tx) =>
    tx.row<{ rows: number }>('select count(*)::int as rows from transcriptions where workspace_id = ?::uuid', [id]),
  );
  const started = performance.now();
  let done = false;
  const purging = (async () => {
    await db.acrossTenants((tx) => deleteWorkspace(tx, id));
    while (!(await purgeNext(db, id)).done);
    done = true;
  })();
  const times: number[] = [];
  for (let n = 0; !done; n++) {
    times.push((await askList(url, callers[n % callers.length]!.key, '')).ms);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  await purging;
  return { rows: row!.rows, seconds: (performance.now() - started) / 1000, reads: latencyOf(times) };
}
