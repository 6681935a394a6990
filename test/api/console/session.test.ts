import { readFileSync } from 'node:fs';
import t from 'tap';
import { readSettings } from '../../../api/contract/settings.ts';
import { makeSignInLink } from '../../../db/access/sign-in-links.ts';
import { testApi } from '../../support/api/client.ts';
import { cookieOf, visit } from '../../support/console/console.ts';

const api = await testApi(t);
const { world, call, db } = api;
const workspace = await world.workspace({ name: 'Acme' });
const owner = await world.member(workspace, { role: 'owner', name: 'Ann', email: 'ann@example.com' });
const user = await world.member(workspace, { name: 'Bob' });
const { key } = await world.key(owner);
const link = (person = owner) => db.acrossTenants((tx) => makeSignInLink(tx, { workspaceId: workspace, memberId: person.id }));
const signIn = (body: unknown, headers = {}) => call('', 'POST', '/v1/app/session', { body, headers });

t.test('POST /v1/app/session signs in with a key, and sets a cookie that scripts and other sites cannot use', async (t) => {
  const answer = await signIn({ key });
  t.match(answer, {
    status: 201,
    json: {
      member: { id: owner.id, email: 'ann@example.com', name: 'Ann', role: 'owner' },
      workspace: { name: 'Acme' },
      operator: false,
      oidc: null,
    },
  });
  const cookie = String(answer.headers['set-cookie']);
  for (const flag of [/; Path=\//, /; HttpOnly/, /; SameSite=Strict/]) t.match(cookie, flag);
  t.notMatch(cookie, /Secure|Domain/, 'this server is reached over http');
  const again = await call('', 'GET', '/v1/app/session', { headers: { cookie: cookieOf(answer)! } });
  t.strictSame(again.json, answer.json);
  t.ok(Date.parse(answer.json.expires_at) - Date.now() <= 12 * 3_600_000);
  const [row] = await db.query<{ hash: string }>('*', `select encode(hash, 'hex') as hash from sessions limit 1`);
  t.notOk(cookie.includes(row!.hash), 'the secret itself is not stored');
});

t.test('POST /v1/app/session marks the cookie Secure when clients use https', async (t) => {
  const secure = await testApi(t, { LONGHAND_PUBLIC_URL: 'https://longhand.example' });
  const person = await secure.world.member(await secure.world.workspace(), { role: 'owner' });
  const answer = await secure.call('', 'POST', '/v1/app/session', { body: await secure.world.key(person).then(({ key }) => ({ key })) });
  t.match(String(answer.headers['set-cookie']), /; Secure/);
});

t.test('POST /v1/app/session takes requests of the page at LONGHAND_PUBLIC_URL, however that is written', async (t) => {
  const origin = 'https://longhand.example';
  for (const written of [`${origin}/`, 'https://LONGHAND.example', `${origin}:443`, `${origin}/below/`]) {
    const proxied = await testApi(t, { LONGHAND_PUBLIC_URL: readSettings({ LONGHAND_PUBLIC_URL: written }).LONGHAND_PUBLIC_URL! });
    const { key } = await proxied.world.key(await proxied.world.member(await proxied.world.workspace()));
    const from = async (origin: string) =>
      (await proxied.call('', 'POST', '/v1/app/session', { body: { key }, headers: { origin } })).status;
    t.strictSame([await from(origin), await from('https://longhand.example.evil'), await from(`${origin}:444`)], [201, 403, 403], written);
  }
});

t.test('POST /v1/app/session accepts a link once, for a day, while its member is active', async (t) => {
  const once = await link();
  const [first, second] = await Promise.all([signIn({ link: once }), signIn({ link: once })]);
  t.strictSame([first.status, second.status].sort(), [201, 401]);
  t.equal((await signIn({ link: once })).status, 401);
  const old = await link();
  await db.acrossTenants((tx) => tx.rows(`update sign_in_links set expires_at = now() where used_at is null`));
  t.equal((await signIn({ link: old })).status, 401);
  const gone = await world.member(workspace, { status: 'removed' });
  t.equal((await signIn({ link: await link(gone) })).status, 401);
});

t.test('POST /v1/app/session refuses invalid credentials, and requests from other sites', async (t) => {
  const token = await world.token(owner);
  for (const body of [{}, { key: 'lh_wrong' }, { link: 'x' }, { key: token.key }])
    t.match(await signIn(body), { status: 401, json: { code: 'unauthorized' }, headers: { 'www-authenticate': 'Bearer' } });
  t.match(await signIn({ key, more: 1 }), { status: 422, json: { code: 'validation_error' } });
  for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]) {
    t.equal((await signIn({ key }, headers)).status, 403, JSON.stringify(headers));
  }
  t.equal((await signIn({ key }, { origin: api.url, 'sec-fetch-site': 'same-origin' })).status, 201);
});

t.test('signedIn() requires the session, not an API key', async (t) => {
  for (const path of ['/v1/app/session', '/v1/app/transcriptions', '/v1/app/keys', '/v1/app/listing?q=hello']) {
    t.match(await call(key, 'GET', path), { status: 401, json: { code: 'unauthorized' }, headers: { 'www-authenticate': 'Bearer' } }, path);
    t.equal((await call('', 'GET', path, { headers: { cookie: `longhand_session=${'A'.repeat(43)}` } })).status, 401, path);
  }
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  t.strictSame((await call('', 'GET', '/v1/app/options')).json, { oidc: null, version }, 'sign-in options need no session');
});

t.test('signedIn() refuses changes without the CSRF token of the session, or from another origin', async (t) => {
  const [one, other] = [await visit(api, { key }), await visit(api, { key })];
  const make = (headers: Record<string, string>) =>
    call('', 'POST', '/v1/app/projects', { body: { name: 'P' }, headers: { cookie: one.cookie, ...headers } });
  t.equal((await make({})).status, 403);
  t.equal((await make({ 'x-csrf-token': 'wrong' })).status, 403);
  t.equal((await make({ 'x-csrf-token': other.csrf })).status, 403, 'the token of another session');
  t.equal((await make({ 'x-csrf-token': one.csrf, origin: 'https://evil.example' })).status, 403);
  t.equal((await make({ 'x-csrf-token': one.csrf, origin: api.url })).status, 201);
  t.equal((await db.query(workspace, 'select id from projects')).length, 1, 'only the last request had an effect');
  const upload = await call('', 'POST', '/v1/app/transcriptions', {
    body: Buffer.alloc(2048),
    headers: { cookie: one.cookie, 'content-disposition': 'attachment; filename="a.mp3"' },
  });
  t.equal(upload.status, 403, 'uploads too');
});

t.test('DELETE /v1/app/session ends this session permanently, and no other', async (t) => {
  const [one, other] = [await visit(api, { key }), await visit(api, { link: await link() })];
  const answer = await one.ask('DELETE', '/session');
  t.equal(answer.status, 204);
  t.match(String(answer.headers['set-cookie']), /longhand_session=;.*Max-Age=0/);
  t.equal((await one.ask('GET', '/session')).status, 401);
  t.equal((await other.ask('GET', '/session')).status, 200);
});

t.test('findSession() finds no session after it expires, or after its member is removed or its key revoked', async (t) => {
  const leaver = await world.member(workspace);
  const made = await world.key(leaver);
  const byLink = await visit(api, { link: await link(leaver) });
  const byKey = await visit(api, { key: made.key });
  await db.acrossTenants((tx) => tx.rows('update api_keys set revoked_at = now() where id = ?', [made.id]));
  t.equal((await byKey.ask('GET', '/session')).status, 401);
  t.equal((await byLink.ask('GET', '/session')).status, 200);
  await db.acrossTenants((tx) => tx.rows(`update members set status = 'removed' where id = ?`, [leaver.id]));
  t.equal((await byLink.ask('GET', '/session')).status, 401);
  const late = await visit(api, { key });
  await db.acrossTenants((tx) => tx.rows('update sessions set expires_at = now() where member_id = ?', [owner.id]));
  t.equal((await late.ask('GET', '/session')).status, 401);
});

t.test('a session has no more rights than the key that opened it', async (t) => {
  const { key: reading } = await world.key(owner, ['read']);
  const person = await visit(api, { key: reading });
  const id = await world.transcription(owner);
  t.equal((await person.ask('GET', `/transcriptions/${id}`)).status, 200);
  t.match(await person.ask('DELETE', `/transcriptions/${id}`), { status: 403, json: { code: 'delete_scope_required' } });
  t.equal((await person.ask('POST', '/keys', { scopes: ['uploads:write'] })).status, 403);
  t.equal((await person.ask('POST', '/members', { email: 'x@example.com' })).status, 403);
  t.equal((await person.ask('PATCH', `/transcriptions/${id}/speakers/speaker_1`, { name: 'X' })).status, 403);
  t.equal((await person.ask('DELETE', '/session')).status, 204);
});

t.test('page() refuses requests of users to endpoints for owners', async (t) => {
  const bob = await visit(api, { link: await link(user) });
  const closed: [string, string, unknown?][] = [
    ['GET', '/members/pending'],
    ['POST', '/members', { email: 'x@example.com' }],
    ['PATCH', `/members/${user.id}`, { role: 'owner' }],
    ['DELETE', `/members/${owner.id}`],
    ['POST', `/members/${owner.id}/link`],
    ['GET', '/webhooks'],
    ['POST', '/webhooks', { url: 'https://example.com/' }],
    ['GET', '/settings'],
    ['PUT', '/settings', { vocabulary: '', retention_days: 1, keep_recordings_days: 0 }],
    ['GET', '/activity'],
  ];
  for (const [method, path, body] of closed)
    t.match(await bob.ask(method, path, body), { status: 403, json: { code: null } }, `${method} ${path}`);
  t.match(await bob.ask('GET', '/session'), { json: { operator: false } });
});

t.test('people of a workspace without API access can still use the console', async (t) => {
  const free = await world.workspace({ plan: 'free' });
  const person = await world.member(free, { role: 'owner' });
  const made = await world.key(person);
  const secret = await db.acrossTenants((tx) => makeSignInLink(tx, { workspaceId: free, memberId: person.id }));
  const visitor = await visit(api, { link: secret });
  for (const path of ['/transcriptions', '/workspace', '/projects', '/prompts'])
    t.equal((await visitor.ask('GET', path)).status, 200, path);
  t.match(await call(made.key, 'GET', '/v1/workspace'), { status: 403, json: { code: 'api_access_required' } }, 'their keys do not');
});
