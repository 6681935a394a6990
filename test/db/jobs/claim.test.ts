import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type ClaimedTranscription, claimNext, claimProbe, probed } from '../../../db/jobs/claim.ts';
import { complete, fail, raise } from '../../../db/jobs/complete.ts';
import { renew, requeue } from '../../../db/jobs/leases.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { finished, openBench } from '../../support/engine/work.ts';
import { eventually } from '../../support/processes/service.ts';

const { db } = await testDatabase(t);
const bench = await openBench(db);
const engineId = randomUUID();
const next = async (shortOnly = false) => (await claimNext(db, { engineId, shortOnly })) as ClaimedTranscription | null;

/** Claims transcriptions until there is none left to claim. */
async function drain(shortOnly = false): Promise<ClaimedTranscription[]> {
  const claims: ClaimedTranscription[] = [];
  for (let claim = await next(shortOnly); claim; claim = await next(shortOnly)) claims.push(claim);
  return claims;
}

const clear = () => db.acrossTenants((tx) => tx.rows('delete from transcriptions'));
t.afterEach(clear);

t.test('claimNext() gives each transcription to one of many claimers, within the concurrency of its workspace', async (t) => {
  const workspace = await bench.workspace({ concurrency: 3 });
  for (let i = 0; i < 6; i++) await bench.transcription(workspace);
  const claims = (await Promise.all(Array.from({ length: 12 }, () => next()))).filter((claim) => claim !== null);
  const rest = await drain(); // those that concurrent claimers skipped because they were locked
  const ids = [...claims, ...rest].map((claim) => claim.lease.id);
  t.equal(ids.length, 3);
  t.equal(new Set(ids).size, 3);
  await complete(db, [...claims, ...rest][0]!.lease, finished(60));
  t.equal((await drain()).length, 1, 'a released slot is taken once');
});

t.test('claimNext() resumes interrupted work that was not due when an engine asked, without a free slot', async (t) => {
  const workspace = await bench.workspace({ concurrency: 1 });
  for (let i = 0; i < 2; i++) await bench.transcription(workspace);
  const { lease } = (await next())!;
  await db.workspace(workspace, (tx) => requeue(tx, lease, { seconds: 5 }));
  t.equal(await next(), null, 'it is not due yet, and keeps the only slot');
  t.equal((await eventually(next, 'its time')).lease.id, lease.id);
});

t.test('claimNext() serves workspaces round-robin, each in the order of its uploads', async (t) => {
  const [a, b] = [await bench.workspace({ concurrency: 10 }), await bench.workspace({ concurrency: 10 })].sort() as [string, string]; // a: first in a tie
  const many: string[] = [];
  for (let i = 0; i < 4; i++) many.push(await bench.transcription(a));
  const few = [await bench.transcription(b), await bench.transcription(b)];
  const ids = (await drain()).map((claim) => claim.lease.id);
  t.strictSame(
    ids.filter((id) => many.includes(id)),
    many,
  );
  t.strictSame(
    ids.filter((id) => few.includes(id)),
    few,
  );
  t.ok(ids.indexOf(few[1]!) <= 3, 'the small batch does not wait for the large one');
});

t.test('claimNext() skips recordings longer than two minutes when asked for short ones', async (t) => {
  const workspace = await bench.workspace();
  await bench.transcription(workspace, { seconds: 120.001 });
  const short = await bench.transcription(workspace, { seconds: 120 });
  t.strictSame(
    (await drain(true)).map((claim) => claim.lease.id),
    [short],
  );
  t.equal((await drain()).length, 1);
});

t.test('claimNext() reserves the probed minutes, and fails a recording that the balance does not cover', async (t) => {
  const workspace = await bench.workspace({ minutes: 2.5 });
  const ids = [
    await bench.transcription(workspace, { seconds: 90 }),
    await bench.transcription(workspace, { seconds: 90, reports: ['summary'], key: 'again' }),
    await bench.transcription(workspace, { seconds: 60 }),
  ];
  t.equal((await next())!.lease.id, ids[0]);
  t.match(await claimNext(db, { engineId, shortOnly: false }), { refused: { id: ids[1], extension: 'mp3' } });
  t.equal((await next())!.lease.id, ids[2]);
  t.match(await bench.row('transcriptions', ids[1]!), {
    status: 'insufficient_balance',
    required_minutes: /^1\.50*$/,
    available_minutes: /^1\.00*$/,
    lease_token: null,
  });
  t.match(await db.query('*', 'select status, error_code from reports where transcription_id = ?', [ids[1]]), [
    { status: 'failed', error_code: 'TRANSCRIPTION_FAILED' },
  ]);
  t.equal((await db.query('*', `select 1 from idempotency_keys where key = 'again'`)).length, 0, 'the key can be used again');
  t.equal(await bench.balance(workspace), 2.5, 'nothing is charged before completion');
});

t.test('complete() charges the decoded duration once, releases the rest and starts the reports', async (t) => {
  const workspace = await bench.workspace({ minutes: 10 });
  const id = await bench.transcription(workspace, { seconds: 120, reports: ['summary'] });
  const claim = (await next())!;
  t.equal(await complete(db, claim.lease, finished(100.8)), 'completed');
  t.equal(await complete(db, claim.lease, finished(100.8)), 'lost');
  t.equal(await bench.balance(workspace), 10 - 100.8 / 60);
  t.match(await bench.row('transcriptions', id), { status: 'completed', duration_seconds: 100.8, lease_token: null });
  t.equal((await db.query('*', 'select 1 from reservations')).length, 0);
  t.equal((await db.query('*', 'select 1 from ledger where transcription_id = ?', [id])).length, 1);
  t.equal((await db.query('*', 'select 1 from notifications where transcription_id = ?', [id])).length, 1);
  t.equal(await bench.jobs('report'), 1);
});

t.test('complete() and raise() reserve duration beyond the reservation, or fail the recording if minutes are insufficient', async (t) => {
  const workspace = await bench.workspace({ minutes: 3 });
  const ids = [await bench.transcription(workspace, { seconds: 60 }), await bench.transcription(workspace, { seconds: 60 })];
  const claims = await drain();
  t.equal(await raise(db, claims[0]!.lease, 115), 'reserved');
  t.equal(await raise(db, claims[0]!.lease, 30), 'reserved', 'a reservation is never lowered');
  t.equal(await complete(db, claims[1]!.lease, finished(90)), 'insufficient_balance');
  t.match(await bench.row('transcriptions', ids[1]!), { status: 'insufficient_balance', duration_seconds: 90 });
  t.equal(await complete(db, claims[0]!.lease, finished(120)), 'completed');
  t.equal(await bench.balance(workspace), 1);
});

t.test('raise() called concurrently never spends the same minutes twice', async (t) => {
  for (let round = 0; round < 5; round++) {
    const workspace = await bench.workspace({ minutes: 10, concurrency: 8 });
    for (let i = 0; i < 8; i++) await bench.transcription(workspace, { seconds: 60 });
    const outcomes = await Promise.all((await drain()).map((claim) => raise(db, claim.lease, 100)));
    t.ok(outcomes.includes('reserved'));
    const [sum] = await db.query<{ minutes: number }>(
      '*',
      'select sum(minutes)::float8 as minutes from reservations where workspace_id = ?',
      [workspace],
    );
    t.ok(sum!.minutes <= 10, `${sum!.minutes} of 10 minutes are reserved`);
    await clear();
  }
});

t.test('complete(), fail(), raise() and renew() with a stale lease token write nothing', async (t) => {
  const workspace = await bench.workspace({ minutes: 10 });
  const id = await bench.transcription(workspace);
  const { lease } = (await next())!;
  const stale = { ...lease, token: randomUUID() };
  t.equal(await complete(db, stale, finished(60)), 'lost');
  t.equal(await fail(db, stale, 'FILE_CORRUPTED'), false);
  t.equal(await raise(db, stale, 90), 'lost');
  t.strictSame([...(await db.acrossTenants((tx) => renew(tx, [{ lease: stale, fraction: 1 }])))], [stale.token]);
  t.match(await bench.row('transcriptions', id), { status: 'processing', fraction: 0, lease_token: lease.token });
  t.equal(await bench.balance(workspace), 10);
});

t.test('complete() does not restore a deleted transcription', async (t) => {
  const workspace = await bench.workspace({ minutes: 10 });
  const id = await bench.transcription(workspace);
  const { lease } = (await next())!;
  await db.workspace(workspace, (tx) => tx.rows('delete from transcriptions where workspace_id = ? and id = ?', [workspace, id]));
  t.equal(await complete(db, lease, finished(60)), 'lost');
  t.equal(await bench.row('transcriptions', id), null);
  t.equal(await bench.balance(workspace), 10);
  t.equal((await db.query('*', 'select 1 from reservations')).length, 0);
});

t.test('renew() never lowers progress and returns the leases that are lost', async (t) => {
  const workspace = await bench.workspace();
  const id = await bench.transcription(workspace);
  const { lease } = (await next())!;
  const sign = (stage: string, fraction: number) => db.acrossTenants((tx) => renew(tx, [{ lease, stage, fraction }]));
  t.strictSame([...(await sign('transcribing', 0.5))], []);
  await sign('transcribing', 0.25);
  t.match(await bench.row('transcriptions', id), { stage: 'transcribing', fraction: 0.5 });
  await clear();
  t.strictSame([...(await sign('transcribing', 0.75))], [lease.token]);
});

t.test('renew() does not wait for locks: a row locked by a deletion is neither renewed nor lost meanwhile', async (t) => {
  const workspace = await bench.workspace();
  const [deleted, other] = [await bench.transcription(workspace), await bench.transcription(workspace)];
  const leases = [(await next())!.lease, (await next())!.lease];
  const until = async (id: string) =>
    (await db.query<{ until: string }>('*', 'select until from leases where subject = ?', [id]))[0]?.until;
  const before = [await until(deleted), await until(other)];
  const renewed = () =>
    db.reserved((tx) =>
      renew(
        tx,
        leases.map((lease) => ({ lease })),
      ),
    );
  await db.workspace(workspace, async (tx) => {
    await tx.rows('delete from transcriptions where workspace_id = ? and id = ?', [workspace, deleted]);
    t.strictSame([...(await renewed())], []);
    t.strictSame(await until(deleted), before[0]);
    t.not(String(await until(other)), String(before[1]));
  });
  t.strictSame([...(await renewed())], [leases.find(({ id }) => id === deleted)!.token]);
});

t.test('claimProbe() gives each probe to one claimer, and probed() queues the transcription for a worker slot', async (t) => {
  const workspace = await bench.workspace();
  const id = await bench.transcription(workspace, { seconds: null });
  t.equal(await next(), null, 'transcription does not start before the probe');
  const claims = await Promise.all(Array.from({ length: 5 }, () => claimProbe(db, engineId)));
  const [claim, ...others] = claims.filter((each) => each !== null);
  t.equal(others.length, 0);
  t.equal(await probed(db, { ...claim!.lease, token: randomUUID() }, { durationSeconds: 4, mediaType: 'audio' }), false);
  t.equal(await probed(db, claim!.lease, { durationSeconds: 12.3456, mediaType: 'video' }), true);
  t.match(await bench.row('transcriptions', id), { duration_seconds: 12.346, media_type: 'video', status: 'queued' });
  t.equal((await next())!.lease.id, id);
});

t.test('claimProbe() serves workspaces round-robin', async (t) => {
  const [many, few] = [await bench.workspace(), await bench.workspace()];
  for (const workspace of [many, many, many, few, few]) await bench.transcription(workspace, { seconds: null });
  const served: string[] = [];
  for (let claim = await claimProbe(db, engineId); claim; claim = await claimProbe(db, engineId)) served.push(claim.lease.workspaceId);
  t.equal(new Set(served.slice(0, 2)).size, 2);
  t.equal(new Set(served.slice(2, 4)).size, 2);
  t.equal(served[4], many);
});
