import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';

const api = await testApi(t);
const { world } = api;
const workspace = await world.workspace();
const olga = await world.member(workspace, { role: 'owner', name: 'Olga', email: 'olga@example.com' });
const bob = await world.member(workspace, { email: 'bob@example.com' });
const pending = await world.member(workspace, { status: 'pending' });
const removed = await world.member(workspace, { status: 'removed' });
const stranger = await world.member(await world.workspace());
const { key } = await world.key(olga);
const bobKey = (await world.key(bob)).key;
const MEMBERS = 'GET /workspace/members';
const PUT = 'PUT /workspace/members/{user_id}/identities';
const DELETE = 'DELETE /workspace/members/{user_id}/identities/{provider}/{external_id}';
const put = (member: string, body: unknown, as = key) => api.call(as, 'PUT', `/v1/workspace/members/${member}/identities`, { body });
const unlink = (member: string, rest: string, as = key) => api.call(as, 'DELETE', `/v1/workspace/members/${member}/identities/${rest}`);

t.test(
  'GET /projects: newest first, ties by id; an owner sees all, a member those they belong to; total is the number returned',
  async (t) => {
    const ids = [];
    for (const name of ['One', 'Two', 'Three', 'Four']) ids.push(await world.project(workspace, name));
    await api.db.acrossTenants((tx) =>
      tx.rows(
        `update projects set created_at = ('2026-01-0' || case name when 'One' then '1' when 'Four' then '9' else '5' end || 'T00:00:00Z')::timestamptz where workspace_id = ?`,
        [workspace],
      ),
    );
    await world.join(ids[1]!, bob, 'viewer');
    const { json } = await api.call(key, 'GET', '/v1/projects');
    const tied = [ids[1]!, ids[2]!].sort();
    t.strictSame(
      json.items.map(({ id }: { id: string }) => id),
      [ids[3], ...tied, ids[0]],
    );
    t.strictSame(json.items[0], { id: ids[3], name: 'Four', created_at: '2026-01-09T00:00:00.000Z' });
    t.equal(json.total, 4);
    t.match((await api.call(bobKey, 'GET', '/v1/projects')).json, { items: [{ id: ids[1], name: 'Two' }], total: 1 });
  },
);

t.test('GET /workspace: every key with read; the scopes of a token and its expiry', async (t) => {
  const token = await world.token(bob, ['read', 'reports:write']);
  const { json } = await api.call(token.key, 'GET', '/v1/workspace');
  t.match(json.key, { scopes: ['read', 'reports:write'], expires_at: /^\d{4}-.*\.\d{3}Z$/ });
  t.match(await api.call((await world.key(bob, ['uploads:write'])).key, 'GET', '/v1/workspace'), provokes('GET /workspace', 403, null));
});

t.test('GET members: active ones with their identities; pending, removed and foreign ones are left out', async (t) => {
  await put(bob.id, { provider: 'crm', external_id: '7' });
  const { status, json } = await api.call(key, 'GET', '/v1/workspace/members');
  t.equal(status, 200);
  t.strictSame(json, {
    items: [
      { id: olga.id, email: 'olga@example.com', name: 'Olga', role: 'owner', identities: [] },
      { id: bob.id, email: 'bob@example.com', name: null, role: 'user', identities: [{ provider: 'crm', external_id: '7' }] },
    ],
    total: 2,
  });
});

t.test('GET members: at most 1,000, and total is the number returned', async (t) => {
  const large = await world.workspace();
  const boss = await world.member(large, { role: 'owner' });
  await api.db.acrossTenants((tx) =>
    tx.rows(`insert into members (workspace_id, email) select ?::uuid, 'n' || n || '@example.com' from generate_series(1, 1005) n`, [
      large,
    ]),
  );
  const { json } = await api.call((await world.key(boss)).key, 'GET', '/v1/workspace/members');
  t.equal(json.items.length, 1000);
  t.equal(json.total, 1000);
});

t.test('members endpoints: a token gives api_key_required before members_scope_required; only owners can have the scope', async (t) => {
  const token = (await world.token(olga, ['read'])).key;
  const plain = (await world.key(olga, ['read'])).key;
  const calls = (as: string) => [api.call(as, 'GET', '/v1/workspace/members'), put('x', {}, as), unlink('x', 'a/b', as)] as const;
  const [a, b, c] = await Promise.all(calls(token));
  t.match(a, provokes(MEMBERS, 403, 'api_key_required'));
  t.match(b, provokes(PUT, 403, 'api_key_required'));
  t.match(c, provokes(DELETE, 403, 'api_key_required'));
  for (const as of [plain, bobKey]) {
    const [d, e, f] = await Promise.all(calls(as));
    t.match(d, provokes(MEMBERS, 403, 'members_scope_required'));
    t.match(e, provokes(PUT, 403, 'members_scope_required'));
    t.match(f, provokes(DELETE, 403, 'members_scope_required'));
  }
});

t.test('PUT identity: 201 when newly linked, 200 when already linked; the provider is lower-cased, the id is case-sensitive', async (t) => {
  const body = { provider: 'Tele_Phony-1', external_id: 'Ext: 1/a~' };
  t.match(await put(bob.id, body), { status: 201, json: { provider: 'tele_phony-1', external_id: 'Ext: 1/a~' } });
  t.match(await put(bob.id.toUpperCase(), { ...body, provider: 'tele_phony-1' }), { status: 200 });
  t.match(await put(olga.id, { ...body, external_id: 'ext: 1/a~' }), { status: 201 });
  t.match(await put(olga.id, body), provokes(PUT, 409, 'identity_conflict'));
});

t.test('PUT identity: members come before fields in the checks; any invalid value gives invalid_identity', async (t) => {
  for (const id of [pending.id, removed.id, stranger.id, 'x', '7f2c1c9e-5d0b-4f1e-9a53-0d6f1b2c3d4e'])
    t.match(await put(id, { nothing: true }), provokes(PUT, 404, 'member_not_found'));
  const good = { provider: 'crm', external_id: '1' };
  const bad = [
    {},
    { provider: 'crm' },
    { ...good, more: 1 },
    { ...good, provider: '' },
    { ...good, provider: 'a b' },
    { ...good, provider: 'x'.repeat(33) },
    { ...good, provider: 'é' },
    { ...good, provider: '\u212a' }, // the Kelvin sign, whose lower case is k
    { ...good, external_id: '' },
    { ...good, external_id: 'x'.repeat(129) },
    { ...good, external_id: 'é' },
    { ...good, external_id: 'a\nb' },
    { ...good, external_id: 7 },
    [],
  ];
  for (const body of bad) t.match(await put(bob.id, body), provokes(PUT, 422, 'invalid_identity'));
  for (const body of [undefined, '{', '{"provider":"a","provider":"b","external_id":"1"}'])
    t.match(await put(bob.id, body), provokes(PUT, 422, 'validation_error'));
  t.match(await put(bob.id, { provider: 'x'.repeat(32), external_id: 'y'.repeat(128) }), { status: 201 });
});

t.test('PUT identity: one of several parallel links to two members succeeds; the others give identity_conflict', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) => put(i % 2 ? bob.id : olga.id, { provider: 'race', external_id: '1' })),
  );
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 200, 200, 201, 409, 409, 409, 409]);
});

t.test('DELETE identity: 204; then identity_not_found; member_not_found comes first; the id is decoded once', async (t) => {
  await put(bob.id, { provider: 'pbx', external_id: 'a/b:c%2F' });
  t.match(await unlink(bob.id, 'pbx/a%2Fb%3Ac%2F'), provokes(DELETE, 404, 'identity_not_found'));
  t.match(await unlink(olga.id, 'pbx/a%2Fb%3Ac%252F'), provokes(DELETE, 404, 'identity_not_found'));
  t.match(await unlink(stranger.id, 'pbx/1'), provokes(DELETE, 404, 'member_not_found'));
  t.match(await unlink('x', 'pbx/1'), provokes(DELETE, 404, 'member_not_found'));
  t.match(await unlink(bob.id, 'PBX/a%2Fb%3Ac%252F'), { status: 204, text: '' });
  t.match(await unlink(bob.id, 'pbx/a%2Fb%3Ac%252F'), { status: 404 });
});
