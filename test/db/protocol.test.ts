/*
 * The protocol of uploads, leases and charges as a simulation: engines, clients and a sweeper on real connections, interleaved statement by
 * statement by a seeded scheduler, with faults: engines that stall past their lease and go on, work finished twice, commits that fail or whose
 * answer is lost, clients that repeat and delete, minutes that run out. A failure prints its seed: SEED=n SCHEDULES=1 repeats it.
 *
 * That it would notice, was tried by breaking the protocol by hand, one way at a time, from SEED=1 on:
 *
 *   broken                                                 found by schedule … as
 *   row lock of the workspace at dispatch                  7         more at work than the workspace may
 *   row lock of the balance                                32        more reserved than there is
 *   lease token when work ends (hold)                      10        done by one who does not hold it
 *   row lock when work ends (hold)                         11        deadlock detected
 *   lease token of a probe's end, of handing back          4, 7      done by one who does not hold it
 *   lease token of signs of life                           16        told to hold what another holds
 *   token of a checkpoint, of a key given back             1, 29     done by one who does not hold it
 *   signs of life prolong nothing                          6         a sign of life that does not prolong the lease
 *   a stop counts as a failure, a failure does not         3, 4      a stop that counts as a failure …
 *   one try too few                                        4         given up before the last try
 *   taking does not count, deaths do not                   1, 3      taken without counting the try …
 *   a fourth death, a third one of a report                16, 12    three engines died of it, and it goes on
 *   a sweep without row locks                              13        charged without being completed
 *   no row lock at taking a report, a probe, a delivery    2, 4, 2   taken from one who holds it …
 *   a lease is no bar at dispatch                          1         taken from one who holds it
 *   back-off of reports is not kept                        21        taken before its time
 *   charged without release, minutes released twice        1, 1      a reservation of what is not at work …
 *   no release at the end, or by deletion                  1, 2      a reservation of what is not at work
 *   charged is what was declared                           1         a charge that is not that of its length
 *   lease token of a report's end                          10        done by one who does not hold it
 *   a key outlives its refused file                        3         an answer for a file that is not there
 *   a key is claimed though it is held, token of keys      1, 22     two files under one key …
 *   deletion, retention leave the key                      3, 2      an answer for a file that is not there
 *   living uploads, their files or media are swept         2, 20, 1  a recording is gone that is still needed …
 *   a failed upload keeps its place, its key               1, 2      a place or a key that nobody gave back
 *   an unsure upload removes its file                      1         a recording is gone that is still needed
 *   webhooks not told of failures, of reports that fail so 1, 1      an end of which webhooks were not told once
 *   attempt when a delivery is settled                     13        done by one who does not hold it
 *   row lock when reports are asked for                    4         duplicate key
 *   cap of reports: no lock by requests, uploads in flight 16, 18    more reports in a day than the workspace may
 *
 * Not found by 40 schedules: a place that is not counted under its lock or not needed at the end, the lock of the cap of reports by an upload (by 35
 * of an earlier form), one try too many (by 25 of one), a second death that ends. Back-offs elapse in real time, so a slow machine finds less of them.
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
