import { randomUUID } from 'node:crypto';
import t from 'tap';
import { checkpointsOf } from '../../../db/jobs/checkpoints.ts';
import { type ClaimedTranscription, claimNext, claimProbe } from '../../../db/jobs/claim.ts';
import { complete, fail, mediaRemoved } from '../../../db/jobs/complete.ts';
import { buryDeadEngines, livingEngines, registerEngine } from '../../../db/jobs/engines.ts';
import { taskEnded } from '../../../db/jobs/fleet-tasks.ts';
import { beat } from '../../../db/jobs/heartbeat.ts';
import { requeue } from '../../../db/jobs/leases.ts';
import { unneeded } from '../../../db/jobs/orphans.ts';
import { expireTranscripts, forgetExpired, leftoverMedia, reclaimReports, reclaimTranscriptions } from '../../../db/jobs/sweep.ts';
import { claimReport, completeReport, failReport, loadSource } from '../../../db/reports/work.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { engineFacts, finished, openBench } from '../../support/engine/work.ts';

const { db } = await testDatabase(t);
const bench = await openBench(db);
const engineId = randomUUID();
const next = async () => (await claimNext(db, { engineId, shortOnly: false })) as ClaimedTranscription | null;

t.afterEach(() => db.acrossTenants((tx) => tx.rows('delete from transcriptions')));

const WRITING = { model: 'm', calls: { ok: 1 }, promptTokens: 1, completionTokens: 1, seconds: 1, dropped: 0 };
const VITALS = {
  ...{ polled: true, trouble: null, memoryBytes: 1, working: 0, finished: 0, failedDiarizations: 0, uncoveredSeconds: 0 },
  ...{ recognised: { 'gigaam-v3': { seconds: 90, failed: 0, unsure: 4 } }, writing: null },
};

t.test('reclaimTranscriptions() requeues work of a dead engine with its finished chunks and its reservation', async (t) => {
  const workspace = await bench.workspace({ minutes: 10, concurrency: 1 });
  const id = await bench.transcription(workspace);
  const first = (await next())!;
  await checkpointsOf(db, bench.vault, first.lease).save('window 1', Buffer.from('partial result'));
  t.strictSame(await reclaimTranscriptions(db), { handedOn: 0, ended: 0 }, 'an unexpired lease is kept');
  await bench.expire('transcriptions', id);
  t.strictSame(await reclaimTranscriptions(db), { handedOn: 1, ended: 0 });
  t.match(
    await bench.row('transcriptions', id),
    { status: 'processing', deaths: 1, lease_token: null },
    'the status does not return to queued',
  );
  const second = (await next())!;
  t.equal(second.lease.id, id);
  const chunks = await checkpointsOf(db, bench.vault, second.lease).load();
  t.equal(Buffer.from(chunks.get('window 1')!).toString(), 'partial result');
  await checkpointsOf(db, bench.vault, first.lease).save('window 2', Buffer.from('by the dead engine'));
  t.equal((await checkpointsOf(db, bench.vault, second.lease).load()).size, 1, 'the first holder can no longer write');
  t.equal(await complete(db, first.lease, finished(60)), 'lost');
  t.equal(await complete(db, second.lease, finished(60)), 'completed');
  t.equal(await bench.balance(workspace), 9);
  t.equal((await db.query('*', 'select 1 from checkpoints')).length, 0);
});

t.test('reclaimTranscriptions() fails a transcription with ENGINE_ERROR, free of charge, after three engines died on it', async (t) => {
  const workspace = await bench.workspace({ minutes: 10 });
  const id = await bench.transcription(workspace, { reports: ['summary'] });
  for (const [handedOn, ended] of [
    [1, 0],
    [1, 0],
    [0, 1],
  ] as const) {
    await bench.due();
    t.ok(await next());
    await bench.expire('transcriptions', id);
    t.strictSame(await reclaimTranscriptions(db), { handedOn, ended });
  }
  t.match(await bench.row('transcriptions', id), { status: 'failed', error_code: 'ENGINE_ERROR', deaths: 3 });
  t.match(await db.query('*', 'select status, error_code from reports where transcription_id = ?', [id]), [
    { status: 'failed', error_code: 'TRANSCRIPTION_FAILED' },
  ]);
  t.equal(await bench.balance(workspace), 10);
  t.equal((await db.query('*', 'select 1 from reservations')).length, 0);
});

t.test('reclaimTranscriptions() requeues a probe after its engine has died', async (t) => {
  const id = await bench.transcription(await bench.workspace(), { seconds: null });
  t.ok(await claimProbe(db, engineId));
  await bench.expire('transcriptions', id);
  await reclaimTranscriptions(db);
  t.match(await bench.row('transcriptions', id), { status: 'queued', deaths: 1 });
  t.ok(await bench.jobs('probe'));
  t.ok(await claimProbe(db, engineId));
});

t.test('requeue() requeues work immediately, and does not count an attempt when the engine stops', async (t) => {
  const id = await bench.transcription(await bench.workspace());
  const { lease } = (await next())!;
  t.equal(await db.acrossTenants((tx) => requeue(tx, lease, { blameless: true })), true);
  t.equal(await db.acrossTenants((tx) => requeue(tx, lease, { blameless: true })), false);
  const again = (await next())!;
  t.equal(again.attempt, 1);
  await db.acrossTenants((tx) => requeue(tx, again.lease, { seconds: 60 }));
  t.equal(await next(), null, 'the back-off applies');
  t.match(await bench.row('transcriptions', id), { attempt: 1, deaths: 0 });
});

t.test('leftoverMedia() finds media of finished transcriptions, and unneeded() files that no transcription needs', async (t) => {
  const workspace = await bench.workspace();
  const [ended, waiting, stranger, uploading] = [
    await bench.transcription(workspace),
    await bench.transcription(workspace),
    randomUUID(),
    randomUUID(),
  ];
  await fail(db, (await next())!.lease, 'FILE_CORRUPTED');
  t.strictSame(await leftoverMedia(db), [{ id: ended, workspaceId: workspace, extension: 'mp3' }]);
  const keep = (until: string) => db.query('*', `update transcriptions set media_until = ${until} where id = ?`, [ended]);
  await keep('now()');
  t.strictSame(await leftoverMedia(db), [], 'a kept recording is none');
  await keep('null');
  await db.acrossTenants((tx) =>
    tx.rows(
      `insert into upload_leases (id, workspace_id, node_id, lease_until) values (?, ?, gen_random_uuid(), now() + interval '1 minute')`,
      [uploading, workspace],
    ),
  );
  t.strictSame(await unneeded(db, [ended, waiting, stranger, uploading]), [stranger]);
  await db.acrossTenants((tx) => mediaRemoved(tx, { workspaceId: workspace, id: ended }));
  t.strictSame(await leftoverMedia(db), []);
  t.strictSame((await unneeded(db, [ended, waiting, stranger, uploading])).sort(), [stranger, ended].sort());
});

t.test('expireTranscripts() applies the shorter of the retention periods of the workspace and the installation', async (t) => {
  const [strict, lax] = [await bench.workspace(), await bench.workspace()];
  await db.acrossTenants((tx) => tx.rows('update workspaces set retention_days = 5 where id = ?', [strict]));
  const old = async (workspace: string, days: number) => {
    const id = await bench.transcription(workspace);
    await fail(db, (await next())!.lease, 'FILE_CORRUPTED');
    await db.acrossTenants((tx) =>
      tx.rows(`update transcriptions set created_at = now() - ?::int * interval '1 day' where id = ?`, [days, id]),
    );
    return id;
  };
  const [a, b, c] = [await old(strict, 6), await old(lax, 6), await old(lax, 11)];
  await old(strict, 4);
  t.strictSame(
    (await expireTranscripts(db, null)).map(({ id }) => id),
    [a],
  );
  const d = await old(strict, 7);
  t.strictSame((await expireTranscripts(db, 10)).map(({ id }) => id).sort(), [c, d].sort());
  t.ok(await bench.row('transcriptions', b));
});

t.test('expireTranscripts() deletes nothing that is not finished, and with a transcript its idempotency key', async (t) => {
  const workspace = await bench.workspace();
  const ids = [await bench.transcription(workspace), await bench.transcription(workspace), await bench.transcription(workspace)];
  const ended = (await next())!.lease;
  await fail(db, ended, 'FILE_CORRUPTED');
  const running = (await next())!.lease.id;
  await db.query('*', `update transcriptions set created_at = now() - interval '9 days'`);
  await db.query(
    '*',
    `insert into idempotency_keys (workspace_id, key, transcription_id, token, node_id, answer, expires_at)
     select ?, id::text, id, gen_random_uuid(), gen_random_uuid(), '{}', now() + interval '1 hour' from unnest(?::uuid[]) id`,
    [workspace, ids],
  );
  t.strictSame(
    (await expireTranscripts(db, 5)).map(({ id }) => id),
    [ended.id],
  );
  t.match(await bench.row('transcriptions', running), { status: 'processing' });
  const keys = await db.query<{ key: string }>('*', 'select key from idempotency_keys');
  t.strictSame(keys.map(({ key }) => key).sort(), ids.filter((id) => id !== ended.id).sort());
  await db.query('*', 'delete from idempotency_keys');
});

t.test('sweep: engines without a heartbeat are removed, and one that was removed by mistake registers again', async (t) => {
  const [dead, alive] = [randomUUID(), randomUUID()];
  await registerEngine(db, engineFacts(dead));
  await registerEngine(db, engineFacts(alive));
  const vitals = { ...VITALS, memoryBytes: 3_000_000_000, working: 1, finished: 2, uncoveredSeconds: 2.5, writing: WRITING };
  await db.acrossTenants((tx) => tx.rows(`update engines set last_seen = now() - interval '2 minutes' where id = ?`, [dead]));
  t.strictSame([...(await livingEngines(db, [dead, alive, 'unknown']))], [alive]);
  t.strictSame(await buryDeadEngines(db), [dead]);
  t.match(await beat(db, alive, vitals), { known: true, living: 0 });
  t.match(await beat(db, dead, vitals), { known: false });
  t.match(await bench.row('engines', alive), { memory_bytes: '3000000000', working: 1, uncovered_seconds: 2.5, last_poll: String });
  t.match(await bench.row('engines', alive), { recognised: VITALS.recognised });
});

t.test('beat() gives each due task of the fleet to one engine, and again after a while if that engine is killed', async (t) => {
  const engines = await Promise.all(Array.from({ length: 8 }, async () => randomUUID()));
  for (const id of engines) await registerEngine(db, engineFacts(id));
  const beats = async () => (await Promise.all(engines.map((id) => beat(db, id, VITALS)))).flatMap(({ tasks }) => tasks).sort();
  const set = (due: string) => db.query('*', `update fleet_tasks set due_at = clock_timestamp() + ?::interval`, [due]);
  await set('-1 second');
  t.strictSame(await beats(), ['sweep', 'tidy']);
  t.strictSame(await beats(), [], 'taken');
  t.match(await beat(db, engines[0]!, { ...VITALS, working: 2 }), { living: 9, idle: 9 });
  t.match(await beat(db, engines[0]!, VITALS), { living: 9, idle: 8 }, 'one engine has no free slot');
  await taskEnded(db, 'sweep', 20);
  t.strictSame(await beats(), ['sweep'], 'a long run is followed by the next');
  await taskEnded(db, 'sweep', 0);
  t.strictSame(await beats(), []);
  const [row] = await db.query<{ wait: number }>(
    '*',
    `select extract(epoch from due_at - clock_timestamp())::float8 as wait from fleet_tasks where name = 'sweep'`,
  );
  t.ok(row!.wait > 10 && row!.wait < 15, `due in ${row!.wait} s`);
  await set('4 minutes 1 second');
  t.strictSame(await beats(), ['sweep', 'tidy'], 'the clock was set back');
  t.strictSame((await beat(db, engines[0]!, { ...VITALS, writing: WRITING })).tasks, [], 'none for a courier');
  await db.query('*', 'delete from engines');
});

t.test('forgetExpired() runs on a full schema', async (t) => {
  await t.resolves(forgetExpired(db, null));
});

t.test('forgetExpired() removes what it can where rows of one kind cannot be removed, and reports these', async (t) => {
  const counters = () => db.query('*', `select 1 from counters where name = 'old'`);
  const workspace = await bench.workspace();
  await db.query('*', `insert into counters (workspace_id, name, day, count) values (?, 'old', '2020-01-01', 1)`, [workspace]);
  await db.direct(`create function refuse() returns trigger language plpgsql as $$ begin raise 'damaged'; end $$`);
  for (const table of ['upload_leases', 'previews', 'layers', 'oauth_clients'])
    await db.direct(`create trigger refused before delete on ${table} execute function refuse()`);
  await t.rejects(forgetExpired(db, null), /damaged/);
  t.strictSame(await counters(), []);
  for (const table of ['upload_leases', 'previews', 'layers', 'oauth_clients']) await db.direct(`drop trigger refused on ${table}`);
  await db.direct('drop function refuse');
});

t.test('claimReport() waits for the transcription, gives each report to one claimer and shares slots among workspaces', async (t) => {
  const [a, b] = [await bench.workspace(), await bench.workspace()];
  const ids = [
    await bench.transcription(a, { reports: ['summary', 'quotes', 'tasks'] }),
    await bench.transcription(b, { reports: ['summary'] }),
  ];
  t.equal(await claimReport(db, engineId), null);
  for (let i = 0; i < 2; i++) await complete(db, (await next())!.lease, finished(60));
  const first = (await claimReport(db, engineId))!;
  const second = (await claimReport(db, engineId))!;
  t.not(first.lease.workspaceId, second.lease.workspaceId);
  const claims = await Promise.all(Array.from({ length: 6 }, () => claimReport(db, engineId)));
  const rest = claims.filter((claim) => claim !== null);
  for (let claim = await claimReport(db, engineId); claim; claim = await claimReport(db, engineId)) rest.push(claim);
  t.equal(rest.length, 2);
  const mine = [first, second].find((claim) => claim.transcriptionId === ids[0])!;
  t.equal(await completeReport(db, bench.vault, { ...mine, lease: { ...mine.lease, token: randomUUID() } }, 'stale'), false);
  t.equal(await completeReport(db, bench.vault, mine, '**Done**'), true);
  const row = await bench.row<{ status: string; text_sealed: Buffer }>('reports', mine.lease.id);
  t.equal(row!.status, 'completed');
  t.equal(await bench.vault.text(a, `reports|${mine.lease.id}|text`, row!.text_sealed), '**Done**');
  t.equal(await failReport(db, rest[0]!, 'LLM_TIMEOUT'), true);
  t.match(await bench.row('reports', rest[0]!.lease.id), { status: 'failed', error_code: 'LLM_TIMEOUT', text_sealed: null });
  t.equal(await loadSource(db, bench.vault, { ...mine, transcriptionId: randomUUID() }), null);
});

t.test('reclaimReports() fails a report with INTERNAL_ERROR after three engines died on it', async (t) => {
  const workspace = await bench.workspace();
  await bench.transcription(workspace, { reports: ['summary'] });
  await complete(db, (await next())!.lease, finished(60));
  let id = '';
  for (let death = 1; death <= 3; death++) {
    await bench.due();
    id = (await claimReport(db, engineId))!.lease.id;
    await bench.expire('reports', id);
    await reclaimReports(db);
  }
  t.match(await bench.row('reports', id), { status: 'failed', error_code: 'INTERNAL_ERROR', deaths: 3 });
});
