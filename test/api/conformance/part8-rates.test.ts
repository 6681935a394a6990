import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startApp } from '../../../api/app.ts';
import { BAD_KEYS, openRateLimiter, openThrottle } from '../../../api/guard/limiter.ts';
import { networkOf } from '../../../api/guard/network.ts';
import { recentlyUsed } from '../../../api/guard/recent.ts';
import { takeTokens } from '../../../db/access/rate-limits.ts';
import { openLog } from '../../../db/ops/log.ts';
import { testApi } from '../../support/api/client.ts';
import { provokesEverywhere } from '../../support/api/provokes.ts';
import { testDatabase } from '../../support/databases/database.ts';

t.test('openRateLimiter() lets a burst of 100 through across two hosts, then refuses with the seconds to wait', async (t) => {
  const { db } = await testDatabase(t);
  const hosts = [openRateLimiter(db, '600/min'), openRateLimiter(db, '600/min')];
  const start = performance.now();
  const taken = await Promise.all(Array.from({ length: 300 }, (_, i) => hosts[i % 2]!.take('key:1')));
  const regained = Math.ceil(((performance.now() - start) / 1000) * 10);
  const allowed = taken.filter((each) => each.allowed).length;
  t.ok(allowed <= 100 + regained, `${allowed} of 300, ${regained} regained meanwhile`);
  t.ok(allowed > 80, 'one host withholds few tokens from the other');
  const refused = taken.find((each) => !each.allowed)!;
  t.equal(refused.headers['ratelimit-limit'], '600');
  t.equal(refused.headers['ratelimit-remaining'], '0');
  t.match(refused.headers['ratelimit-reset'], /^\d+$/);
  t.equal(refused.retryAfterSeconds, 1);
  t.ok((await hosts[0]!.take('key:2')).allowed, 'another key has its own rate');
});

t.test('openRateLimiter() gives the whole burst of 100 across 50 hosts too: two requests on each', async (t) => {
  const { db } = await testDatabase(t);
  const hosts = Array.from({ length: 50 }, () => openRateLimiter(db, '600/min'));
  for (const round of [1, 2]) {
    const taken = await Promise.all(hosts.map((host) => host.take('key:1')));
    t.ok(
      taken.every(({ allowed }) => allowed),
      `round ${round}`,
    );
  }
});

t.test('openRateLimiter() gives a single host exactly its burst', async (t) => {
  const { db } = await testDatabase(t);
  const limiter = openRateLimiter(db, '6/min'); // a burst of 1, and one more in 10 s
  t.ok((await limiter.take('key:1')).allowed);
  const refused = await limiter.take('key:1');
  t.notOk(refused.allowed);
  t.ok(refused.retryAfterSeconds >= 9 && refused.retryAfterSeconds <= 10);
});

t.test('openRateLimiter() is off when set to 0', async (t) => {
  const { db } = await testDatabase(t);
  const limiter = openRateLimiter(db, '0');
  for (let n = 0; n < 500; n++) t.ok((await limiter.take('key:1')).allowed);
  t.strictSame((await limiter.take('key:1')).headers, {});
});

t.test('takeTokens() never grants more tokens than there are, and accepts unused ones back', async (t) => {
  const { db } = await testDatabase(t);
  const bucket = { burst: 20, perSecond: 0 };
  const parts = await Promise.all(Array.from({ length: 8 }, () => takeTokens(db, 's', bucket, 6, 0)));
  t.equal(
    parts.reduce((sum, { taken }) => sum + taken, 0),
    20,
  );
  t.strictSame(await takeTokens(db, 's', bucket, 6, 4), { taken: 4, left: 0 });
  t.strictSame(await takeTokens(db, 's', bucket, 1, 50), { taken: 1, left: 19 });
});

t.test('takeTokens() refills a bucket also after the clock was set back', async (t) => {
  const { db } = await testDatabase(t);
  const bucket = { burst: 20, perSecond: 1_000 };
  t.match(await takeTokens(db, 's', bucket, 20, 0), { taken: 20 });
  await db.query('*', `update rates set tokens = 0, refilled_at = now() + interval '1 hour'`); // as the clock shows it now
  t.match(await takeTokens(db, 's', bucket, 1, 0), { taken: 0 }, 'how long ago that was is unknown');
  await sleep(50);
  t.match(await takeTokens(db, 's', bucket, 20, 0), { taken: 20 });
});

t.test('recentlyUsed() keeps the newest entries, up to its limit, each for its lifetime', async (t) => {
  const kept = recentlyUsed<number>(3, 60_000);
  for (const number of [1, 2, 3, 4]) kept.set(`${number}`, number);
  t.strictSame([...kept.keys()].sort(), ['2', '3', '4']);
  t.ok(kept.getRemainingTTL('4') > 0 && kept.getRemainingTTL('4') <= 60_000);
});

t.test('openThrottle() refuses an address after 300 bad keys, and recovers at 5 a second', async (t) => {
  let now = 0;
  const throttle = openThrottle(BAD_KEYS, () => now);
  for (let n = 0; n < 300; n++) {
    throttle.check('192.0.2.1');
    throttle.count('192.0.2.1');
  }
  t.throws(() => throttle.check('192.0.2.1'), { code: 'rate_limit_exceeded', retryAfterSeconds: 1 });
  t.doesNotThrow(() => throttle.check('192.0.2.2'));
  now = 1000;
  t.doesNotThrow(() => throttle.check('192.0.2.1'));
});

t.test('openThrottle() treats an IPv6 /64 as one client, and IPv4-mapped IPv6 as IPv4', async (t) => {
  const throttle = openThrottle({ burst: 2, perSecond: 0 });
  for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff:0:0:9']) throttle.count(address);
  t.throws(() => throttle.check('2001:DB8:1:2:3:4:5:6'), { code: 'rate_limit_exceeded' });
  t.doesNotThrow(() => throttle.check('2001:db8:1:3::1'));
  for (let n = 0; n < 2; n++) throttle.count('::ffff:192.0.2.7');
  t.throws(() => throttle.check('192.0.2.7'), { code: 'rate_limit_exceeded' });
  t.doesNotThrow(() => throttle.check('::ffff:192.0.2.8'));
  t.equal(networkOf('0000:0000:0000:0000:0000:ffff:c000:0208'), '192.0.2.8', 'as uWebSockets reports it');
  t.equal(networkOf('::1'), '0:0:0:0::/64');
  t.equal(networkOf('64:ff9b::192.0.2.7'), '64:ff9b:0:0::/64');
  t.equal(networkOf('1:2:3::192.0.2.7'), '1:2:3:0::/64');
  t.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64');
  t.equal(networkOf('anna@example.org'), 'anna@example.org', 'identities are unchanged');
});

t.test('openThrottle() lets recently valid keys pass, whatever else their address sends', async (t) => {
  let now = 0;
  const throttle = openThrottle({ burst: 1, perSecond: 0 }, () => now);
  throttle.count('192.0.2.1');
  t.throws(() => throttle.check('192.0.2.1', 'good'), { code: 'rate_limit_exceeded' });
  throttle.spare('good');
  t.doesNotThrow(() => throttle.check('192.0.2.1', 'good'));
  t.throws(() => throttle.check('192.0.2.1', 'other'), { code: 'rate_limit_exceeded' });
  now = 600_000;
  t.throws(() => throttle.check('192.0.2.1', 'good'), { code: 'rate_limit_exceeded' });
});

t.test('every authenticated answer carries RateLimit-* headers, and 429 comes after the scope check', async (t) => {
  const api = await testApi(t, { LONGHAND_RATE_LIMIT: '30/min' }); // a burst of 5
  const other = await startApp({ ...api, log: openLog(api.settings, 'api') });
  t.teardown(() => other.stop(1));
  const owner = await api.world.member(await api.world.workspace(), { role: 'owner' });
  const { key } = await api.world.key(owner, ['read']);
  const answers = [];
  for (let n = 0; n < 7; n++) answers.push(await api.call(key, 'GET', '/v1/workspace'));
  for (const { headers } of answers) for (const name of ['limit', 'remaining', 'reset']) t.match(headers[`ratelimit-${name}`], /^\d+$/);
  t.strictSame(
    answers.slice(0, 5).map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  t.match(answers[6], { status: 429, json: { code: 'rate_limit_exceeded' } });
  t.match(answers[6]!.headers['retry-after'], /^[1-9]\d*$/);
  const scope = await api.call(key, 'POST', '/v1/transcriptions');
  t.match(scope, { status: 403, json: { code: 'upload_scope_required' } });
  t.ok(scope.headers['ratelimit-remaining']);
  const elsewhere = await fetch(`${other.url}/v1/workspace`, { headers: { authorization: `Bearer ${key}` } });
  t.equal(elsewhere.status, 429, 'the limit applies on the other host');
});

t.test('RateLimit-* headers are on every authenticated answer, whatever its status', async (t) => {
  const api = await testApi(t, { LONGHAND_RATE_LIMIT: '6000/min' });
  const owner = await api.world.member(await api.world.workspace(), { role: 'owner' });
  const { key } = await api.world.key(owner);
  const id = await api.world.transcription(owner);
  const { headers } = await api.call(key, 'GET', `/v1/transcriptions/${id}`);
  const path = `/v1/transcriptions/${id}`;
  const answers: [number, () => ReturnType<typeof api.call>][] = [
    [200, () => api.call(key, 'GET', path)],
    [200, () => api.call(key, 'HEAD', path)],
    [200, () => api.call(key, 'POST', '/v1/transcriptions/export', { body: { ids: [id] } })],
    [304, () => api.call(key, 'GET', path, { headers: { 'if-none-match': headers.etag! } })],
    [202, () => api.call(key, 'POST', `${path}/reports`, { body: { reports: ['summary'] } })],
    [422, () => api.call(key, 'GET', '/v1/transcriptions?limit=x')],
    [411, () => api.call(key, 'POST', '/v1/transcriptions', { headers: { 'transfer-encoding': 'chunked' } })],
    [404, () => api.call(key, 'GET', '/v1/transcriptions/none')],
    [204, () => api.call(key, 'DELETE', path)],
  ];
  for (const [status, ask] of answers) {
    const answer = await ask();
    t.equal(answer.status, status);
    for (const name of ['limit', 'remaining', 'reset']) t.match(answer.headers[`ratelimit-${name}`], /^\d+$/, `${status} ${name}`);
  }
  t.notOk((await api.call('', 'GET', path)).headers['ratelimit-limit'], 'no rate is shown to an unknown caller');
});

t.test('every endpoint answers 429 when the rate is used up', async (t) => {
  const api = await testApi(t, { LONGHAND_RATE_LIMIT: '1/min' });
  const owner = await api.world.member(await api.world.workspace(), { role: 'owner' });
  const { key } = await api.world.key(owner);
  t.equal((await api.call(key, 'GET', '/v1/workspace')).status, 200);
  for (const { expected, method, path } of provokesEverywhere(429, 'rate_limit_exceeded'))
    t.match(await api.call(key, method, path), expected, `${method} ${path}`);
});
