import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { visit } from '../../support/console/console.ts';

const api = await testApi(t);
const { world, call, db } = api;
const workspace = await world.workspace();
const owner = await world.member(workspace, { role: 'owner', email: 'ann@example.com' });
const user = await world.member(workspace, { email: 'bob@example.com' });
const foreign = await visit(api, await world.key(await world.member(await world.workspace(), { role: 'owner' })));
const A_SECOND = 1_100; // lookups of credentials are cached for a second
const pause = () => new Promise((resolve) => setTimeout(resolve, A_SECOND));
const works = async (key: string) => (await call(key, 'GET', '/v1/workspace')).status === 200;

t.test('everything that a key created ends with it: keys and their keys, sessions, links and what they opened', async (t) => {
  const root = await world.key(owner);
  const first = await visit(api, root);
  const child = (
    await first.ask('POST', '/keys', { scopes: ['read', 'uploads:write', 'transcriptions:delete', 'reports:write', 'members:write'] })
  ).json;
  const second = await visit(api, child);
  const grandchild = (await second.ask('POST', '/keys', { scopes: ['read'] })).json;
  const link = async () => (await first.ask('POST', `/members/${user.id}/link`)).json.url.split('link=')[1] as string;
  const [spent, unspent] = [await link(), await link()];
  const guest = await visit(api, { link: spent });
  const other = await visit(api, await world.key(owner));
  t.ok((await works(child.key)) && (await works(grandchild.key)));
  t.equal((await other.ask('DELETE', `/keys/${root.id}`)).status, 204);
  for (const session of [first, second, guest]) t.equal((await session.ask('GET', '/session')).status, 401);
  t.equal((await call('', 'POST', '/v1/app/session', { body: { link: unspent } })).status, 401);
  await pause();
  for (const key of [root.key, child.key, grandchild.key]) t.notOk(await works(key));
  t.equal((await other.ask('GET', '/session')).status, 200, 'a session opened with another key continues');
});

t.test('a key that is revoked directly in the database, or has expired, ends everything it created too', async (t) => {
  for (const end of ['revoked_at', 'expires_at']) {
    const root = await world.key(owner);
    const session = await visit(api, root);
    const child = (await session.ask('POST', '/keys', { scopes: ['read'] })).json;
    const nested = await visit(api, child);
    await db.acrossTenants((tx) => tx.rows(`update api_keys set ${end} = now() where id = ?`, [root.id]));
    t.equal((await session.ask('GET', '/session')).status, 401, end);
    t.equal((await nested.ask('GET', '/session')).status, 401, end);
    t.notOk(await works(child.key), end);
  }
});

t.test('a key that is created in the session of another key does not outlive it', async (t) => {
  const root = await world.key(owner);
  await db.acrossTenants((tx) => tx.rows(`update api_keys set expires_at = '2090-01-01T00:00:00Z' where id = ?`, [root.id]));
  const session = await visit(api, root);
  for (const expires_at of [undefined, '2095-01-01T00:00:00Z'])
    t.match((await session.ask('POST', '/keys', { scopes: ['read'], expires_at })).json, { expires_at: '2090-01-01T00:00:00.000Z' });
  t.match((await session.ask('POST', '/keys', { scopes: ['read'], expires_at: '2089-01-01T00:00:00Z' })).json, { expires_at: /^2089/ });
});

t.test('a session that was opened with a read-only key reads what the key reads, and nothing else', async (t) => {
  const reader = await visit(api, await world.key(owner, ['read']));
  for (const path of ['/transcriptions', '/workspace', '/projects', '/listing?q=hello', '/session', '/notifications'])
    t.equal((await reader.ask('GET', path)).status, 200, path);
  for (const path of [
    '/keys',
    '/sessions',
    '/grants',
    '/members/pending',
    '/invitations',
    '/webhooks',
    '/settings',
    '/templates',
    '/activity',
    '/workspace/members',
  ])
    t.equal((await reader.ask('GET', path)).status, 403, path);
});

t.test('sessions can be listed and ended: their own by everybody, those of the workspace by owners', async (t) => {
  const [ann, bob, old] = [
    await visit(api, await world.key(owner)),
    await visit(api, await world.key(user)),
    await visit(api, await world.key(user)),
  ];
  const his = (await bob.ask('GET', '/sessions')).json.items;
  t.ok(his.every(({ member }: { member: { id: string } }) => member.id === user.id));
  t.equal(his.filter(({ current }: { current: boolean }) => current).length, 1);
  t.match(his[0], { id: String, key: { hint: String }, created_at: /Z$/, expires_at: /Z$/ });
  t.notMatch(JSON.stringify(his), /hash|csrf/);
  const hers = (await ann.ask('GET', '/sessions')).json.items;
  t.ok(hers.length > his.length);
  const mine = hers.find(({ current }: { current: boolean }) => current);
  t.equal((await bob.ask('DELETE', `/sessions/${mine.id}`)).status, 404);
  t.equal((await foreign.ask('DELETE', `/sessions/${mine.id}`)).status, 404);
  t.equal((await bob.ask('DELETE', '/sessions/no-id')).status, 404);
  const oldId = (await old.ask('GET', '/sessions')).json.items.find(({ current }: { current: boolean }) => current).id;
  t.equal((await bob.ask('DELETE', `/sessions/${oldId}`)).status, 204);
  t.equal((await old.ask('GET', '/session')).status, 401);
  const bobs = (await bob.ask('GET', '/sessions')).json.items.find(({ current }: { current: boolean }) => current).id;
  t.equal((await ann.ask('DELETE', `/sessions/${bobs}`)).status, 204, 'an owner can sign others out');
  t.equal((await bob.ask('GET', '/session')).status, 401);
});

t.test('grants can be listed and ended: their own by everybody, those of the workspace by owners', async (t) => {
  const [ann, bob] = [await visit(api, await world.key(owner)), await visit(api, await world.key(user))];
  const token = await world.token(owner, ['read']);
  t.ok(await works(token.key));
  const [grant] = (await ann.ask('GET', '/grants')).json.items;
  t.match(grant, { member: { id: owner.id }, scopes: ['read'], client: null });
  t.strictSame((await bob.ask('GET', '/grants')).json.items, []);
  for (const stranger of [bob, foreign]) t.equal((await stranger.ask('DELETE', `/grants/${grant.id}`)).status, 404);
  t.equal((await ann.ask('DELETE', `/grants/${grant.id}`)).status, 204);
  t.equal((await ann.ask('DELETE', `/grants/${grant.id}`)).status, 404);
  await pause();
  t.notOk(await works(token.key));
});
