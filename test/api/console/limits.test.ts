import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { cookieOf, visit } from '../../support/console/console.ts';

const api = await testApi(t, { LONGHAND_RATE_LIMIT: '30/min' }); // a burst of 5
const workspace = await api.world.workspace();
const owner = await api.world.member(workspace, { role: 'owner' });
const { key } = await api.world.key(owner);

t.test('signedIn() limits requests per member, across all sessions, in the same way as for keys, with the same headers', async (t) => {
  const [one, other] = [await visit(api, { key }), await visit(api, { key })];
  const answers = [];
  for (let n = 0; n < 7; n++) answers.push(await (n % 2 ? one : other).ask('GET', n < 3 ? '/session' : '/workspace'));
  t.strictSame(
    answers.slice(0, 5).map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  for (const { headers } of answers) {
    for (const name of ['limit', 'remaining', 'reset']) t.match(headers[`ratelimit-${name}`], /^\d+$/);
    t.equal(headers['cache-control'], 'private, no-cache');
  }
  t.match(answers[6], { status: 429, json: { code: 'rate_limit_exceeded' }, headers: { 'retry-after': /^[1-9]\d*$/ } });
  t.equal((await one.ask('POST', '/projects', { name: 'P' })).status, 429, 'the console’s own endpoints too');
  t.equal((await api.call(key, 'GET', '/v1/workspace')).status, 200, 'a key has its own rate');
  const second = await visit(api, await api.world.key(await api.world.member(workspace)));
  const refused = await second.ask('GET', '/transcriptions/none');
  t.match(refused, { status: 404, headers: { 'ratelimit-limit': '30' } }, 'refusals carry them too');
});

t.test('failed sign-ins are refused by address, with an explanation, while open sessions continue', async (t) => {
  const here = await testApi(t);
  const person = await here.world.member(await here.world.workspace());
  const inside = await visit(here, await here.world.key(person));
  const attempt = (n: number) => here.call('', 'POST', '/v1/app/session', { body: n % 2 ? { key: `lh_${n}` } : { link: `${n}` } });
  let refused = await attempt(0);
  for (let n = 1; n < 200 && refused.status === 401; n++) refused = await attempt(n);
  t.match(refused, { status: 429, json: { code: 'rate_limit_exceeded' }, headers: { 'retry-after': /^[1-9]\d*$/ } });
  t.equal((await inside.ask('GET', '/session')).status, 200);
});

t.test('many failed sign-ins at the same moment keep an address out for a minute, not for hours', async (t) => {
  const here = await testApi(t);
  const attempt = (n: number) => here.call('', 'POST', '/v1/app/session', { body: { link: `${n}` } });
  await Promise.all(Array.from({ length: 400 }, (_, n) => attempt(n)));
  const refused = await attempt(400);
  t.equal(refused.status, 429);
  t.ok(Number(refused.headers['retry-after']) <= 62, `${refused.headers['retry-after']} s`);
});

t.test('the same credential tried from many addresses is refused as well', async (t) => {
  const here = await testApi(t, { LONGHAND_TRUST_PROXY: '127.0.0.1' });
  const from = (n: number, body: unknown) =>
    here.call('', 'POST', '/v1/app/session', { body, headers: { 'x-forwarded-for': `192.0.2.${n}` } });
  let tries = 0;
  let refused = await from(0, { key: 'lh_stolen_and_revoked' });
  for (; tries < 200 && refused.status === 401; tries++) refused = await from(tries, { key: 'lh_stolen_and_revoked' });
  t.equal(refused.status, 429, `after ${tries}`);
  t.equal((await from(250, { key: 'lh_another' })).status, 401, 'another credential, from an address without failures');
});

t.test('a flood of made-up cookies is refused before any query, and locks out nobody who is signed in', async (t) => {
  const here = await testApi(t);
  const person = await here.world.member(await here.world.workspace());
  const signedIn = await here.call('', 'POST', '/v1/app/session', { body: { key: (await here.world.key(person)).key } });
  const ask = (cookie: string) => here.call('', 'GET', '/v1/app/session', { headers: { cookie } });
  t.equal((await ask(cookieOf(signedIn)!)).status, 200);
  let refused = await ask(`longhand_session=${'A'.repeat(43)}`);
  for (let n = 0; n < 2_000 && refused.status === 401; n += 50)
    [refused] = (await Promise.all(Array.from({ length: 50 }, (_, i) => ask(`longhand_session=${String(n + i).padStart(43, 'A')}`)))) as [
      typeof refused,
    ];
  t.match(refused, { status: 429, json: { code: 'rate_limit_exceeded' } });
  t.equal((await ask(cookieOf(signedIn)!)).status, 200);
});
