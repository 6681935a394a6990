/* Engines in the simulation of uploads, leases and charges: they probe, transcribe, write reports and call webhooks. */
import { randomUUID } from 'node:crypto';
import { checkpointsOf } from '../../../db/jobs/checkpoints.ts';
import { claimNext, claimProbe, probed } from '../../../db/jobs/claim.ts';
import { complete, raise } from '../../../db/jobs/complete.ts';
import { backOff, renew, requeue } from '../../../db/jobs/leases.ts';
import { claimReport, completeReport, failReport, type ReportClaim } from '../../../db/reports/work.ts';
import { claimDelivery, settleDelivery } from '../../../db/webhooks/outbox.ts';
import { Stopping } from '../../../engine/tasks/holdings.ts';
import { removeMedia } from '../../../engine/tasks/media.ts';
import { settle } from '../../../engine/tasks/probe.ts';
import { MediaError } from '../../../engine/types.ts';
import type { Actor } from '../../support/databases/interleave.ts';
import { finished } from '../../support/engine/work.ts';
import { belief, engineOf, fenced, lately, MINUTE, type Operation, type Part, type World } from './world.ts';

const DECODED = [30, 60, 120, 120, 180]; // decoded seconds of a recording
const FOUND = { durationSeconds: MINUTE, mediaType: 'audio' } as const;

const claim: Operation = async ({ db, chance }, world) => {
  const claim = await claimNext(db, { engineId: randomUUID(), shortOnly: chance.random() < 0.2 });
  if (!claim) return;
  if ('lease' in claim) world.recordings.push({ claim, seconds: chance.pick(DECODED)! });
  else await removeMedia(engineOf(db, world), claim.refused);
};

const finish = belief(1, async ({ db }, { claim: { lease, extension }, seconds }, world) => {
  const outcome = await complete(db, lease, finished(seconds));
  if (outcome !== 'lost') await removeMedia(engineOf(db, world), { ...lease, extension });
});

const more = belief(1, ({ db }, { claim, seconds }) => raise(db, claim.lease, seconds));

/** Ends an attempt as the engine does when its work throws or is stopped. */
function thrown(odds: number, error: Error, stopped = false): Operation {
  const signal = stopped ? AbortSignal.abort(error) : new AbortController().signal;
  return belief(odds, ({ db }, { claim }, world) => settle(engineOf(db, world), claim, { signal }, error));
}

/** Ignores a checkpoint that cannot be saved because its transcription is being deleted. */
function gone(error: { code?: string }): void {
  if (error.code !== '23503') throw error;
}

export const ENGINE: Part = {
  async probe(actor, world) {
    const claim = await claimProbe(actor.db, randomUUID());
    if (!claim) return;
    if (actor.chance.random() < 0.3) return void world.recordings.push({ claim, seconds: 1 }); // the engine stalls
    return fenced(actor, world, claim.lease.token, () => probed(actor.db, claim.lease, FOUND));
  },
  ...{ claim, claimAgain: claim, finish, finishAgain: finish, more, moreAgain: more }, // repeated entries raise the probability
  async probeEndsLate(actor, world) {
    const stalled = world.recordings.filter(({ claim }) => claim.durationSeconds === null);
    const lease = lately(actor, stalled)?.claim.lease;
    return lease && fenced(actor, world, lease.token, () => probed(actor.db, lease, FOUND));
  },
  broken: thrown(0.3, new MediaError('FILE_CORRUPTED', 'broken')),
  failed: thrown(0.5, new Error('out of luck')),
  stopped: thrown(0.4, new Stopping(), true),
  save: belief(0.5, ({ db }, { claim }, { bench }) =>
    checkpointsOf(db, bench.vault, claim.lease).save('chunk', Buffer.from('words')).catch(gone),
  ),
  async renew({ db, chance }, { recordings, reports }) {
    const some = [...recordings.map(({ claim }) => claim), ...reports].filter(() => chance.random() < 0.5);
    const assumed = new Map(some.map(({ lease }) => [lease.id, lease])); // one lease per row, old or new
    return db.acrossTenants(async (tx) => {
      const heartbeats = [...assumed.values()].map((lease) => ({ lease, stage: 'transcribing', fraction: chance.random() }));
      const tokens = heartbeats.map(({ lease }) => lease.token);
      const held = (where: string, values: string[]) =>
        tx.rows<{ id: string; token: string }>(
          `select id, lease_token as token from transcriptions where ${where}
           union all select id, lease_token from reports where ${where}`,
          [values, values],
        );
      const mine = async () => new Set((await held('lease_token = any (?::uuid[])', tokens)).map(({ token }) => token));
      const before = await mine();
      const lost = await renew(tx, heartbeats);
      const written = await held('id = any (?::uuid[]) and xmin = pg_current_xact_id()::xid', [...assumed.keys()]);
      if (written.some(({ id, token }) => assumed.get(id)!.token !== token)) return 'extended a lease held by another';
      if (tokens.some((token) => !before.has(token) && !lost.has(token))) return 'lost lease not reported';
      return [...(await mine())].some((token) => lost.has(token)) ? 'held lease reported as lost' : undefined;
    });
  },
};

/** An engine whose work usually fails. */
export const UNLUCKY: Part = {
  ...{
    probe: ENGINE.probe!,
    claim,
    claimAgain: claim,
    claimOnceMore: claim,
    finish,
    more,
    moreAgain: more,
    save: ENGINE.save!,
    renew: ENGINE.renew!,
  },
  ...{ failed: thrown(0.7, new Error('out of luck')), stopped: ENGINE.stopped! },
};

/** Acts on a report that a writer may still hold, or held recently. */
function writing(odds: number, act: (actor: Actor, held: ReportClaim, world: World) => Promise<unknown>): Operation {
  return async (actor, world) => {
    const held = actor.chance.random() < odds ? lately(actor, world.reports) : undefined;
    return held && fenced(actor, world, held.lease.token, () => act(actor, held, world));
  };
}

const back =
  (how: { seconds?: number; blameless?: boolean }) =>
  (actor: Actor, { lease }: ReportClaim) =>
    actor.db.workspace(lease.workspaceId, (tx) => requeue(tx, lease, how));

async function claimOne({ db }: Actor, { reports }: World): Promise<void> {
  const claim = await claimReport(db, randomUUID());
  if (claim) reports.push(claim);
}

/** Writes reports and calls webhooks. */
export const CLERK: Part = {
  ...{ claim: claimOne, claimAgain: claimOne },
  complete: writing(1, ({ db }, held, { bench }) => completeReport(db, bench.vault, held, 'what was said')),
  fail: writing(0.5, ({ db }, held) => failReport(db, held, 'LLM_TIMEOUT')),
  failed: writing(0.3, back({ seconds: backOff(1) })),
  stopped: writing(0.3, back({ blameless: true })),
  renew: ENGINE.renew!,
  async take({ db }, { deliveries }) {
    const due = await db.query<{ id: string }>(
      '*',
      `select id from deliveries where status = 'pending' and next_at <= now() order by next_at, id limit 2`,
    );
    for (const { id } of due.sort((a, b) => (a.id < b.id ? -1 : 1))) {
      const taken = await db.acrossTenants((tx) => claimDelivery(tx, id));
      if (taken) deliveries.push(taken);
    }
  },
  async send(actor, world) {
    const held = lately(actor, world.deliveries);
    const ok = actor.chance.random() < 0.5;
    const outcome = { ok, status: ok ? 200 : 500, error: null };
    return (
      held &&
      fenced(actor, world, `${held.id} ${held.attempt}`, () =>
        actor.db.workspace(held.workspaceId, (tx) => settleDelivery(tx, held, outcome)),
      )
    );
  },
};
