/*
 * The protocol of leases and charges under random schedules with injected faults: engines that die, stall past their lease, finish twice, lose
 * the answer of a commit or the commit itself; clients that delete; minutes that run out. A failure prints its seed: SEED=n repeats it,
 * SCHEDULES=n runs more of them.
 */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Lease } from '../../db/leases.ts';
import { backOff, handBack, renew } from '../../db/leases.ts';
import type { Db, Tx } from '../../db/orm.ts';
import { complete, fail, raise } from '../../db/settle.ts';
import { reclaimTranscriptions } from '../../db/sweep.ts';
import { claimNext } from '../../db/work.ts';
import { testDatabase } from '../support/database.ts';
import { finished, openBench } from '../support/work.ts';

const SCHEDULES = Number(process.env.SCHEDULES ?? 60);
const FIRST = Number(process.env.SEED ?? Date.now() % 1_000_000);
const STEPS = 40;
const FAULTS = 0.08; // of all transactions

const { db } = await testDatabase(t);
const bench = await openBench(db);
type Random = () => number;

/** mulberry32: small, seeded, good enough to choose steps. */
function random(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Fault extends Error {}

/** A database whose transactions sometimes fail before the commit, and sometimes after it, when nobody hears that they succeeded. */
function faulty(random: Random): Db {
  const wrap =
    (run: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>) =>
    async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
      const [before, after] = [random() < FAULTS / 2, random() < FAULTS / 2];
      const result = await run(async (tx) => {
        const value = await work(tx);
        if (before) throw new Fault('before the commit');
        return value;
      });
      if (after) throw new Fault('after the commit');
      return result;
    };
  return { ...db, system: wrap((work) => db.system(work)), workspace: (id, work) => wrap((inner) => db.workspace(id, inner))(work) };
}

interface World {
  db: Db;
  random: Random;
  workspaces: string[];
  files: string[];
  /** What each engine believes to hold, dead or alive. */
  beliefs: { lease: Lease; seconds: number }[];
}

/** Everything that can happen, each as one step. */
const STEPS_OF: Record<string, (world: World) => Promise<unknown>> = {
  async claim({ db, random, beliefs }) {
    const claim = await claimNext(db, { engineId: randomUUID(), longest: random() < 0.2 ? 90 : null });
    if (claim && 'lease' in claim) beliefs.push({ lease: claim.lease, seconds: (claim.durationSeconds ?? 0) * (0.5 + random()) });
  },
  claimAgain: (world) => STEPS_OF.claim!(world),
  async complete({ db, random, beliefs }) {
    const belief = pick(beliefs, random);
    if (belief) await complete(db, belief.lease, finished(Math.round(belief.seconds * 1000) / 1000));
  },
  completeAgain: (world) => STEPS_OF.complete!(world),
  async fail({ db, random, beliefs }) {
    const belief = pick(beliefs, random);
    if (belief && random() < 0.3) await fail(db, belief.lease, 'FILE_CORRUPTED');
  },
  async raise({ db, random, beliefs }) {
    const belief = pick(beliefs, random);
    if (belief) await raise(db, belief.lease, belief.seconds);
  },
  async handBack({ db, random, beliefs }) {
    const belief = pick(beliefs, random);
    if (belief)
      await db.workspace(belief.lease.workspaceId, (tx) => handBack(tx, belief.lease, { seconds: backOff(1), blameless: random() < 0.5 }));
  },
  async renew({ db, random, beliefs }) {
    const some = beliefs.filter(() => random() < 0.5);
    await db.system((tx) =>
      renew(
        tx,
        some.map(({ lease }) => ({ lease, stage: 'transcribing', fraction: random() })),
      ),
    );
  },
  /** The holder died, or stalled: in that case it still believes. */
  async expire({ random, files }) {
    const id = pick(files, random);
    if (id) await bench.expire('transcriptions', id);
  },
  sweep: ({ db }) => reclaimTranscriptions(db),
  due: () => bench.due(),
  async remove({ db, random, files }) {
    const id = random() < 0.3 ? pick(files, random) : undefined;
    if (id) await db.system((tx) => tx.rows('delete from transcriptions where id = ?', [id]));
  },
  async upload({ random, workspaces, files }) {
    files.push(await bench.transcription(pick(workspaces, random)!, { seconds: 30 + Math.floor(random() * 90) }));
  },
};

function pick<T>(from: readonly T[], random: Random): T | undefined {
  return from[Math.floor(random() * from.length)];
}

/** What must hold at every moment. */
const ALWAYS = `
  select 'more at work than the workspace may' as broken from workspaces w
    where (select count(*) from transcriptions t where t.workspace_id = w.id and t.status = 'processing') > w.concurrency
  union all select 'more reserved than there is' from workspaces w
    where coalesce((select sum(minutes) from reservations r where r.workspace_id = w.id), 0) > w.balance_minutes
  union all select 'a balance below zero' from workspaces where balance_minutes < 0
  union all select 'a balance that is not grants minus charges' from workspaces w
    where balance_minutes <> (select sum(minutes) from ledger l where l.workspace_id = w.id)
  union all select 'completed without its charge' from transcriptions t
    where status = 'completed' and not exists (select from ledger l where l.transcription_id = t.id and l.minutes < 0)
  union all select 'charged without being completed' from transcriptions t
    where status <> 'completed' and exists (select from ledger l where l.transcription_id = t.id)
  union all select 'a reservation of what is not at work' from reservations r
    join transcriptions t on t.id = r.transcription_id where t.status <> 'processing'
  union all select 'at work without a reservation' from transcriptions t
    where status = 'processing' and not exists (select from reservations r where r.transcription_id = t.id)
  union all select 'a lease on what is over' from transcriptions where lease_token is not null and status not in ('queued', 'processing')
  union all select 'a charge that is not that of its length' from transcriptions t join ledger l on l.transcription_id = t.id
    where abs(l.minutes * 60 + t.duration_seconds::numeric) > 0.001
  union all select 'completed without its segments' from transcriptions t
    where status = 'completed' and not exists (select from segments s where s.transcription_id = t.id)`;

async function broken(): Promise<string[]> {
  return (await db.read<{ broken: string }>('*', ALWAYS)).map((row) => row.broken);
}

/** One schedule; with `together`, several steps at a time, so that their transactions meet. Returns what it broke. */
async function play(seed: number, together: number): Promise<string[]> {
  const world: World = { db, random: random(seed), workspaces: [], files: [], beliefs: [] };
  await db.system((tx) => tx.rows('delete from workspaces'));
  for (let i = 0; i < 2; i++) {
    const [minutes, concurrency] = [Math.floor(world.random() * 12), 1 + Math.floor(world.random() * 3)];
    world.workspaces.push(await bench.workspace({ minutes, concurrency }));
  }
  for (let i = 0; i < 5; i++) await STEPS_OF.upload!(world);
  world.db = faulty(world.random);
  const names = Object.keys(STEPS_OF);
  for (let step = 0; step < STEPS; step += together) {
    const doing = Array.from({ length: together }, () => STEPS_OF[pick(names, world.random)!]!(world));
    for (const outcome of await Promise.allSettled(doing)) {
      if (outcome.status === 'rejected' && !(outcome.reason instanceof Fault)) throw outcome.reason;
    }
    const found = await broken();
    if (found.length) return found;
  }
  return finish();
}

/** Lets one healthy engine end what is left: then everything is over, and nothing is reserved. */
async function finish(): Promise<string[]> {
  await db.system((tx) => tx.rows(`update transcriptions set lease_until = now() - interval '1 second' where lease_token is not null`));
  await reclaimTranscriptions(db);
  await bench.due();
  for (;;) {
    const claim = await claimNext(db, { engineId: randomUUID(), longest: null });
    if (!claim) break;
    if ('lease' in claim) await complete(db, claim.lease, finished(claim.durationSeconds ?? 0));
  }
  const [open] = await db.read<{ open: number; reserved: number }>(
    '*',
    `select (select count(*) from transcriptions where status in ('queued', 'processing'))::int as open, (select count(*) from reservations)::int as reserved`,
  );
  const left = open!.open || open!.reserved ? [`${open!.open} left open, ${open!.reserved} reservations`] : [];
  return [...left, ...(await broken())];
}

for (const together of [1, 4]) {
  t.test(`leases and charges keep every promise, ${together} step${together > 1 ? 's' : ''} at a time`, async (t) => {
    const failures: string[] = [];
    for (let seed = FIRST; seed < FIRST + SCHEDULES && failures.length < 3; seed++) {
      for (const what of await play(seed, together)) failures.push(`SEED=${seed}: ${what}`);
    }
    t.strictSame(failures, [], `${SCHEDULES} schedules from seed ${FIRST}`);
  });
}
