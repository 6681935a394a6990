import { setTimeout as sleep } from 'node:timers/promises';
import { deleteWorkspace } from '../../db/tenants/workspaces.ts';
import { purge } from '../../engine/tasks/purge.ts';
import { askList } from '../load/lists.ts';
import type { Workspaces } from './fill.ts';
import type { Fleet } from './fleet.ts';

/** Milliseconds. */
export interface Latency {
  p50: number;
  p95: number;
  p99: number;
}

const ROUNDS = 10; // requests per caller and query
const PAUSE_MS = 5; // between reads
const AGAIN_MS = 1000; // until the next turn of the purge, as its job

const QUERIES = { 'first page': '', failed: 'status=failed', 'by duration': 'sort=-duration', 'external id': 'external_id=call-20' };

export function latencyOf(times: readonly number[]): Latency {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** Lists of all callers, one request after another. The very first of each also counts its workspace, whose rows nobody counted as they came. */
export async function listLatency(url: string, { callers }: Workspaces): Promise<Record<string, Latency>> {
  const first: number[] = [];
  for (const { key } of callers) first.push((await askList(url, key, '')).ms);
  const found: Record<string, Latency> = { 'first request, which counts the rows': latencyOf(first) };
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
  fleet: Pick<Fleet, 'db' | 'spool' | 'log'>,
  { callers, large }: Workspaces,
): Promise<{ rows: number; seconds: number; reads: Latency }> {
  const { db } = fleet;
  const { id } = large.pop()!;
  const row = await db.acrossTenants((tx) =>
    tx.row<{ rows: number }>('select count(*)::int as rows from transcriptions where workspace_id = ?::uuid', [id]),
  );
  const started = performance.now();
  let done = false;
  const purging = (async () => {
    await db.acrossTenants((tx) => deleteWorkspace(tx, id));
    for (;;) {
      await purge(fleet, id);
      if (!(await db.query('*', 'select 1 from workspaces where id = ?', [id])).length) break;
      await sleep(AGAIN_MS);
    }
    done = true;
  })();
  const times: number[] = [];
  for (let n = 0; !done; n++) {
    times.push((await askList(url, callers[n % callers.length]!.key, '')).ms);
    await sleep(PAUSE_MS);
  }
  await purging;
  return { rows: row!.rows, seconds: (performance.now() - started) / 1000, reads: latencyOf(times) };
}
