/* What the actors of the simulation of uploads, leases and charges share, and how it is seen what each did under a lease. */
import type { Limits } from '../../../api/contract/limits.ts';
import type { ClaimedTranscription } from '../../../db/jobs/claim.ts';
import type { Db } from '../../../db/postgres/orm.ts';
import type { ReportClaim } from '../../../db/reports/work.ts';
import type { Delivery } from '../../../db/webhooks/outbox.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import type { Actor } from '../../support/interleave.ts';
import type { Seeded } from '../../support/seeded.ts';
import type { Bench } from '../../support/work.ts';
import { trespassed } from './promises.ts';

export const MINUTE = 60; // seconds that every recording declares: whole minutes make balances just suffice, or just not
const RECENT = 4; // of what was ever held, what somebody may still believe to hold

/** What is believed to be held, rightly or not, and whom clients belong to. */
export interface World {
  bench: Bench;
  limits: Limits;
  workspaces: string[];
  /** Ids of the files in it. */
  spool: Set<string>;
  /** Ids of uploads whose host has died, or could not give back what it held. */
  dead: Set<string>;
  /** Files that nothing needed when the spool was looked through last. */
  orphans: Set<string>;
  recordings: { claim: ClaimedTranscription; seconds: number }[];
  reports: ReportClaim[];
  deliveries: Delivery[];
}

/** Resolves with what it broke, as text, when that is seen at once. */
export type Operation = (actor: Actor, world: World) => Promise<unknown>;
export type Part = Record<string, Operation>;

/** Does something with what an engine may still hold, or held lately. */
export function belief(odds: number, act: (actor: Actor, held: World['recordings'][number], world: World) => Promise<unknown>): Operation {
  return async (actor, world) => {
    const held = actor.chance.random() < odds ? lately(actor, world.recordings) : undefined;
    return held && fenced(actor, world, held.claim.lease.token, () => act(actor, held, world));
  };
}

/** An id that the seed says. */
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

/** Does something as the holder of a token, and says when that ended or changed what is held under another one, or by nobody. */
export async function fenced({ name }: Actor, { bench }: World, token: string, act: () => Promise<unknown>): Promise<string | undefined> {
  await trespassed(bench.db, name, token); // of what it did as nobody's holder
  const fault = await act().then(
    () => null,
    (error: Error) => error,
  );
  const trespass = await trespassed(bench.db, name, token);
  if (fault && !trespass) throw fault;
  return trespass;
}

/** As much of an engine as settles what threw, and removes media. */
export function engineOf(db: Db, { spool }: World): Engine {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const remove = async (id: string) => void spool.delete(id);
  return { db, spool: { remove }, log: silent, counts: { finished: 0, failedDiarizations: 0, uncoveredSeconds: 0 } } as unknown as Engine;
}
