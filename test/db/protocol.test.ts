/*
 * The protocol of uploads, leases and charges as a simulation: engines, clients and a sweeper on real connections, interleaved statement by
 * statement by a seeded scheduler, with faults: engines that stall past their lease and go on, work finished twice, commits that fail or whose
 * answer is lost, clients that repeat and delete, minutes that run out. A failure prints its seed: SEED=n SCHEDULES=1 repeats it.
 *
 * That it would notice, was tried by breaking the protocol by hand, one way at a time, from SEED=1 on:
 *
 *   broken                                            found by schedule … as
 *   row lock of the workspace at dispatch             1    more at work than the workspace may
 *   row lock of the balance                           62   more reserved than there is
 *   lease token when work ends (hold)                 11   ended by one who does not hold it
 *   token, status and the unique charge               2    charged twice
 *   row lock when work ends (hold)                    4    ended by one who does not hold it
 *   lease token of signs of life                      42   told to hold what another holds
 *   signs of life prolong nothing                     6    a sign of life that does not prolong the lease
 *   a stop counts as a failure                        1    a stop that counts as a failure
 *   a failure does not count                          3    a failed try that does not count
 *   one try too many                                  25   tried again after the last try
 *   taking does not count                             1    taken without counting the try
 *   a sweep of the living                             3    the living were taken for dead
 *   deaths are not counted                            6    a death that is not counted
 *   a fourth death                                    26   three engines died of it, and it goes on
 *   work without a slot is ended (status in hold)     6    completed without having had a slot
 *   charged without release                           1    a reservation of what is not at work
 *   minutes released twice                            4    a balance that is not grants minus charges
 *   no release at the end, or by deletion             4, 3 a reservation of what is not at work
 *   a key is claimed though it is held                1    two files under one key
 *
 * Not found by 60: the lease token of a probe's end or of handing back left out, one try too few.
 */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { ApiError } from '../../api/contract/errors.ts';
import { claimReport, completeReport } from '../../db/reportwork.ts';
import { complete } from '../../db/settle.ts';
import { leftoverMedia, reclaimReports, reclaimTranscriptions } from '../../db/sweep.ts';
import { claimNext, claimProbe, probed } from '../../db/work.ts';
import { removeMedia } from '../../engine/tasks/media.ts';
import { testDatabase } from '../support/database.ts';
import { type Actor, Fault, openStage } from '../support/interleave.ts';
import { SEED, type Seeded, seeded } from '../support/seeded.ts';
import { finished, openBench } from '../support/work.ts';
import { CLIENT } from './protocol/clients.ts';
import { CLERK, ENGINE } from './protocol/engines.ts';
import { broken, watch } from './protocol/promises.ts';
import { KEEPER, removeOrphans, SWEEPER } from './protocol/sweepers.ts';
import { engineOf, MINUTE, type Part, type World } from './protocol/world.ts';

const SCHEDULES = Number(process.env.SCHEDULES ?? 40);
const OPERATIONS = 9; // of each actor
const PARTS: readonly Part[] = [ENGINE, ENGINE, ENGINE, CLERK, CLERK, CLIENT, CLIENT, SWEEPER, KEEPER];

const { db, url } = await testDatabase(t);
const bench = await openBench(db);
await watch(db, PARTS.indexOf(SWEEPER));
const stage = await openStage(t, url, PARTS.length);

/** One schedule. Returns what it broke. */
async function play(seed: number): Promise<string[]> {
  const chance = seeded(seed);
  const world = await begin(chance);
  const failures = new Set<string>();
  const act = (part: Part) => async (actor: Actor) => {
    for (let i = 0; i < OPERATIONS && !failures.size; i++) {
      const name = actor.chance.pick(Object.keys(part))!;
      try {
        const seen = await part[name]!(actor, world);
        if (typeof seen === 'string') failures.add(seen);
      } catch (error) {
        if (!(error instanceof Fault) && !(error instanceof ApiError)) failures.add(`${name}: ${error}`);
      }
    }
  };
  const check = async () => {
    for (const what of await broken(db, world.spool)) failures.add(what);
  };
  await stage.play(seed, PARTS.map(act), check);
  if (!failures.size) for (const what of await end(world)) failures.add(what);
  return [...failures];
}

/** Two workspaces with a webhook and recordings, some of which have seen failures and deaths already. */
async function begin(chance: Seeded): Promise<World> {
  await db.system(async (tx) => {
    for (const table of ['workspaces', 'ledger', 'witness', 'done']) await tx.rows(`delete from ${table}`);
  });
  const workspaces: string[] = [];
  const world: World = {
    bench,
    workspaces,
    spool: new Set(),
    orphans: new Set(),
    dead: new Set(),
    recordings: [],
    reports: [],
    deliveries: [],
  };
  for (let i = 0; i < 2; i++) workspaces.push(await bench.workspace({ minutes: 1 + chance.below(7), concurrency: 1 + chance.below(3) }));
  await db.read('*', `insert into webhooks (workspace_id, url, secret_sealed) select id, 'https://example.org', '' from workspaces`);
  for (let i = 0; i < 5; i++) {
    const reports = ['summary', 'follow-up'].filter(() => chance.random() < 0.5);
    const seconds = chance.random() < 0.3 ? null : MINUTE; // null: not probed yet
    const key = `start ${i}`;
    const id = await bench.transcription(chance.pick(workspaces)!, { seconds, reports, key });
    const past = [key, chance.below(4), chance.below(3), id];
    await db.read('*', 'update transcriptions set external_id = ?, attempt = ?, deaths = ? where id = ?::uuid', past);
    await db.read('*', 'update reports set deaths = ? where transcription_id = ?::uuid', [chance.below(3), id]);
    world.spool.add(id);
  }
  for (let i = chance.below(3); i > 0; i--) {
    const claim = await claimNext(db, { engineId: randomUUID(), longest: null });
    if (claim && 'lease' in claim) await complete(db, claim.lease, finished(MINUTE));
  }
  return world;
}

/** Lets one healthy engine end what is left: then everything is over, nothing is reserved and no file is left. */
async function end(world: World): Promise<string[]> {
  const engineId = randomUUID();
  const kept = await db.read<{ id: string }>(
    '*',
    'select id from upload_leases union select transcription_id from idempotency_keys where answer is null',
  );
  const leak = kept.some(({ id }) => !world.dead.has(id)) ? ['a place or a key that nobody gave back'] : [];
  const past = `lease_until = clock_timestamp() - interval '1 second'`;
  for (const table of ['transcriptions', 'reports']) await db.read('*', `update ${table} set ${past} where lease_token is not null`);
  await db.read('*', `update upload_leases set ${past}`);
  await reclaimTranscriptions(db);
  await reclaimReports(db);
  await bench.due();
  for (let claim = await claimProbe(db, engineId); claim; claim = await claimProbe(db, engineId))
    await probed(db, claim.lease, { durationSeconds: MINUTE, mediaType: 'audio' });
  for (;;) {
    const claim = await claimNext(db, { engineId, longest: null });
    if (!claim) break;
    if ('lease' in claim) await complete(db, claim.lease, finished(claim.durationSeconds ?? 0));
  }
  for (let claim = await claimReport(db, engineId); claim; claim = await claimReport(db, engineId))
    await completeReport(db, bench.vault, claim, 'what was said');
  for (const media of await leftoverMedia(db)) await removeMedia(engineOf(db, world), media);
  for (let twice = 0; twice < 2; twice++) await removeOrphans(db, world, async () => {});
  const [left] = await db.read<Record<string, number>>(
    '*',
    `select (select count(*) from transcriptions where status in ('queued', 'processing'))::int as open,
       (select count(*) from reports where status in ('queued', 'processing'))::int as reports,
       (select count(*) from reservations)::int as reservations, (select count(*) from upload_leases)::int as uploads,
       (select count(*) from transcriptions where media_key_sealed is not null)::int as keys`,
  );
  const held = Object.entries({ ...left, files: world.spool.size }).filter(([, count]) => count);
  return [...leak, ...held.map(([what, count]) => `left in the end: ${count} ${what}`), ...(await broken(db, world.spool))];
}

t.test('uploads, leases and charges keep every promise under any interleaving', async (t) => {
  const failures: string[] = [];
  for (let seed = SEED; seed < SEED + SCHEDULES && failures.length < 3; seed++) {
    for (const what of await play(seed)) failures.push(`SEED=${seed} (schedule ${seed - SEED + 1}): ${what}`);
    if ((seed - SEED) % 100 === 99) t.comment(`${seed - SEED + 1} schedules, ${failures.length} failures`);
  }
  t.strictSame(failures, [], `${SCHEDULES} schedules from SEED=${SEED}`);
});
