/* Shared state of the actors in the simulation of uploads, leases and charges, and detection of what each did under a lease. */
import type { Limits } from '../../../api/contract/limits.ts';
import type { ClaimedTranscription } from '../../../db/jobs/claim.ts';
import type { Db } from '../../../db/postgres/orm.ts';
import type { ReportClaim } from '../../../db/reports/work.ts';
import type { Delivery } from '../../../db/webhooks/outbox.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import type { Actor } from '../../support/databases/interleave.ts';
import type { Bench } from '../../support/engine/work.ts';
import type { Seeded } from '../../support/seeded.ts';
import { trespassed } from './promises.ts';

export const MINUTE = 60; // declared seconds of every recording: with whole minutes a balance can be just sufficient, or just insufficient
const RECENT = 4; // number of past leases that an actor may still assume to hold

/** Leases that actors assume to hold, correctly or not, and the workspaces of clients. */
export interface World {
  bench: Bench;
  limits: Limits;
  workspaces: string[];
  /** Ids of the files in the spool. */
  spool: Set<string>;
  /** Ids of uploads whose host has died, or could not release what it held. */
  dead: Set<string>;
  /** Files that were not needed at the last sweep of the spool. */
  orphans: Set<string>;
  recordings: { claim: ClaimedTranscription; seconds: number }[];
  reports: ReportClaim[];
  deliveries: Delivery[];
}

/** Resolves with the violated invariant as text, if it is detected immediately. */
export type Operation = (actor: Actor, world: World) => Promise<unknown>;
export type Part = Record<string, Operation>;

/** Acts on a lease that an engine may still hold, or held recently. */
export function belief(odds: number, act: (actor: Actor, held: World['recordings'][number], world: World) => Promise<unknown>): Operation {
  return async (actor, world) => {
    const held = actor.chance.random() < odds ? lately(actor, world.recordings) : undefined;
    return held && fenced(actor, world, held.claim.lease.token, () => act(actor, held, world));
  };
}

/** An id derived from the seed. */
export function uuid(chance: Seeded): string {
  const hex = (digits: number) =>
    chance
      .below(16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`;
}

export function lately<T>({ chance }: Actor, held: readonly T[]): T | undefined {
  return chance.pick(held.slice(-RECENT));
}

/** Acts as the holder of a token. Reports if that ended or changed a row held under another token, or under none. */
export async function fenced({ name }: Actor, { bench }: World, token: string, act: () => Promise<unknown>): Promise<string | undefined> {
  await trespassed(bench.db, name, token); // clears records of changes made without a token
  const fault = await act().then(
    () => null,
    (error: Error) => error,
  );
  const trespass = await trespassed(bench.db, name, token);
  if (fault && !trespass) throw fault;
  return trespass;
}

/** The part of an engine that handles errors and removes media. */
export function engineOf(db: Db, { spool }: World): Engine {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const remove = async (id: string) => void spool.delete(id);
  return { db, spool: { remove }, log: silent, counts: { finished: 0, failedDiarizations: 0, uncoveredSeconds: 0 } } as unknown as Engine;
}
