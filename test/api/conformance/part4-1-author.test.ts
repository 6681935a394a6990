import t from 'tap';
import { operatorOf } from '../../../api/contract/actor.ts';
import { removeMember } from '../../../db/tenants/members.ts';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';
import { knock, send } from '../../support/api/uploads.ts';

const POST = 'POST /transcriptions';
const api = await testApi(t);
const { world } = api;
const workspace = await world.workspace({ minutes: 10 });
const owner = await world.member(workspace, { role: 'owner', name: 'Olga' });
const ben = await world.member(workspace, { email: 'Ben@Example.com', name: 'Ben' });
const ownerKey = await world.key(owner);
const benKey = (await world.key(ben)).key;
const record = async (id: string, key = ownerKey.key) => (await api.call(key, 'GET', `/v1/transcriptions/${id}`)).json;
const link = (member: string, external_id: string) =>
  api.call(ownerKey.key, 'PUT', `/v1/workspace/members/${member}/identities`, { body: { provider: 'crm', external_id } });

t.test('X-Author: email in any case, user and a linked external id name the author; the default is the creator of the key', async (t) => {
  await link(ben.id, 'agent:7');
  for (const author of [
    'email:bEN@eXAMPLE.com',
    `user:${ben.id}`,
    `user:${ben.id.toUpperCase()}`,
    'external:crm:agent:7',
    'external:CRM:agent:7',
  ]) {
    const { status, json } = await send(api.url, ownerKey.key, { 'X-Author': author });
    t.equal(status, 201, author);
    t.strictSame((await record(json.uuid)).author, { id: ben.id, email: 'Ben@Example.com', name: 'Ben' }, author);
  }
  t.match(await knock(api.url, ownerKey.key, { 'X-Author': 'external:crm:AGENT:7' }), provokes(POST, 422, 'author_not_member'));
  const { json } = await send(api.url, ownerKey.key);
  t.equal((await record(json.uuid)).author.id, owner.id);
});

t.test("X-Author: permissions, limits and minutes stay the key's; an author outside the project sees the transcription", async (t) => {
  const project = await world.project(workspace, 'Closed to Ben');
  const { key: writer } = await world.key(owner, ['uploads:write', 'read']);
  const headers = { 'X-Author': `user:${ben.id}` };
  t.match(await knock(api.url, writer, headers, '?reports=summary'), provokes(POST, 403, 'reports_scope_required'));
  t.match(await knock(api.url, benKey, {}, `?project_id=${project}`), provokes(POST, 422, 'project_not_found'));
  const { status, json } = await send(api.url, writer, headers, `?project_id=${project}`);
  t.equal(status, 201, 'the creator of the key may upload to the project, whoever the author is');
  t.match(await record(json.uuid, benKey), { id: json.uuid, project: { id: project }, author: { id: ben.id } });
  t.match((await api.call(benKey, 'GET', '/v1/projects')).json, { items: [], total: 0 }, 'this does not add him to the project');
});

t.test('X-Author: a refused author costs nothing and has no fallback', async (t) => {
  const before = (await api.call(ownerKey.key, 'GET', '/v1/transcriptions?status=queued')).json.total;
  for (const [author, code] of [
    ['email:nobody@example.com', 'author_not_member'],
    ['nobody', 'invalid_author'],
    ['phone:1', 'unsupported_author_type'],
  ]) {
    const answer = await send(api.url, ownerKey.key, { 'X-Author': author });
    t.match(answer, { status: 422, json: { code } });
  }
  t.equal((await api.call(ownerKey.key, 'GET', '/v1/transcriptions?status=queued')).json.total, before);
  t.match((await api.call(ownerKey.key, 'GET', '/v1/workspace')).json, { balance: { available_minutes: 10 } });
});

t.test('identities are removed with their member: uploads that name them fail until they are linked again after rejoining', async (t) => {
  const carla = await world.member(workspace, { email: 'carla@example.com', name: 'Carla' });
  for (const id of ['one', 'two']) t.equal((await link(carla.id, id)).status, 201, 'a member may have several identities');
  const named = { 'X-Author': 'external:crm:two' };
  const { json } = await send(api.url, ownerKey.key, named);
  await api.db.workspace(workspace, (tx) => removeMember(tx, operatorOf(workspace), carla.id));
  for (const author of [named['X-Author'], 'email:carla@example.com', `user:${carla.id}`])
    t.match(await knock(api.url, ownerKey.key, { 'X-Author': author }), provokes(POST, 422, 'author_not_member'), author);
  t.strictSame(
    (await record(json.uuid)).author,
    { id: carla.id, email: 'carla@example.com', name: 'Carla' },
    'a former member is still shown',
  );
  const again = await world.member(workspace, { email: 'carla@example.com' });
  t.match(await knock(api.url, ownerKey.key, named), provokes(POST, 422, 'author_not_member'));
  t.equal((await link(again.id, 'two')).status, 201);
  const after = await send(api.url, ownerKey.key, named);
  t.equal((await record(after.json.uuid)).author.id, again.id);
});
