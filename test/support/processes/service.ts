import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { enqueue } from '../../../db/jobs/queue.ts';
import type { TestDatabase } from '../databases/database.ts';
import { openWorld, type Person } from '../databases/world.ts';
import { type EngineBench, engineBench, pauseMs } from '../engine/engine.ts';
import { program, type Running, start } from './processes.ts';

/** The whole service as separate processes for fault injection: any number of APIs and engines on one database and spool. */
export interface Service extends EngineBench {
  workspaceId: string;
  owner: Person;
  key: string;
  api(env?: Record<string, string>, nodeArguments?: readonly string[]): Promise<Api>;
  /** Files of the spool, names only. */
  spooled(): string[];
  /** Requests a transcription from an API: its record, or null if it is unknown. Rejects on any other response. */
  record(api: Api, id: string): Promise<Record<string, unknown> | null>;
}

export interface Api extends Running {
  url: string;
}

interface Test {
  teardown(after: () => unknown): void;
  testdir(): string;
}

export async function openService(t: Test, options: { database?: TestDatabase; minutes?: number; model?: string } = {}): Promise<Service> {
  const bench = await engineBench(t, options);
  const world = openWorld(bench.db, bench.vault);
  const workspaceId = await bench.workspace({ minutes: options.minutes ?? 1000 });
  const owner = await world.member(workspaceId, { role: 'owner' });
  const { key } = await world.key(owner);
  return {
    ...bench,
    ...{ workspaceId, owner, key },
    async api(env = {}, nodeArguments = []) {
      const running = start(t, process.execPath, [...nodeArguments, ...program('api/main.ts')], {
        DATABASE_URL: bench.url,
        LONGHAND_HOME: bench.home,
        LONGHAND_MASTER_KEY: bench.masterKey,
        LONGHAND_RATE_LIMIT: '0',
        LOG_FORMAT: 'json',
        PORT: '0',
        ...env,
      });
      const [, url] = await running.said(/^listening on (\S+)$/m);
      return { ...running, url: url! };
    },
    spooled: () => readdirSync(join(bench.home, 'spool')),
    async record(api, id) {
      const answer = await fetch(`${api.url}/v1/transcriptions/${id}`, { headers: { authorization: `Bearer ${key}` } });
      if (answer.status === 404) return null;
      if (!answer.ok) throw new Error(`GET ${id}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Record<string, unknown>;
    },
  };
}

/** Waits until `look` returns a value other than false, null or undefined. Rejects after `seconds`; `what` is what was awaited. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  what: string | (() => string | Promise<string>),
  seconds = 120,
): Promise<NonNullable<T>> {
  for (const began = performance.now(), end = began + seconds * 1000; ; await sleep(pauseMs(performance.now() - began))) {
    const late = performance.now() > end; // the last look begins after the limit: the machine may have been suspended since the one before
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found as NonNullable<T>;
    if (late) throw new Error(`Timed out after ${seconds} s waiting for: ${typeof what === 'string' ? what : await what()}`);
  }
}

/** Ends back-offs immediately for the duration of the test, and wakes an engine: its own polls would take up to 15 s. */
export function impatient(t: Test, { db, due }: Pick<Service, 'db' | 'due'>): void {
  const id = randomUUID(); // engines look for any work, not only that of the job
  const wake = (name: 'probe' | 'dispatch') => db.acrossTenants((tx) => enqueue(tx, name, { id }, { key: `hurry:${name}` }));
  repeat(t, async () => {
    await due();
    await wake('probe');
    await wake('dispatch');
  });
}

/** Makes all sweeps due at every heartbeat for the duration of the test, and every orphan in the spool old enough to be removed. */
export function tidily(t: Test, { db }: Pick<Service, 'db'>): void {
  repeat(t, async () => {
    await db.query('*', 'update fleet_tasks set due_at = least(due_at, clock_timestamp())');
    await db.query('*', `update spool_orphans set seen_at = seen_at - interval '1 minute' where seen_at > now() - interval '1 minute'`);
  });
}

function repeat(t: Test, work: () => Promise<void>): void {
  let over = false;
  const repeating = (async () => {
    for (; !over; await sleep(500)) await work();
  })();
  t.teardown(() => {
    over = true;
    return repeating; // so that no statement is running when the database is closed
  });
}
