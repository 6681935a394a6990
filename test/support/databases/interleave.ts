/*
 * Several actors on their own real connections, interleaved statement by statement by a seeded scheduler. Between any two statements, and
 * before each commit, an actor waits for its turn; an actor whose statement waits for a PostgreSQL lock is skipped until it has the lock. Thus a
 * seed determines one interleaving, and transactions meet in ways that would otherwise occur once in a thousand runs.
 */
import { type Db, openDb, type Tx } from '../../../db/postgres/orm.ts';
import { type Seeded, seeded } from '../seeded.ts';

/** An actor: every statement on `db` waits for its turn. */
export interface Actor {
  /** application_name of its connection. */
  name: string;
  db: Db;
  /** Its random choices. */
  chance: Seeded;
  /** Resolves at its next turn, in which it will do `what`. */
  turn(what: string): Promise<void>;
  /** Number of turns so far. */
  turns: number;
}

/** One turn: actor and action, and the number of rows once a statement has finished. */
export interface Step {
  who: number;
  what: string;
  rows?: number;
}

export interface Stage {
  /** Runs the actors until all have finished, calling `between` after every transaction. Returns all turns in order. */
  play(seed: number, parts: readonly ((actor: Actor) => Promise<void>)[], between: () => Promise<void>): Promise<Step[]>;
}

/** A connection fault injected by the schedule: before the commit, or after it, so that its success is not reported. */
export class Fault extends Error {}

interface Player extends Actor {
  /** Takes the turn; null while the actor is busy or waits for a lock. */
  go: (() => void) | null;
  /** Its current or next action. */
  step: Step;
  /** It was seen waiting for a lock, and no lock has been released since. */
  stuck: boolean;
  over: boolean;
  /** A transaction has ended since the last turn. */
  ended: boolean;
}

/** Events that actors report to the stage. */
interface Ear {
  /** An actor waits for its turn or has finished. */
  settled(): void;
  /** An actor may have released locks. */
  released(): void;
}

const FAULTS = 0.06; // of all transactions
const PATIENCE_MS = 1; // minimum before a statement is suspected of waiting for a lock; twice its usual time on a busy machine

/** Opens `count` connections for actors, and one that watches their locks. */
export async function openStage(t: { teardown(after: () => unknown): void }, url: string, count: number): Promise<Stage> {
  const name = `stage-${process.pid}`;
  const databases = await Promise.all(Array.from({ length: count }, (_, i) => openDb({ url, pool: 1, name: `${name}-${i}` })));
  const watch = await openDb({ url, pool: 1, name: 'longhand-test' });
  t.teardown(() => Promise.all([...databases, watch].map((db) => db.close())));

  await watch.acrossTenants(async (tx) => {
    await tx.rows('set local role none'); // other connections are visible only to a privileged role
    await tx.rows(`create function waiting(stage text) returns setof text language sql security definer as $$
      select application_name from pg_stat_activity where application_name like stage and cardinality(pg_blocking_pids(pid)) > 0 $$`);
  });

  /** The actors that are waiting for a lock. */
  async function blocked(players: readonly Player[]): Promise<Set<Player>> {
    const rows = await watch.query<{ name: string }>('*', 'select waiting(?) as name', [`${name}-%`]);
    return new Set(rows.map((row) => players[Number(row.name.split('-').at(-1))]!));
  }

  let hear = (_settled: boolean) => {};

  /** Whether an actor settles soon. */
  const stirs = (ms: number) =>
    new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => hear(false), ms);
      hear = (settled) => {
        clearTimeout(timer);
        resolve(settled);
      };
    });

  let usual = PATIENCE_MS / 2; // usual duration of a statement

  /** Waits until every unfinished actor waits for its turn or for a lock. */
  async function settle(players: readonly Player[]): Promise<void> {
    let patience = Math.max(PATIENCE_MS, 2 * usual);
    for (let since = performance.now(); ; ) {
      const working = players.filter(({ over, go, stuck }) => !over && !go && !stuck);
      const free = players.some(({ go }) => go);
      if (!working.length && (free || players.every(({ over }) => over))) return;
      if (await stirs(patience)) {
        usual += (performance.now() - since - usual) / 8;
        since = performance.now();
        continue;
      }
      if (!free) continue; // if all are blocked, PostgreSQL resolves the deadlock
      patience *= 2;
      const waiting = await blocked(players);
      for (const player of working) player.stuck = !player.go && waiting.has(player);
    }
  }

  return {
    async play(seed, parts, between) {
      const scheduler = seeded(seed);
      const settled = () => hear(true);
      const released = () => {
        for (const each of players) each.stuck = false;
      };
      const steps: Step[] = [];
      const players = parts.map((_, i) => player(`${name}-${i}`, i, databases[i]!, seeded(seed * 100 + i), { settled, released }));
      const acting = players.map((actor, i) =>
        parts[i]!(actor).finally(() => {
          actor.over = true;
          settled();
        }),
      );
      const all = Promise.all(acting);
      all.catch(() => {}); // reported at the end
      for (;;) {
        await settle(players);
        if (players.some(({ ended }) => ended)) await between();
        for (const each of players) each.ended = false;
        const chosen = scheduler.pick(players.filter(({ go }) => go));
        if (!chosen) break;
        const { go } = chosen;
        chosen.go = null;
        chosen.turns++;
        steps.push(chosen.step);
        go!();
      }
      await all;
      return steps;
    },
  };
}

function player(name: string, who: number, db: Db, chance: Seeded, ear: Ear): Player {
  const self: Player = {
    ...{ name, db, chance, go: null, step: { who, what: '' }, stuck: false, over: false, ended: false, turns: 0 },
    turn: (what) =>
      new Promise((resolve) => {
        self.step = { who, what };
        self.go = resolve;
        ear.settled();
      }),
  };
  const counted = async <T>(sql: string, run: () => Promise<T[]>): Promise<T[]> => {
    await self.turn(sql);
    const { step } = self;
    const rows = await run();
    step.rows = rows.length;
    return rows;
  };
  const stepwise = (tx: Tx): Tx => ({
    em: tx.em,
    outcome: async (sql, parameters) => {
      await self.turn(sql);
      return tx.outcome(sql, parameters);
    },
    rows: (sql, parameters) => counted(sql, () => tx.rows(sql, parameters)),
    row: async <T extends object>(sql: string, parameters?: readonly unknown[]) =>
      (await counted(sql, () => tx.rows<T>(sql, parameters)))[0] ?? null,
  });
  const wrap = async <T>(run: (work: (tx: Tx) => Promise<T>) => Promise<T>, work: (tx: Tx) => Promise<T>): Promise<T> => {
    const fault = chance.random() < FAULTS ? chance.pick(['before', 'after']) : null;
    try {
      const result = await run(async (tx) => {
        const value = await work(stepwise(tx));
        await self.turn('commit');
        if (fault === 'before') throw new Fault('before the commit');
        return value;
      });
      if (fault === 'after') throw new Fault('after the commit');
      return result;
    } finally {
      self.ended = true;
      ear.released();
    }
  };
  self.db = {
    ...db,
    acrossTenants: (work) => wrap((inner) => db.acrossTenants(inner), work),
    reserved: (work) => wrap((inner) => db.acrossTenants(inner), work),
    workspace: (id, work) => wrap((inner) => db.workspace(id, inner), work),
    query: (scope, sql, parameters) => counted(sql, () => db.query<never>(scope, sql, parameters).finally(ear.released)),
  };
  return self;
}
