/*
 * The protocol of uploads, leases and charges as a simulation: engines, clients and a sweeper on real connections, interleaved statement by
 * statement by a seeded scheduler, with faults: engines that stall past their lease and go on, work finished twice, commits that fail or whose
 * answer is lost, clients that repeat and delete, minutes that run out. A failure prints its seed: SEED=n SCHEDULES=1 repeats it.
 *
 * That it would notice, was tried by taking safeguards away, one at a time, from SEED=1:
 *
 *   safeguard removed                                              found after … schedules
 *   row lock of the workspace at dispatch (lockNextWorkspace)      3, more at work than the workspace may
 *   row lock of the balance at raise and complete (lockBalance)    5, more reserved than there is
 *   lease token in hold() of db/settle.ts                          65 (*), a reservation of what is not at work
 *   token and status in hold(), and the unique charge              6 (*), charged twice
 *   row lock in hold()                                             16 (*), a deadlock
 *   a key is claimed only when it is free (claimKey)               1, two files under one key
 *   release by deletion (the cascade to reservations)              1, a reservation of what is not at work
 *   release at the end (failed, insufficient_balance)              2, a reservation of what is not at work
 *   release with the charge                                        1, reservations are left at the end
 *
 * (*) with operations weighted otherwise, before raise() and complete() were made more frequent.
 */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { ApiError } from '../../api/contract/errors.ts';
import { LIMITS } from '../../api/contract/limits.ts';
import type { Context } from '../../api/route.ts';
import { giveBack } from '../../api/upload/receive.ts';
import { remove } from '../../db/changes.ts';
import { type Claim, claimKey, keepAnswer } from '../../db/idempotency.ts';
import { handBack, type Lease, renew } from '../../db/leases.ts';
import type { Db } from '../../db/orm.ts';
import { complete, fail, raise } from '../../db/settle.ts';
import { reclaimTranscriptions } from '../../db/sweep.ts';
import { accept, takePlace, type Wish } from '../../db/uploads.ts';
import { claimNext, claimProbe, probed } from '../../db/work.ts';
import { testDatabase } from '../support/database.ts';
import { type Actor, Fault, openStage } from '../support/interleave.ts';
import { SEED, type Seeded, seeded } from '../support/seeded.ts';
import { finished, openBench } from '../support/work.ts';

const SCHEDULES = Number(process.env.SCHEDULES ?? 40);
const OPERATIONS = 9; // of each actor
const UPLOADS = 2; // in flight per workspace
const MINUTE = 60; // seconds that every recording declares: whole minutes make balances just suffice, or just not
const DECODED = [30, 60, 120, 120, 180]; // seconds that are found in it

const { db, url } = await testDatabase(t);
const bench = await openBench(db);
const stage = await openStage(t, url, 6);
const limits = { ...LIMITS, UPLOADS_PER_WORKSPACE: UPLOADS };

/** What an engine believes to hold, rightly or not. */
interface Belief {
  lease: Lease;
  seconds: number;
}

interface World {
  workspaces: string[];
  beliefs: Belief[];
}

/** One that may still be held, or was lately. */
function recent(beliefs: readonly Belief[], chance: Seeded): Belief | undefined {
  return chance.pick(beliefs.slice(-4));
}

type Operation = (actor: Actor, world: World) => Promise<unknown>;

const ENGINE: Record<string, Operation> = {
  async probe({ db, chance }, { beliefs }) {
    const claim = await claimProbe(db, randomUUID());
    if (!claim) return;
    if (chance.random() < 0.1) return void beliefs.push({ lease: claim.lease, seconds: 1 }); // it stalls
    await probed(db, claim.lease, { durationSeconds: MINUTE, mediaType: 'audio' });
  },
  async claim({ db, chance }, { beliefs }) {
    const claim = await claimNext(db, { engineId: randomUUID(), longest: chance.random() < 0.2 ? MINUTE : null });
    if (claim && 'lease' in claim) beliefs.push({ lease: claim.lease, seconds: chance.pick(DECODED)! });
  },
  async complete({ db, chance }, { beliefs }) {
    const belief = recent(beliefs, chance);
    if (belief) await complete(db, belief.lease, finished(belief.seconds));
  },
  async raise({ db, chance }, { beliefs }) {
    const belief = recent(beliefs, chance);
    if (belief) await raise(db, belief.lease, belief.seconds);
  },
  claimAgain: (actor, world) => ENGINE.claim!(actor, world),
  completeAgain: (actor, world) => ENGINE.complete!(actor, world),
  raiseAgain: (actor, world) => ENGINE.raise!(actor, world),
  async fail({ db, chance }, { beliefs }) {
    const belief = chance.random() < 0.4 ? recent(beliefs, chance) : undefined;
    if (belief) await fail(db, belief.lease, 'FILE_CORRUPTED');
  },
  async handBack({ db, chance }, { beliefs }) {
    const belief = chance.random() < 0.6 ? recent(beliefs, chance) : undefined;
    if (belief) await db.workspace(belief.lease.workspaceId, (tx) => handBack(tx, belief.lease, { blameless: chance.random() < 0.5 }));
  },
  async renew({ db, chance }, { beliefs }) {
    const signs = beliefs
      .filter(() => chance.random() < 0.5)
      .map(({ lease }) => ({ lease, stage: 'transcribing', fraction: chance.random() }));
    await db.system((tx) => renew(tx, signs));
  },
};

const SWEEPER: Record<string, Operation> = {
  /** A holder has died, or stalls: then it goes on to believe. */
  async expire({ db, chance }) {
    const held = await db.read<{ id: string }>('*', 'select id from transcriptions where lease_token is not null order by created_at, id');
    const ids = held.filter(() => chance.random() < 0.7).map(({ id }) => id);
    await touch(
      db,
      'transcriptions',
      `lease_until = clock_timestamp() - interval '1 second'`,
      `lease_token is not null and id = any (?::uuid[])`,
      [ids],
    );
  },
  sweep: ({ db }) => reclaimTranscriptions(db),
  due: ({ db }) => touch(db, 'transcriptions', 'run_after = now()', 'run_after > now()'),
  async uploadsExpire({ db }) {
    await touch(db, 'upload_leases', `lease_until = clock_timestamp() - interval '1 second'`, 'true');
    await touch(db, 'idempotency_keys', `lease_until = clock_timestamp() - interval '1 second'`, 'answer is null');
  },
};

/** Changes what nobody has locked: time passes without waiting for anybody. */
function touch(db: Db, table: string, change: string, where: string, parameters: unknown[] = []): Promise<unknown> {
  return db.read(
    '*',
    `update ${table} set ${change} where ctid in (select ctid from ${table} where ${where} for update skip locked)`,
    parameters,
  );
}

const CLIENT: Record<string, Operation> = {
  upload,
  again: upload,
  andAgain: upload,
  async remove({ db, chance }, world) {
    const workspaceId = chance.pick(world.workspaces)!;
    const [row] = await db.read<{ id: string }>(
      workspaceId,
      'select id from transcriptions where workspace_id = ? order by created_at limit 1',
      [workspaceId],
    );
    if (!row) return;
    const viewer = { workspaceId, memberId: randomUUID(), role: 'owner' as const, keyId: null };
    await db.workspace(workspaceId, (tx) => remove(tx, viewer, row.id));
  },
};

/** As api/upload does it, the body left out: key, place, then row, answer and job in one transaction; both are given back after a failure. */
async function upload({ db, chance }: Actor, world: World): Promise<void> {
  const workspaceId = chance.pick(world.workspaces)!;
  const key = chance.pick(['a', 'b', 'c'])!;
  const claim: Claim = { workspaceId, key, token: randomUUID() };
  const wish = wishOf(workspaceId, key);
  const node = randomUUID();
  const { state } = await db.workspace(workspaceId, (tx) => claimKey(tx, claim, wish.id, node));
  if (state !== 'mine' || chance.random() < 0.1) return; // or the host dies
  try {
    await db.workspace(workspaceId, (tx) => takePlace(tx, wish, node, limits));
    if (chance.random() < 0.1) return; // the host dies
    await db.workspace(workspaceId, async (tx) => {
      await accept(tx, bench.vault, wish, { bytes: 2048, key: Buffer.alloc(32) });
      if (!(await keepAnswer(tx, claim, { uuid: wish.id, status: 'queued', reports: [] }))) throw new ApiError('idempotency_conflict');
    });
  } catch (error) {
    await giveBack({ db } as Context, wish, claim);
    throw error;
  }
}

function wishOf(workspaceId: string, externalId: string): Wish {
  const member = { id: randomUUID(), email: 'a@example.org', name: null };
  return {
    ...{ id: randomUUID(), workspaceId, creatorId: member.id, keyId: null, subject: randomUUID(), author: member, projectId: null },
    ...{ filename: 'call.mp3', extension: 'mp3', language: 'auto', diarize: true, speakersCount: null, aiMetadata: false },
    ...{ externalId, metadata: null, templates: [] },
  };
}

/** What must hold whenever nobody is in the midst of a transaction's commit: always, to whoever looks. */
const ALWAYS = `
  select 'more at work than the workspace may' as broken from workspaces w
    where (select count(*) from transcriptions t where t.workspace_id = w.id and t.status = 'processing') > w.concurrency
  union all select 'more reserved than there is' from workspaces w
    where coalesce((select sum(minutes) from reservations r where r.workspace_id = w.id), 0) > w.balance_minutes
  union all select 'a balance below zero' from workspaces where balance_minutes < 0
  union all select 'a balance that is not grants minus charges' from workspaces w
    where balance_minutes <> (select sum(minutes) from ledger l where l.workspace_id = w.id)
  union all select 'charged twice' from (select from ledger where transcription_id is not null group by transcription_id having count(*) > 1) l
  union all select 'completed without its charge' from transcriptions t
    where status = 'completed' and not exists (select from ledger l where l.transcription_id = t.id and l.minutes < 0)
  union all select 'charged without being completed' from transcriptions t
    where status <> 'completed' and exists (select from ledger l where l.transcription_id = t.id)
  union all select 'a reservation of what is not at work' from reservations r
    left join transcriptions t on t.id = r.transcription_id where t.status is distinct from 'processing'
  union all select 'at work without a reservation' from transcriptions t
    where status = 'processing' and not exists (select from reservations r where r.transcription_id = t.id)
  union all select 'a lease on what is over' from transcriptions where lease_token is not null and status not in ('queued', 'processing')
  union all select 'a charge that is not that of its length' from transcriptions t join ledger l on l.transcription_id = t.id
    where abs(l.minutes * 60 + t.duration_seconds::numeric) > 0.001
  union all select 'completed without its segments' from transcriptions t
    where status = 'completed' and not exists (select from segments s where s.transcription_id = t.id)
  union all select 'more uploads in flight than the workspace may' from (select from upload_leases where lease_until > clock_timestamp()
    group by workspace_id having count(*) > ${UPLOADS}) u
  union all select 'two files under one key' from (select from transcriptions where status <> 'insufficient_balance'
    group by workspace_id, external_id having count(*) > 1) t
  union all select 'an answer for a file that is not there' from idempotency_keys i where answer is not null
    and not exists (select from transcriptions t where t.id = i.transcription_id and t.status <> 'insufficient_balance')
  union all select 'three engines died of it, and it goes on' from transcriptions where deaths >= 3 and status in ('queued', 'processing')`;

async function broken(): Promise<string[]> {
  return (await db.read<{ broken: string }>('*', ALWAYS)).map((row) => row.broken);
}

/** One schedule. Returns what it broke. */
async function play(seed: number): Promise<string[]> {
  const chance = seeded(seed);
  const world: World = { workspaces: [], beliefs: [] };
  await db.system(async (tx) => {
    await tx.rows('delete from workspaces');
    await tx.rows('delete from ledger');
  });
  for (let i = 0; i < 2; i++)
    world.workspaces.push(await bench.workspace({ minutes: 1 + chance.below(7), concurrency: 1 + chance.below(3) }));
  for (let i = 0; i < 5; i++) await bench.transcription(chance.pick(world.workspaces)!, { seconds: MINUTE });
  await db.system((tx) => tx.rows('update transcriptions set external_id = id::text')); // no key of a client's
  const failures = new Set<string>();
  const act = (operations: Record<string, Operation>) => async (actor: Actor) => {
    for (let i = 0; i < OPERATIONS && !failures.size; i++) {
      const name = actor.chance.pick(Object.keys(operations))!;
      await operations[name]!(actor, world).catch((error: unknown) => {
        if (!(error instanceof Fault) && !(error instanceof ApiError)) failures.add(`${name}: ${error}`);
      });
    }
  };
  const check = async () => {
    for (const what of await broken()) failures.add(what);
  };
  await stage.play(seed, [act(ENGINE), act(ENGINE), act(ENGINE), act(CLIENT), act(CLIENT), act(SWEEPER)], check);
  if (!failures.size) for (const what of await finish()) failures.add(what);
  return [...failures];
}

/** Lets one healthy engine end what is left: then everything is over, and nothing is reserved. */
async function finish(): Promise<string[]> {
  await db.system((tx) => tx.rows(`update transcriptions set lease_until = now() - interval '1 second' where lease_token is not null`));
  await reclaimTranscriptions(db);
  await bench.due();
  for (let claim = await claimProbe(db, randomUUID()); claim; claim = await claimProbe(db, randomUUID()))
    await probed(db, claim.lease, { durationSeconds: MINUTE, mediaType: 'audio' });
  for (
    let claim = await claimNext(db, { engineId: randomUUID(), longest: null });
    claim;
    claim = await claimNext(db, { engineId: randomUUID(), longest: null })
  )
    if ('lease' in claim) await complete(db, claim.lease, finished(claim.durationSeconds ?? 0));
  const [left] = await db.read<{ open: number; reserved: number }>(
    '*',
    `select (select count(*) from transcriptions where status in ('queued', 'processing'))::int as open, (select count(*) from reservations)::int as reserved`,
  );
  return [...(left!.open || left!.reserved ? [`${left!.open} left open, ${left!.reserved} reservations`] : []), ...(await broken())];
}

t.test('uploads, leases and charges keep every promise under any interleaving', async (t) => {
  const failures: string[] = [];
  for (let seed = SEED; seed < SEED + SCHEDULES && failures.length < 3; seed++) {
    for (const what of await play(seed)) failures.push(`SEED=${seed} (schedule ${seed - SEED + 1}): ${what}`);
  }
  t.strictSame(failures, [], `${SCHEDULES} schedules from SEED=${SEED}`);
});
