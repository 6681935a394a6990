import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { startApp } from '../../api/app.ts';
import { charge, lockBalance } from '../../db/minutes/balance.ts';
import { openLog } from '../../db/ops/log.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { testApi } from '../support/api/client.ts';
import { send } from '../support/api/uploads.ts';

const fresh = () => new Promise((resolve) => setTimeout(resolve, 1_100)); // readiness is checked at most once a second

/** A connection to a database server that can be cut. */
async function lineTo(database: string) {
  const target = new URL(database);
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    const far = net.connect(Number(target.port || 5432), target.hostname);
    for (const each of [socket, far]) {
      sockets.add(each);
      each.on('error', () => {});
    }
    socket.pipe(far).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(database);
  url.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  const cut = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: url.href, cut };
}

t.test('GET /healthz shows that the process is running, GET /readyz what is missing', async (t) => {
  const api = await testApi(t);
  t.match(await api.call('', 'GET', '/healthz'), { status: 200, json: { status: 'ok' } });
  t.match(await api.call('', 'GET', '/readyz'), {
    status: 200,
    json: { status: 'degraded', database: true, schema: true, spool: true, engines: 0 },
  });
  await api.db.acrossTenants((tx) =>
    tx.rows(`insert into engines (id, host, pid, device, model, last_poll) values (?, 'h', 1, 'cpu', 'whisper-base', now())`, [
      randomUUID(),
    ]),
  );
  await fresh();
  t.match(await api.call('', 'GET', '/readyz'), { status: 200, json: { status: 'ready', engines: 1 } });
  await api.db.acrossTenants((tx) => tx.rows(`update engines set last_poll = now() - interval '31 seconds'`));
  await fresh();
  t.match(await api.call('', 'GET', '/readyz'), { status: 200, json: { status: 'degraded', engines: 0 } });
});

t.test('GET /readyz is 503 without a writable spool', async (t) => {
  const api = await testApi(t);
  const spool = join(api.settings.LONGHAND_HOME, 'spool');
  renameSync(spool, `${spool}.aside`);
  writeFileSync(spool, 'a file in place of the folder: even root cannot write into it');
  t.match(await api.call('', 'GET', '/readyz'), { status: 503, json: { status: 'unready', spool: false } });
  rmSync(spool);
  renameSync(`${spool}.aside`, spool);
  await fresh();
  t.match(await api.call('', 'GET', '/readyz'), { status: 200, json: { spool: true } });
});

t.test('GET /readyz is 503 and GET /healthz 200 without a database; requests get 503 with Retry-After', async (t) => {
  const api = await testApi(t);
  const line = await lineTo(api.db.url);
  const db = await openDb({ url: line.url, pool: 2 });
  const app = await startApp({ ...api, db, log: openLog(api.settings, 'api') });
  t.teardown(async () => {
    await app.stop(1);
    await db.close();
  });
  const { key } = await api.world.key(await api.world.member(await api.world.workspace(), { role: 'owner' }));
  const get = (path: string) => fetch(app.url + path, { headers: { authorization: `Bearer ${key}` } });
  t.equal((await get('/v1/workspace')).status, 200);
  line.cut();
  await fresh();
  t.equal((await get('/healthz')).status, 200);
  const ready = await get('/readyz');
  t.equal(ready.status, 503);
  t.match(await ready.json(), { status: 'unready', database: false, schema: false, spool: true });
  const refused = await get('/v1/workspace');
  t.equal(refused.status, 503);
  t.match(refused.headers.get('retry-after'), /^[1-9]\d*$/);
  t.match(await refused.json(), { code: 'service_unavailable' });
  t.match(await (await fetch(app.metricsUrl!)).text(), /longhand_database_up 0/);
});

t.test('GET /readyz is 503 while the database is read-only, as a former primary is, and keys get 503', async (t) => {
  const api = await testApi(t);
  const former = new URL(api.db.url);
  former.searchParams.set('options', '-c default_transaction_read_only=on');
  const db = await openDb({ url: former.href, pool: 2 });
  const app = await startApp({ ...api, db, log: openLog(api.settings, 'api') });
  t.teardown(async () => {
    await app.stop(1);
    await db.close();
  });
  const { key } = await api.world.key(await api.world.member(await api.world.workspace(), { role: 'owner' }));
  t.equal((await fetch(`${app.url}/v1/workspace`, { headers: { authorization: `Bearer ${key}` } })).status, 503);
  const ready = await fetch(`${app.url}/readyz`);
  t.equal(ready.status, 503);
  t.match(await ready.json(), { status: 'unready', database: false, schema: true, spool: true });
});

t.test('GET /metrics shows what is queued, what is running and what was answered', async (t) => {
  const api = await testApi(t);
  const owner = await api.world.member(await api.world.workspace(), { role: 'owner' });
  const { key } = await api.world.key(owner);
  await send(api.url, key, {}, '?reports=summary');
  await api.world.transcription(owner, { status: 'processing' });
  const id = await api.world.transcription(owner, { duration: 600 });
  await api.db.acrossTenants(async (tx) => {
    await tx.rows(`update transcriptions set started_at = now() - interval '30 seconds', completed_at = now() where id = ?`, [id]);
    await lockBalance(tx, owner.workspaceId);
    await charge(tx, owner.workspaceId, id, 600);
    await tx.rows(
      `insert into engines (id, host, pid, device, model, memory_bytes, failed_diarizations, uncovered_seconds, recognised)
       values (?, 'h"1', 1, 'cpu', 'whisper-base', 5000000000, 2, 7.25, ?::jsonb)`,
      [randomUUID(), JSON.stringify({ gigaam: { seconds: 60.5, failed: 0, unsure: 3 } })],
    );
    await tx.rows(`insert into engines (id, role, host, pid, writing) values (?, 'courier', 'h2', 2, ?::jsonb)`, [
      randomUUID(),
      JSON.stringify({ model: 'gemma', calls: { ok: 3, timeout: 1 }, promptTokens: 900, completionTokens: 80, seconds: 4.5, dropped: 2 }),
    ]);
  });
  for (const method of ['BREW', 'WHEN']) await api.call('', method, '/v1/workspace');
  const text = await api.metrics();
  for (const line of [
    'longhand_queue_depth{kind="transcription",state="queued"} 1',
    'longhand_queue_depth{kind="transcription",state="processing"} 1',
    'longhand_queue_depth{kind="report",state="queued"} 1',
    'longhand_queue_depth{kind="report",state="processing"} 0',
    'longhand_engines_connected 1',
    'longhand_couriers_connected 1',
    'host="h2",model="gemma",outcome="ok"} 3',
    'host="h2",model="gemma",outcome="timeout"} 1',
    'host="h2",model="gemma",kind="prompt"} 900',
    'host="h2",model="gemma",kind="completion"} 80',
    'longhand_llm_seconds_total{',
    'host="h2",model="gemma"} 4.5',
    'host="h2",model="gemma"} 2',
    'device="cpu",model="whisper-base"} 1',
    'host="h\\"1"} 5000000000',
    'host="h\\"1"} 2',
    'longhand_engine_uncovered_speech_seconds_total{',
    'host="h\\"1"} 7.25',
    'longhand_engine_recognized_speech_seconds_total{',
    'host="h\\"1",model="gigaam"} 60.5',
    'host="h\\"1",model="gigaam",reason="unsure"} 3',
    'longhand_minutes_processed_total 10',
    'longhand_real_time_factor 20',
    'longhand_uploads_in_flight 0',
    'longhand_requests_in_flight 0',
    'longhand_responses_total{method="POST",route="/v1/transcriptions",code="201"} 1',
    'longhand_responses_total{method="other",route="unknown",code="405"} 2', // unknown methods and routes create no labels
  ])
    t.ok(text.includes(line), line);
});
