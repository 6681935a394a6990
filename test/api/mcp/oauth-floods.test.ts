import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { BACK } from '../../support/servers/oauth.ts';

t.test('a flood of bad codes from one address is refused before any query, while known keys still work', async (t) => {
  const token = { method: 'POST', path: '/oauth/token', body: 'grant_type=refresh_token&client_id=x&refresh_token=y' };
  const revoke = { method: 'POST', path: '/oauth/revoke', body: 'client_id=x&token=y' };
  const authorize = { method: 'GET', path: '/oauth/authorize?client_id=x', body: undefined };
  const register = { method: 'POST', path: '/oauth/register', body: JSON.stringify({ redirect_uris: [BACK] }) };
  const flooded = await testApi(t);
  const { key } = await flooded.world.key(await flooded.world.member(await flooded.world.workspace()));
  t.equal((await flooded.call(key, 'GET', '/v1/workspace')).status, 200);
  const send = async ({ method, path, body }: typeof authorize | typeof token) =>
    (await fetch(flooded.url + path, { method, redirect: 'manual', ...(body && { body }) })).status;
  const seen = new Set<number>();
  const flood = async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(token)));
    for (const answer of answers) seen.add(answer);
    return answers.includes(429);
  };
  const flooding = async () => {
    for (let tries = 0; tries < 40 && !(await flood()); tries++);
  };
  for (const other of [register, token, revoke, authorize]) {
    let answer = 0; // 5 more are allowed per second
    for (let tries = 0; tries < 20 && answer !== 429; tries++) {
      await flooding();
      answer = await send(other);
    }
    t.equal(answer, 429, other.path);
  }
  t.strictSame(seen, new Set([400, 429]));
  t.equal((await flooded.call(key, 'GET', '/v1/workspace')).status, 200);
});

t.test('a flood of registrations from one address is refused after sixty, and other addresses are not affected', async (t) => {
  const flooded = await testApi(t);
  const register = () => flooded.call('', 'POST', '/oauth/register', { body: { redirect_uris: [BACK] } });
  const answers = await Promise.all(Array.from({ length: 100 }, register));
  t.ok(answers.filter(({ status }) => status === 201).length <= 62);
  const refused = answers.find(({ status }) => status === 429)!;
  t.ok(Number(refused.headers['retry-after']) >= 1);
  t.equal((await flooded.call('', 'POST', '/oauth/token', { body: 'grant_type=refresh_token&client_id=x&refresh_token=y' })).status, 400);
});
