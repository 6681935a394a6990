/* Crashes, expiry and sweepers in the simulation of uploads, leases and charges. */

import { unneeded } from '../../../db/jobs/orphans.ts';
import { expireTranscripts, leftoverMedia, reclaimReports, reclaimTranscriptions } from '../../../db/jobs/sweep.ts';
import type { Db } from '../../../db/postgres/orm.ts';
import { sweepUploads } from '../../../db/uploads/accept.ts';
import { removeMedia } from '../../../engine/tasks/media.ts';
import type { Actor } from '../../support/databases/interleave.ts';
import { engineOf, type Operation, type Part, type World } from './world.ts';

export const SWEEPER: Part = {
  /** Lease holders have died, or stall and still assume that they hold their lease. */
  async expire({ db, chance }) {
    for (const table of ['transcriptions', 'reports']) {
      const held = await db.query<{ id: string }>('*', `select id from ${table} where lease_token is not null order by created_at, id`);
      const ids = held.filter(() => chance.random() < 0.7).map(({ id }) => id);
      await touch(db, 'leases', `until = until - interval '1 day'`, 'subject = any (?::uuid[])', [ids]);
    }
  },
  async die(actor, world) {
    await SWEEPER.expire!(actor, world);
    await reclaimTranscriptions(actor.db);
    await reclaimReports(actor.db);
  },
  sweep: ({ db }) => reclaimTranscriptions(db),
  sweepReports: ({ db }) => reclaimReports(db),
  async due({ db }) {
    for (const table of ['transcriptions', 'reports']) await touch(db, table, 'run_after = created_at', 'run_after > now()');
    await touch(db, 'deliveries', `next_at = next_at - interval '1 day'`, `next_at > now() and status = 'pending'`);
  },
};

/** A sweeper with many crashes. */
export const REAPER: Part = { ...SWEEPER, dieAgain: SWEEPER.die!, dueAgain: SWEEPER.due! };

const hostsFallSilent: Operation = async ({ db }) => {
  const past = `lease_until = lease_until - interval '1 day'`;
  await touch(db, 'upload_leases', past, 'true');
  await touch(db, 'idempotency_keys', past, 'answer is null');
};

/** A second sweeper, for leftovers of uploads and of finished work. */
export const KEEPER: Part = {
  hostsFallSilent,
  async hostsDie(actor, world) {
    await hostsFallSilent(actor, world);
    await sweepUploads(actor.db, null);
  },
  sweepUploads: ({ db }) => sweepUploads(db, null),
  async leftovers({ db }, world) {
    for (const media of await leftoverMedia(db)) await removeMedia(engineOf(db, world), media);
  },
  orphans: ({ db, turn }, world) => removeOrphans(db, world, turn),
  async midnight({ db }) {
    await db.query('*', 'delete from counters where ctid in (select ctid from counters for update skip locked)');
  },
  async retention({ db, chance }, { spool }) {
    const old = `created_at = created_at - interval '2 days'`;
    const over = `status in ('completed', 'failed', 'insufficient_balance')
      and not exists (select from idempotency_keys k where k.transcription_id = transcriptions.id and k.answer is null)`; // no upload takes days
    if (chance.random() < 0.3) await touch(db, 'transcriptions', old, over);
    for (const { id } of await expireTranscripts(db, 1)) spool.delete(id);
  },
};

/** A sweeper with short days. */
export const NIGHT: Part = { ...KEEPER, midnightAgain: KEEPER.midnight!, nextMidnight: KEEPER.midnight! };

/** Like engine/tasks/sweep.ts: deletes files that two consecutive sweeps found unneeded. */
export async function removeOrphans(db: Db, world: World, turn: Actor['turn']): Promise<void> {
  await sweepUploads(db, null);
  const free = await unneeded(db, [...world.spool]);
  await turn('look');
  for (const id of free) if (world.orphans.has(id)) world.spool.delete(id);
  world.orphans = new Set(free);
}

/** Changes only rows that are not locked, so that it never waits for a lock. */
function touch(db: Db, table: string, change: string, where: string, parameters: unknown[] = []): Promise<unknown> {
  const free = `select ctid from ${table} where ${where} for update skip locked`;
  return db.query('*', `update ${table} set ${change} where ctid in (${free})`, parameters);
}
