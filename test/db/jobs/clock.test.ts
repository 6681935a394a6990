import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type ClaimedTranscription, claimNext } from '../../../db/jobs/claim.ts';
import { correctTimes, databaseSeconds, hasTimesAhead, openClockWatch } from '../../../db/jobs/clock.ts';
import { registerEngine } from '../../../db/jobs/engines.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { engineFacts, openBench } from '../../support/engine/work.ts';

const { db } = await testDatabase(t);
const bench = await openBench(db);

t.test('databaseSeconds() returns the time of the database', async (t) => {
  const [row] = await db.query<{ near: boolean }>('*', `select abs(extract(epoch from now()) - ?::float8) < 5 as near`, [
    await databaseSeconds(db),
  ]);
  t.ok(row!.near);
});

t.test(
  'openClockWatch() bounds the true time until all processes have had time to renew their leases, if the clock is set ahead',
  async (t) => {
    let [monotonic, set] = [100, 0]; // the second: by how many seconds the clock was set
    const timeless = { query: async () => [{ seconds: 5000 + monotonic + set }] } as unknown as typeof db;
    const watch = openClockWatch(timeless, () => monotonic);
    t.equal(watch.latest(), null, 'before the first reading');
    t.equal(await watch.read(), null);
    t.equal(watch.latest(), 5105);
    monotonic = 160;
    t.equal(watch.latest(), 5165, 'advances without a reading');
    set = 4;
    t.equal(await watch.read(), 0, 'within the leeway');
    set += 600;
    t.equal(watch.latest(), 5169, 'not yet noticed');
    t.equal(await watch.read(), 600);
    t.equal(watch.latest(), 5169);
    monotonic += 15;
    t.equal(await watch.read(), 0);
    t.equal(watch.latest(), 5184, 'a second reading does not end the wait');
    set += 300;
    t.equal(await watch.read(), 300);
    monotonic += 10;
    t.equal(watch.latest(), 5194, 'a second leap prolongs it');
    monotonic += 11;
    t.equal(watch.latest(), 5205 + 900, 'all have renewed their leases');
    set += 60;
    t.equal(await watch.read(), 60);
    set -= 1000;
    t.equal(await watch.read(), -1000);
    t.equal(watch.latest(), 5165, 'a clock that was set back is followed at once');
  },
);

t.test('correctTimes() corrects timestamps left in the future when the clock was set back by ten minutes, and nothing else', async (t) => {
  const workspace = await bench.workspace({ concurrency: 1 });
  const [held, waiting] = [await bench.transcription(workspace), await bench.transcription(workspace)];
  const claim = (await claimNext(db, { engineId: randomUUID(), shortOnly: false })) as ClaimedTranscription;
  t.equal(claim.lease.id, held);
  await registerEngine(db, engineFacts());
  t.equal(await correctTimes(db), 0, 'no timestamps in the future');
  const write = (sql: string) => db.query('*', sql);
  await write(`update transcriptions set run_after = run_after + interval '10 minutes'`);
  await write(`update leases set until = until + interval '10 minutes'`);
  await write(`update engines set last_seen = last_seen + interval '10 minutes'`);
  await write(`insert into upload_leases (id, workspace_id, node_id, lease_until)
    select gen_random_uuid(), id, gen_random_uuid(), now() + interval '11 minutes' from workspaces`);
  await write(`insert into idempotency_keys (workspace_id, key, transcription_id, token, node_id, lease_until)
    select id, 'k', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now() + interval '11 minutes' from workspaces`);
  await write(`insert into idempotency_keys (workspace_id, key, transcription_id, token, node_id, answer, expires_at)
    select id, 'kept', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '{}', now() + interval '1 day' from workspaces`);
  t.equal(await correctTimes(db), 6);
  const [row] = await db.query(
    '*',
    `select (select until <= now() + interval '61 seconds' from leases where subject = ?) as lease,
       (select run_after <= clock_timestamp() from transcriptions where id = ?) as due,
       (select last_seen <= clock_timestamp() from engines) as engine,
       (select lease_until <= now() + interval '61 seconds' from upload_leases) as place,
       (select lease_until <= now() + interval '61 seconds' from idempotency_keys where key = 'k') as key,
       (select expires_at > now() + interval '23 hours' from idempotency_keys where key = 'kept') as kept`,
    [held, waiting],
  );
  t.strictSame(row, { lease: true, due: true, engine: true, place: true, key: true, kept: true });
});

t.test('correctTimes() accepts leases 65 s ahead, back-offs 105 s, engines and host faults 5 s, and corrects later ones', async (t) => {
  for (const [column, table, within, beyond, noticed] of [
    ['until', 'leases', 64, 78, true],
    ['lease_until', 'upload_leases', 64, 78, false],
    ['due_at', 'turns', 104, 110, true],
    ['run_after', 'transcriptions', 104, 110, false],
    ['last_seen', 'engines', 4, 18, false],
    ['host_fault_at', 'transcriptions', 4, 18, false],
  ] as const) {
    const set = (seconds: number) =>
      db.query('*', `update ${table} set ${column} = clock_timestamp() + interval '${seconds} seconds' returning 1`);
    await set(within);
    t.equal(await hasTimesAhead(db), false, `${table} ${within} s ahead`);
    t.equal(await correctTimes(db), 0, `${table} ${within} s ahead`);
    const { length } = await set(beyond);
    t.equal(await hasTimesAhead(db), noticed, `${table} ${beyond} s ahead`);
    t.equal(await correctTimes(db), length, `${table} ${beyond} s ahead`);
  }
});

t.test('correctTimes() corrects when workspaces were served, so that none is passed over until the clock has caught up', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from transcriptions'));
  const [served, other] = [await bench.workspace(), await bench.workspace()];
  const claims = async () => {
    const claim = (await claimNext(db, { engineId: randomUUID(), shortOnly: false })) as ClaimedTranscription;
    return claim.lease.workspaceId;
  };
  const ahead = (table: string, column: string) =>
    db.query('*', `update ${table} set served_at = now() + interval '10 minutes' where ${column} = ?::uuid`, [served]);
  const late = async (table: string) =>
    (await db.query<{ late: boolean }>('*', `select exists (select from ${table} where served_at > clock_timestamp()) as late`))[0]!.late;
  for (const workspace of [served, other, other]) await bench.transcription(workspace, { reports: ['tasks'] });
  for (const [table, column, noticed] of [
    ['workspaces', 'id', false],
    ['turns', 'workspace_id', true],
    ['report_turns', 'workspace_id', true],
  ] as const) {
    await ahead(table, column);
    t.equal(await hasTimesAhead(db), noticed, table);
    t.equal(await correctTimes(db), 1, table);
    t.notOk(await late(table), table);
    t.equal(await hasTimesAhead(db), false);
  }
  await ahead('workspaces', 'id');
  await ahead('turns', 'workspace_id');
  await correctTimes(db);
  t.strictSame([await claims(), await claims(), await claims()], [other, served, other], 'in turn');
});

t.test('correctTimes() corrects leases of search and metrics, previews and orphans, and keeps shorter ones', async (t) => {
  const workspace = await bench.workspace();
  const waiting = await bench.transcription(workspace);
  const write = (sql: string, parameters: unknown[] = []) => db.query('*', sql, parameters);
  await write('insert into search_states (workspace_id, key_version, merged_until) values (?, 1, now())', [workspace]);
  await write('insert into search_waiting (workspace_id, transcription_id) values (?, ?)', [workspace, waiting]);
  await write(`insert into members (workspace_id, email, role) values (?, 'p@example.org', 'owner')`, [workspace]);
  await write(
    `insert into previews (workspace_id, member_id, slug, name) select workspace_id, id, 'tasks', 'Tasks' from members where workspace_id = ?`,
    [workspace],
  );
  await write(`insert into metrics_source (name, node_id, until) values ('installation', gen_random_uuid(), now())`);
  await write('delete from spool_orphans'); // those of other tests
  await write(`insert into spool_orphans (name) values (gen_random_uuid() || '.mp3')`);
  for (const [table, column, attempt, within, beyond, corrected] of [
    ['metrics_source', 'until', null, 94, 100, 90],
    ['spool_orphans', 'seen_at', null, 4, 10, 0],
    ['search_states', 'merged_until', null, 124, 130, 120],
    ['search_waiting', 'due_at', 0, 4, 10, 0],
    ['search_waiting', 'due_at', 3, 184, 190, 0],
    ['previews', 'run_after', null, 104, 110, 0],
  ] as const) {
    const set = (seconds: number) =>
      write(
        `update ${table} set ${column} = clock_timestamp() + ?::float8 * interval '1 second'${attempt === null ? '' : `, attempt = ${attempt}`}`,
        [seconds],
      );
    await set(within);
    t.equal(await correctTimes(db), 0, `${table} ${within} s ahead`);
    await set(beyond);
    const start = performance.now();
    t.equal(await correctTimes(db), 1, `${table} ${beyond} s ahead`);
    const [row] = await write(`select extract(epoch from ${column} - clock_timestamp())::float8 as seconds from ${table}`);
    const { seconds } = row as { seconds: number };
    const passed = (performance.now() - start) / 1000;
    t.ok(seconds <= corrected && seconds > corrected - 3 - passed, `${table}: ${seconds} s`);
  }
  await write(`update search_waiting set due_at = 'infinity', attempt = 5`);
  t.equal(await correctTimes(db), 0, 'a transcript that is not tried again');
});

t.test('correctTimes() lets a recording be kept for its term from now on if it was completed while the clock was ahead', async (t) => {
  const id = await bench.transcription(await bench.workspace());
  const [first] = await db.query<{ completed: Date }>(
    '*',
    `update transcriptions set status = 'completed', completed_at = now() + interval '9 days', media_until = now() + interval '14 days' where id = ?
     returning clock_timestamp() as completed`,
    [id],
  );
  t.equal(await correctTimes(db), 1);
  const [row] = await db.query<{ now: Date; completed: Date; days: number }>(
    '*',
    `select clock_timestamp() as now, completed_at as completed, extract(epoch from media_until - completed_at)::float8 / 86400 as days
     from transcriptions where id = ?`,
    [id],
  );
  const { now, completed, days } = row!;
  t.ok(new Date(completed) >= new Date(first!.completed) && new Date(completed) <= new Date(now));
  t.ok(Math.abs(days - 5) < 0.001, `${days} days`);
});
