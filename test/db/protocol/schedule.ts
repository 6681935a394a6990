/* Setup, actors and end of a schedule in the simulation of uploads, leases and charges. */
import { randomBytes, randomUUID } from 'node:crypto';
import { LEASE, LIMITS } from '../../../api/contract/limits.ts';
import { claimNext, claimProbe, probed } from '../../../db/jobs/claim.ts';
import { complete } from '../../../db/jobs/complete.ts';
import { leftoverMedia, reclaimReports, reclaimTranscriptions } from '../../../db/jobs/sweep.ts';
import { claimReport, completeReport } from '../../../db/reports/work.ts';
import { removeMedia } from '../../../engine/tasks/media.ts';
import { type Bench, finished } from '../../support/engine/work.ts';
import type { Seeded } from '../../support/seeded.ts';
import { CLIENT, EAGER } from './clients.ts';
import { CLERK, ENGINE, UNLUCKY } from './engines.ts';
import { broken } from './promises.ts';
import { KEEPER, NIGHT, REAPER, removeOrphans, SWEEPER } from './sweepers.ts';
import { restart } from './time.ts';
import { engineOf, MINUTE, type Part, uuid, type World } from './world.ts';

/** The actors and their environment. */
interface Cast {
  parts: readonly Part[];
  /** Maximum number of workspaces. */
  workspaces: number;
  recordings: number;
  /** Minutes per workspace: minimum, and exclusive maximum. */
  minutes: readonly [number, number];
  /** Limits per workspace: uploads in flight, uploads and reports per day. */
  caps: readonly [number, number, number];
  /** Earlier attempts and deaths of recordings. */
  attempts: readonly number[];
  deaths: readonly number[];
}

const USUAL: Cast = {
  parts: [ENGINE, ENGINE, ENGINE, CLERK, CLERK, CLIENT, CLIENT, SWEEPER, KEEPER],
  ...{ workspaces: 2, recordings: 5, minutes: [1, 8], caps: [2, 100, 2], attempts: [0, 1, 2, 3], deaths: [0, 1, 2] },
};
/** Many clients compete for the last slot. */
const CROWD: Cast = {
  parts: [ENGINE, ENGINE, CLERK, EAGER, EAGER, EAGER, EAGER, SWEEPER, NIGHT],
  ...{ workspaces: 1, recordings: 5, minutes: [20, 21], caps: [1, 3, 1], attempts: [0], deaths: [0] },
};
/** Engines fail in every operation. */
const TROUBLE: Cast = {
  parts: [UNLUCKY, UNLUCKY, UNLUCKY, UNLUCKY, CLERK, CLERK, CLIENT, REAPER, KEEPER],
  ...{
    workspaces: 1,
    recordings: 8,
    minutes: [2, 8],
    caps: [2, 100, 2],
    attempts: [2, LEASE.attempts - 1],
    deaths: [0, 1, LEASE.engineDeaths - 1],
  },
};
const CASTS = [USUAL, CROWD, TROUBLE];

export const ACTORS = USUAL.parts.length;
/** Number of the first sweeper. */
export const SWEEPERS = USUAL.parts.indexOf(SWEEPER);

export const castOf = (seed: number): Cast => CASTS[seed % CASTS.length]!;

/** Workspaces with a webhook and recordings, some with earlier failures and deaths. */
export async function begin(bench: Bench, chance: Seeded): Promise<World> {
  const { db } = bench;
  const cast = castOf(chance.seed);
  await db.acrossTenants(async (tx) => {
    for (const table of ['workspaces', 'ledger', 'witness', 'done']) await tx.rows(`delete from ${table}`);
  });
  await restart(db, chance.seed);
  const [UPLOADS_PER_WORKSPACE, UPLOADS_PER_DAY, REPORTS_PER_DAY] = cast.caps;
  const world: World = {
    bench,
    limits: { ...LIMITS, UPLOADS_PER_WORKSPACE, UPLOADS_PER_DAY, REPORTS_PER_DAY },
    ...{ workspaces: [], spool: new Set(), dead: new Set(), orphans: new Set(), recordings: [], reports: [], deliveries: [] },
  };
  const { workspaces } = world;
  const [least, below] = cast.minutes;
  while (workspaces.length < cast.workspaces) {
    const minutes = least + chance.below(below - least);
    workspaces.push(await bench.workspace({ minutes, concurrency: 1 + chance.below(3) }));
  }
  await db.query('*', `insert into webhooks (workspace_id, url, secret_sealed) select id, 'https://example.org', '' from workspaces`);
  for (let i = 0; i < cast.recordings; i++) {
    const reports = ['summary', 'follow-up'].filter(() => chance.random() < 0.5);
    const seconds = chance.random() < 0.3 ? null : MINUTE; // null: not probed yet
    const key = `start ${i}`;
    const media = { id: uuid(chance), extension: 'mp3', key: randomBytes(32), bytes: 2048 };
    const id = await bench.transcription(chance.pick(workspaces)!, { seconds, reports, key, media });
    const past = [key, chance.pick(cast.attempts), chance.pick(cast.deaths), id];
    await db.query('*', 'update transcriptions set external_id = ?, attempt = ?, deaths = ? where id = ?::uuid', past);
    await db.query('*', 'update reports set deaths = ? where transcription_id = ?::uuid', [chance.pick(cast.deaths), id]);
    world.spool.add(id);
  }
  for (let i = chance.below(3); i > 0; i--) {
    const claim = await claimNext(db, { engineId: randomUUID(), shortOnly: false });
    if (claim && 'lease' in claim) await complete(db, claim.lease, finished(MINUTE));
  }
  return world;
}

/** Lets one healthy engine finish the remaining work; afterwards nothing is reserved and no file is left. */
export async function end(world: World): Promise<string[]> {
  const { bench, limits, spool } = world;
  const { db } = bench;
  const engineId = randomUUID();
  const kept = await db.query<{ id: string }>(
    '*',
    'select id from upload_leases union select transcription_id from idempotency_keys where answer is null',
  );
  const leak = kept.some(({ id }) => !world.dead.has(id)) ? ['a slot or key not released'] : [];
  const past = `lease_until = clock_timestamp() - interval '1 second'`;
  await db.query('*', `update leases set until = clock_timestamp() - interval '1 second'`);
  await db.query('*', `update upload_leases set ${past}`);
  await reclaimTranscriptions(db);
  await reclaimReports(db);
  await bench.due();
  for (let claim = await claimProbe(db, engineId); claim; claim = await claimProbe(db, engineId))
    await probed(db, claim.lease, { durationSeconds: MINUTE, mediaType: 'audio' });
  for (;;) {
    const claim = await claimNext(db, { engineId, shortOnly: false });
    if (!claim) break;
    if ('lease' in claim) await complete(db, claim.lease, finished(claim.durationSeconds ?? 0));
  }
  for (let claim = await claimReport(db, engineId); claim; claim = await claimReport(db, engineId))
    await completeReport(db, bench.vault, claim, 'what was said');
  for (const media of await leftoverMedia(db)) await removeMedia(engineOf(db, world), media);
  for (let twice = 0; twice < 2; twice++) await removeOrphans(db, world, async () => {});
  const [left] = await db.query<Record<string, number>>(
    '*',
    `select (select count(*) from transcriptions where status in ('queued', 'processing'))::int as open,
       (select count(*) from reports where status in ('queued', 'processing'))::int as reports,
       (select count(*) from reservations)::int as reservations, (select count(*) from upload_leases)::int as uploads,
       (select count(*) from transcriptions where media_key_sealed is not null)::int as keys`,
  );
  const held = Object.entries({ ...left, files: spool.size }).filter(([, count]) => count);
  return [...leak, ...held.map(([what, count]) => `remaining at the end: ${count} ${what}`), ...(await broken(db, spool, limits))];
}
