import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startApp } from '../../api/app.ts';
import { readSettings } from '../../api/contract/settings.ts';
import { openMetrics } from '../../api/ops/metrics.ts';
import { listenForMetrics } from '../../api/ops/metrics-listener.ts';
import { openLog } from '../../db/ops/log.ts';
import { testApi } from '../support/api/client.ts';

const TOKEN = '0123456789abcdef0123456789abcdef';

t.test('/metrics is served at its own address and not on the main port, which proxies forward', async (t) => {
  const api = await testApi(t);
  t.match(await api.call('', 'GET', '/metrics'), { status: 404, json: { code: null } });
  t.match(await api.metrics(), /^longhand_database_up 1$/m);
});

t.test('/metrics with LONGHAND_METRICS=public is served on the main port, only with the token', async (t) => {
  const api = await testApi(t, { LONGHAND_METRICS: 'public', LONGHAND_METRICS_TOKEN: TOKEN });
  const ask = (authorization: string) => api.call('', 'GET', '/metrics', { headers: { authorization } });
  for (const wrong of ['', `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, `Basic ${TOKEN}`, TOKEN]) {
    const answer = await ask(wrong);
    t.match({ status: answer.status, code: answer.json.code }, { status: 401, code: 'unauthorized' }, JSON.stringify(wrong));
    t.equal(answer.headers['www-authenticate'], 'Bearer');
    t.notMatch(answer.text, /longhand_/);
  }
  const { status, text, headers } = await ask(`Bearer ${TOKEN}`);
  t.equal(status, 200);
  t.match(headers['content-type'], /^text\/plain; version=0\.0\.4/);
  t.equal(headers['cache-control'], 'no-store');
  t.match(text, /^longhand_queue_depth\{/m);
});

t.test('LONGHAND_METRICS=public without a token is refused at startup, and so is an invalid address', async (t) => {
  t.throws(() => readSettings({ LONGHAND_METRICS: 'public' }), /needs LONGHAND_METRICS_TOKEN/);
  t.throws(() => readSettings({ LONGHAND_METRICS: 'public', LONGHAND_METRICS_TOKEN: 'short' }), /at least 16/);
  for (const odd of ['9464', '127.0.0.1', '127.0.0.1:99999', '::1:9464', 'http://x:1'])
    t.throws(() => readSettings({ LONGHAND_METRICS: odd }), /LONGHAND_METRICS=/, odd);
  for (const good of ['127.0.0.1:9464', '[::]:9464', 'localhost:0', 'off']) t.ok(readSettings({ LONGHAND_METRICS: good }), good);
});

t.test('the listener of /metrics requires the token where one is set, and serves nothing else', async (t) => {
  const api = await testApi(t, { LONGHAND_METRICS_TOKEN: TOKEN });
  const shown = { db: api.db, metrics: openMetrics(), nodeId: randomUUID() };
  const listener = (await listenForMetrics(shown, readSettings({ LONGHAND_METRICS: 'localhost:0', LONGHAND_METRICS_TOKEN: TOKEN })))!;
  t.teardown(() => listener.close());
  t.equal((await fetch(listener.url)).status, 401);
  t.equal((await fetch(listener.url, { headers: { authorization: `Bearer ${TOKEN}` } })).status, 200);
  t.equal((await fetch(listener.url.replace('/metrics', '/v1/workspace'))).status, 404);
  t.equal((await fetch(listener.url, { method: 'POST' })).status, 405);
});

t.test('listenForMetrics() continues without the default address if it is in use, and refuses a configured one in use', async (t) => {
  const api = await testApi(t);
  const shown = { db: api.db, metrics: openMetrics(), nodeId: randomUUID() };
  const first = (await listenForMetrics(shown, readSettings({ LONGHAND_METRICS: '127.0.0.1:0' })))!;
  t.teardown(() => first.close());
  const taken = { LONGHAND_METRICS: new URL(first.url).host, LONGHAND_METRICS_TOKEN: undefined };
  t.equal(await listenForMetrics(shown, { ...taken, given: [] }), null);
  await t.rejects(listenForMetrics(shown, { ...taken, given: ['LONGHAND_METRICS'] }), /Cannot serve \/metrics at .* \(EADDRINUSE\)/);
});

t.test('each series of an engine comes from one of several API hosts, and from another when that one is no longer scraped', async (t) => {
  const api = await testApi(t);
  await api.db.acrossTenants((tx) => tx.rows(`insert into engines (id, host, pid) values (?, 'h', 1)`, [randomUUID()]));
  const others = await Promise.all(
    Array.from({ length: 3 }, () => startApp({ ...api, settings: { ...api.settings, PORT: 0 }, log: openLog(api.settings, 'api') })),
  );
  t.teardown(() => Promise.all(others.map((app) => app.stop(1))));
  const pages = async () => [await api.metrics(), ...(await Promise.all(others.map(async (app) => (await fetch(app.metricsUrl!)).text())))];
  const all = await pages();
  t.strictSame(
    all.map((page) => page.match(/^longhand_engine_info\{/gm)?.length ?? 0),
    [1, 0, 0, 0],
  );
  t.strictSame(
    all.map((page) => /^longhand_engines_connected /m.test(page)),
    [true, false, false, false],
  );
  for (const page of all) t.match(page, /^longhand_database_up 1$/m, 'every host reports its own series');
  await api.db.acrossTenants((tx) => tx.rows(`update metrics_source set until = now() - interval '1 second'`));
  const next = await startApp({ ...api, settings: { ...api.settings, PORT: 0 }, log: openLog(api.settings, 'api') });
  t.teardown(() => next.stop(1));
  t.match(await (await fetch(next.metricsUrl!)).text(), /^longhand_engines_connected 1$/m);
});

t.test('a metrics scrape does not read the whole ledger', async (t) => {
  const api = await testApi(t);
  const owner = await api.world.member(await api.world.workspace(), { role: 'owner' });
  const reads = async () => {
    await api.db.direct('select pg_stat_force_next_flush()').catch(() => {}); // PostgreSQL 15 and newer
    const [row] = await api.db.direct(`select seq_scan from pg_stat_user_tables where relname = 'ledger'`);
    return Number((row as { seq_scan: string }).seq_scan);
  };
  await api.db.acrossTenants((tx) =>
    tx.rows(`insert into ledger (workspace_id, minutes) select ?, -1 from generate_series(1, 20000)`, [owner.workspaceId]),
  );
  await api.db.direct('analyze ledger');
  const before = await reads();
  await api.metrics();
  t.equal(await reads(), before);
});
