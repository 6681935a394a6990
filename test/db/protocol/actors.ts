/* Who acts in the simulation of uploads, leases and charges, and what each can do. */
import { randomUUID } from 'node:crypto';
import { ApiError } from '../../../api/contract/errors.ts';
import { LIMITS } from '../../../api/contract/limits.ts';
import type { Context } from '../../../api/route.ts';
import { giveBack } from '../../../api/upload/receive.ts';
import { remove } from '../../../db/changes.ts';
import { type Claim as KeyClaim, claimKey, keepAnswer } from '../../../db/idempotency.ts';
import { type Lease, renew } from '../../../db/leases.ts';
import type { Db } from '../../../db/orm.ts';
import { claimReport, completeReport, failReport, type ReportClaim } from '../../../db/reportwork.ts';
import { complete, raise } from '../../../db/settle.ts';
import { reclaimReports, reclaimTranscriptions } from '../../../db/sweep.ts';
import { accept, takePlace, type Wish } from '../../../db/uploads.ts';
import { type Claim, claimNext, claimProbe, probed } from '../../../db/work.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import { Stopping } from '../../../engine/tasks/holdings.ts';
import { settle } from '../../../engine/tasks/probe.ts';
import { MediaError } from '../../../engine/types.ts';
import type { Actor } from '../../support/interleave.ts';
import type { Seeded } from '../../support/seeded.ts';
import { type Bench, finished } from '../../support/work.ts';
import { trespassed, UPLOADS } from './promises.ts';

export const MINUTE = 60; // seconds that every recording declares: whole minutes make balances just suffice, or just not
const DECODED = [30, 60, 120, 120, 180]; // seconds that are found in it
const RECENT = 4; // of what was ever held, what an engine may still believe to hold

/** What engines believe to hold, rightly or not, and whom clients belong to. */
export interface World {
  bench: Bench;
  workspaces: string[];
  recordings: { claim: Claim; seconds: number }[];
  reports: ReportClaim[];
}

/** Resolves with what it broke, as text, when that is seen at once. */
type Operation = (actor: Actor, world: World) => Promise<unknown>;
export type Part = Record<string, Operation>;

/** Does something with what an engine may still hold, or held lately. */
function belief(odds: number, act: (actor: Actor, held: World['recordings'][number]) => Promise<unknown>): Operation {
  return async (actor, { recordings }) => {
    const held = actor.chance.random() < odds ? actor.chance.pick(recordings.slice(-RECENT)) : undefined;
    return held && fenced(actor, held.claim.lease, () => act(actor, held));
  };
}

/** Does something under a lease, and says when that ended what is held under another one. */
async function fenced({ db }: Actor, lease: Lease, act: () => Promise<unknown>): Promise<string | undefined> {
  const fault = await act().then(
    () => null,
    (error: Error) => error,
  );
  const trespass = await trespassed(db, lease);
  if (fault && !trespass) throw fault;
  return trespass;
}

/** Ends a try as the engine does when its work throws, or is stopped. */
function thrown(db: Db, claim: Claim, error: Error, stopped = false): Promise<void> {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const spool = { remove: async () => {} };
  const engine = { db, spool, log: silent, counts: { finished: 0, failedDiarizations: 0 } } as unknown as Engine;
  return settle(engine, claim, { signal: stopped ? AbortSignal.abort(error) : new AbortController().signal }, error);
}

const claim: Operation = async ({ db, chance }, { recordings }) => {
  const claim = await claimNext(db, { engineId: randomUUID(), longest: chance.random() < 0.2 ? MINUTE : null });
  if (claim && 'lease' in claim) recordings.push({ claim, seconds: chance.pick(DECODED)! });
};
const finish = belief(1, ({ db }, { claim, seconds }) => complete(db, claim.lease, finished(seconds)));
const more = belief(1, ({ db }, { claim, seconds }) => raise(db, claim.lease, seconds));

export const ENGINE: Part = {
  async probe(actor, { recordings }) {
    const claim = await claimProbe(actor.db, randomUUID());
    if (!claim) return;
    if (actor.chance.random() < 0.3) return void recordings.push({ claim, seconds: 1 }); // it stalls
    return fenced(actor, claim.lease, () => probed(actor.db, claim.lease, { durationSeconds: MINUTE, mediaType: 'audio' }));
  },
  ...{ claim, claimAgain: claim, finish, finishAgain: finish, more, moreAgain: more }, // the more often, the more is found
  async probeEndsLate(actor, { recordings }) {
    const stalled = actor.chance.pick(recordings.filter(({ claim }) => claim.durationSeconds === null).slice(-RECENT));
    if (!stalled) return;
    const { lease } = stalled.claim;
    return fenced(actor, lease, () => probed(actor.db, lease, { durationSeconds: MINUTE, mediaType: 'audio' }));
  },
  broken: belief(0.3, ({ db }, { claim }) => thrown(db, claim, new MediaError('FILE_CORRUPTED', 'broken'))),
  failed: belief(0.5, ({ db }, { claim }) => thrown(db, claim, new Error('out of luck'))),
  stopped: belief(0.4, ({ db }, { claim }) => thrown(db, claim, new Stopping(), true)),
  async renew({ db, chance }, { recordings, reports }) {
    const some = [...recordings.map(({ claim }) => claim), ...reports].filter(() => chance.random() < 0.5);
    const believed = new Map(some.map(({ lease }) => [lease.id, lease])); // one of each, old or new
    return db.system(async (tx) => {
      const signs = [...believed.values()].map((lease) => ({ lease, stage: 'transcribing', fraction: chance.random() }));
      const alive = await renew(tx, signs);
      const rows = await tx.rows<{ id: string; token: string }>(
        `select id, lease_token as token from transcriptions where id = any (?::uuid[])
         union all select id, lease_token from reports where id = any (?::uuid[])`,
        [[...alive], [...alive]],
      );
      return rows.some(({ id, token }) => believed.get(id)!.token !== token) ? 'told to hold what another holds' : undefined;
    });
  },
};

export const WRITER: Part = {
  async claim({ db }, { reports }) {
    const claim = await claimReport(db, randomUUID());
    if (claim) reports.push(claim);
  },
  async complete(actor, { bench, reports }) {
    const held = actor.chance.pick(reports.slice(-RECENT));
    return held && fenced(actor, held.lease, () => completeReport(actor.db, bench.vault, held, 'what was said'));
  },
  async fail(actor, { reports }) {
    const held = actor.chance.random() < 0.5 ? actor.chance.pick(reports.slice(-RECENT)) : undefined;
    return held && fenced(actor, held.lease, () => failReport(actor.db, held, 'LLM_TIMEOUT'));
  },
  renew: ENGINE.renew!,
};

export const SWEEPER: Part = {
  /** Holders have died, or stall: then they go on to believe. */
  async expire({ db, chance }) {
    for (const table of ['transcriptions', 'reports']) {
      const held = await db.read<{ id: string }>('*', `select id from ${table} where lease_token is not null order by created_at, id`);
      const ids = held.filter(() => chance.random() < 0.7).map(({ id }) => id);
      await touch(db, table, PAST, 'lease_token is not null and id = any (?::uuid[])', [ids]);
    }
  },
  sweep: ({ db }) => reclaimTranscriptions(db),
  sweepReports: ({ db }) => reclaimReports(db),
  async due({ db }) {
    for (const table of ['transcriptions', 'reports']) await touch(db, table, 'run_after = now()', 'run_after > now()');
  },
  async uploadsExpire({ db }) {
    await touch(db, 'upload_leases', PAST, 'true');
    await touch(db, 'idempotency_keys', PAST, 'answer is null');
  },
};

const PAST = `lease_until = clock_timestamp() - interval '1 second'`;

/** Changes what nobody has locked: time passes without waiting for anybody. */
function touch(db: Db, table: string, change: string, where: string, parameters: unknown[] = []): Promise<unknown> {
  const free = `select ctid from ${table} where ${where} for update skip locked`;
  return db.read('*', `update ${table} set ${change} where ctid in (${free})`, parameters);
}

export const CLIENT: Part = {
  ...{ upload, again: upload, andAgain: upload },
  async remove({ db, chance }, world) {
    const workspaceId = chance.pick(world.workspaces)!;
    const [row] = await db.read<{ id: string }>(
      workspaceId,
      'select id from transcriptions where workspace_id = ? order by created_at limit 1',
      [workspaceId],
    );
    const viewer = { workspaceId, memberId: randomUUID(), role: 'owner' as const, keyId: null };
    if (row) await db.workspace(workspaceId, (tx) => remove(tx, viewer, row.id));
  },
};

/** As api/upload does it, the body left out: key, place, then row, answer and job in one transaction; both are given back after a failure. */
async function upload({ db, chance }: Actor, { bench, workspaces }: World): Promise<void> {
  const workspaceId = chance.pick(workspaces)!;
  const key = chance.pick(['a', 'b', 'c'])!;
  const claim: KeyClaim = { workspaceId, key, token: randomUUID() };
  const wish = wishOf(workspaceId, key, chance);
  const node = randomUUID();
  const { state } = await db.workspace(workspaceId, (tx) => claimKey(tx, claim, wish.id, node));
  if (state !== 'mine' || chance.random() < 0.1) return; // or the host dies
  try {
    await db.workspace(workspaceId, (tx) => takePlace(tx, wish, node, { ...LIMITS, UPLOADS_PER_WORKSPACE: UPLOADS }));
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

function wishOf(workspaceId: string, externalId: string, chance: Seeded): Wish {
  const member = { id: randomUUID(), email: 'a@example.org', name: null };
  const templates = chance.random() < 0.5 ? [{ templateId: null, slug: 'summary', name: 'Summary' }] : [];
  return {
    ...{ id: randomUUID(), workspaceId, creatorId: member.id, keyId: null, subject: randomUUID(), author: member, projectId: null },
    ...{ filename: 'call.mp3', extension: 'mp3', language: 'auto', diarize: true, speakersCount: null, aiMetadata: false },
    ...{ externalId, metadata: null, templates },
  };
}
