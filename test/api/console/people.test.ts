import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { visit } from '../../support/console/console.ts';

const api = await testApi(t);
const { world, call } = api;
const workspace = await world.workspace();
const owner = await world.member(workspace, { role: 'owner', name: 'Ann', email: 'ann@example.com' });
const user = await world.member(workspace, { name: 'Bob', email: 'bob@example.com' });
const ann = await visit(api, await world.key(owner));
const bob = await visit(api, await world.key(user));
const foreign = await world.member(await world.workspace({ name: 'Other' }), { role: 'owner' });
const other = await visit(api, await world.key(foreign));

t.test('POST /v1/app/members invites, PATCH changes and activates, DELETE ends a membership with its keys and sessions', async (t) => {
  const made = await ann.ask('POST', '/members', { email: ' Carl@example.com '.trim(), name: 'Carl', pending: true });
  t.match(made, { status: 201, json: { email: 'Carl@example.com', role: 'user', status: 'pending' } });
  t.match((await ann.ask('GET', '/members/pending')).json.items, [{ id: made.json.id, name: 'Carl' }]);
  t.match(await ann.ask('POST', '/members', { email: 'carl@EXAMPLE.com' }), {
    status: 422,
    json: {
      code: 'validation_error',
      detail: { errors: [{ field: 'email', message: 'There is a member with the address carl@EXAMPLE.com already' }] },
    },
  });
  t.equal((await ann.ask('POST', '/members', { email: 'nobody' })).status, 422);
  const path = `/members/${made.json.id}`;
  t.equal((await ann.ask('POST', `${path}/link`)).status, 404, 'a pending member cannot sign in');
  t.match(await ann.ask('PATCH', path, { status: 'active', name: null }), { status: 200, json: { status: 'active', name: null } });
  const { json } = await ann.ask('POST', `${path}/link`);
  t.ok(json.url.startsWith(`${api.url}/#/sign-in?link=`));
  const carl = await visit(api, { link: json.url.split('link=')[1] });
  const { key } = (await carl.ask('POST', '/keys', { scopes: ['read'] })).json;
  t.equal((await call(key, 'GET', '/v1/workspace')).status, 200);
  t.equal((await ann.ask('DELETE', path)).status, 204);
  t.equal((await carl.ask('GET', '/session')).status, 401);
  t.match(await ann.ask('DELETE', path), { status: 404, json: { code: 'member_not_found' } });
  await new Promise((resolve) => setTimeout(resolve, 1_100)); // a revoked key stops working within a second
  t.equal((await call(key, 'GET', '/v1/workspace')).status, 401);
});

t.test('the last owner of a workspace can neither leave nor step down, even when two try at once', async (t) => {
  for (const id of [owner.id, owner.id.toUpperCase()]) {
    t.match(await ann.ask('DELETE', `/members/${id}`), { status: 422, json: { code: 'validation_error' } });
    t.match(await ann.ask('PATCH', `/members/${id}`, { role: 'user' }), { status: 422, json: { code: 'validation_error' } });
  }
  t.equal((await ann.ask('PATCH', `/members/${user.id}`, { role: 'owner' })).status, 200);
  const answers = await Promise.all([ann.ask('DELETE', `/members/${user.id}`), bob.ask('DELETE', `/members/${owner.id}`)]);
  t.equal(answers.filter(({ status }) => status === 204).length, 1, 'one of two');
  const left = await api.db.query(workspace, `select id from members where role = 'owner' and status = 'active'`);
  t.equal(left.length, 1);
  await api.db.acrossTenants((tx) => tx.rows(`update members set status = 'active' where id in (?, ?)`, [owner.id, user.id]));
  await api.db.acrossTenants((tx) =>
    tx.rows(`update members set role = case when id = ? then 'owner' else 'user' end where workspace_id = ?`, [owner.id, workspace]),
  );
  await api.db.acrossTenants((tx) => tx.rows('update api_keys set revoked_at = null where workspace_id = ?', [workspace]));
});

t.test('projects belong to whoever creates them; their owners decide who is in them', async (t) => {
  const [ann, bob] = [await visit(api, await world.key(owner)), await visit(api, await world.key(user))];
  const made = await bob.ask('POST', '/projects', { name: ' Sales ' });
  t.match(made, { status: 201, json: { name: 'Sales', id: String } });
  const path = `/projects/${made.json.id}/members`;
  t.match((await bob.ask('GET', path)).json.items, [{ id: user.id, role: 'owner' }]);
  const candidates = (await bob.ask('GET', path)).json.candidates.map(({ id }: { id: string }) => id);
  t.ok(
    candidates.includes(owner.id) && !candidates.includes(foreign.id),
    'a project owner can find members to add without owning the workspace',
  );
  const carl = await world.member(workspace, { name: 'Carl' });
  const guest = await visit(api, await world.key(carl));
  t.equal((await guest.ask('GET', path)).status, 404, 'a project is not found by non-members');
  t.equal((await guest.ask('PUT', `${path}/${carl.id}`, { role: 'owner' })).status, 404);
  t.equal((await bob.ask('PUT', `${path}/${carl.id}`, { role: 'viewer' })).status, 204);
  t.match(await guest.ask('GET', path), { status: 200, json: { candidates: null } });
  t.equal((await guest.ask('PUT', `${path}/${carl.id}`, { role: 'owner' })).status, 403, 'a viewer may not change members');
  t.equal((await ann.ask('PUT', `${path}/${carl.id}`, { role: 'none' })).status, 204, 'the owner of the workspace may');
  t.equal((await guest.ask('GET', path)).status, 404);
  t.equal((await bob.ask('PUT', `${path}/${foreign.id}`, { role: 'viewer' })).status, 404, 'no member of another workspace');
});

t.test('the page learns where a person may upload and what they may change: nothing for a viewer', async (t) => {
  const [anna, ben] = [await visit(api, await world.key(owner)), await visit(api, await world.key(user))];
  const [open, closed, hidden] = [
    await world.project(workspace, 'B open'),
    await world.project(workspace, 'A closed'),
    await world.project(workspace, 'C'),
  ];
  await world.join(open, user, 'editor');
  await world.join(closed, user, 'viewer');
  const places = async (person: typeof ben) =>
    (await person.ask('GET', '/projects/upload')).json.items.map((one: { id: string }) => one.id);
  const his: string[] = await places(ben);
  t.ok(his.includes(open) && !his.includes(closed) && !his.includes(hidden));
  const hers: string[] = await places(anna);
  t.ok(
    [open, closed, hidden].every((id) => hers.includes(id)),
    'an owner of the workspace may upload to all',
  );
  const NOT_KEPT = { recording_until: null };
  const rights = async (person: typeof ben, id: string) => (await person.ask('GET', `/transcriptions/${id}/rights`)).json;
  t.strictSame(await rights(ben, await world.transcription(owner, { projectId: open })), { edit: true, delete: true, ...NOT_KEPT });
  const seen = await world.transcription(owner, { projectId: closed });
  t.strictSame(await rights(ben, seen), { edit: false, delete: false, ...NOT_KEPT });
  t.strictSame(await rights(anna, seen), { edit: true, delete: true, ...NOT_KEPT });
  t.match(
    await rights(ben, await world.transcription(owner)),
    { code: null, message: String },
    'an invisible transcription does not exist',
  );
  const reader = await visit(api, await world.key(owner, ['read']));
  t.strictSame(await rights(reader, seen), { edit: false, delete: false, ...NOT_KEPT }, 'signed in with a read-only key');
  t.strictSame((await reader.ask('GET', '/session')).json.scopes, ['read']);
});

t.test('keys are shown once, limited to their scopes, listed by their hint and revoked', async (t) => {
  const [ann, bob] = [await visit(api, await world.key(owner)), await visit(api, await world.key(user))];
  const made = await bob.ask('POST', '/keys', {
    name: 'CRM',
    scopes: ['uploads:write', 'uploads:write'],
    expires_at: '2999-01-01T00:00:00Z',
  });
  t.match(made, { status: 201, json: { name: 'CRM', scopes: ['read', 'uploads:write'], key: /^lh_/ } });
  const { id, key } = made.json;
  const listed = await bob.ask('GET', '/keys');
  t.notOk(listed.text.includes(key), 'it is never shown again');
  t.match(
    listed.json.items.find((one: { id: string }) => one.id === id),
    { hint: key.slice(-4), revoked_at: null, member: { email: 'bob@example.com' } },
  );
  t.match(await call(key, 'GET', '/v1/workspace'), { status: 200, json: { key: { scopes: ['read', 'uploads:write'] } } });
  t.match(await bob.ask('POST', '/keys', { scopes: ['members:write'] }), { status: 422, json: { code: 'validation_error' } });
  t.equal((await ann.ask('POST', '/keys', { scopes: ['members:write'] })).status, 201);
  const far = { scopes: ['read'], expires_at: '2999-01-01T00:00:00-23:59' }; // further from UTC than PostgreSQL accepts
  t.match(await bob.ask('POST', '/keys', far), { status: 201, json: { expires_at: '2999-01-01T23:59:00.000Z' } });
  const times = ['2001-01-01T00:00:00Z', '9999-12-31T23:59:59-00:01'].map((expires_at) => ({ scopes: ['read'], expires_at }));
  for (const body of [{ scopes: [] }, { scopes: ['everything'] }, ...times, {}]) {
    t.equal((await bob.ask('POST', '/keys', body)).status, 422, JSON.stringify(body));
  }
  t.ok(
    (await ann.ask('GET', '/keys')).json.items.length > (await bob.ask('GET', '/keys')).json.items.length,
    'an owner sees the keys of all members',
  );
  const hers = (await ann.ask('GET', '/keys')).json.items.find((one: { member: { id: string } }) => one.member.id === owner.id);
  t.equal((await bob.ask('DELETE', `/keys/${hers.id}`)).status, 404);
  t.equal((await ann.ask('DELETE', `/keys/${id}`)).status, 204, 'an owner may revoke the keys of others');
  t.type((await bob.ask('GET', '/keys')).json.items.find((one: { id: string }) => one.id === id).revoked_at, 'string');
});

t.test('people, keys and projects of another workspace cannot be reached', async (t) => {
  const project = await world.project(workspace, 'Secret');
  const { id } = await world.key(owner);
  const tries: [string, string, unknown?][] = [
    ['PATCH', `/members/${owner.id}`, { role: 'user' }],
    ['DELETE', `/members/${owner.id}`],
    ['POST', `/members/${owner.id}/link`],
    ['GET', `/projects/${project}/members`],
    ['PUT', `/projects/${project}/members/${foreign.id}`, { role: 'owner' }],
    ['DELETE', `/keys/${id}`],
    ['DELETE', '/keys/not-an-id'],
    ['PATCH', '/members/not-an-id', { name: 'X' }],
  ];
  for (const [method, path, body] of tries) t.equal((await other.ask(method, path, body)).status, 404, `${method} ${path}`);
});
