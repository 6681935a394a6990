import { randomUUID } from 'node:crypto';
import t from 'tap';
import { ROUTES } from '../../../api/v1/routes.ts';
import { testApi } from '../../support/api/client.ts';
import { knock } from '../../support/api/uploads.ts';
import type { Person } from '../../support/databases/world.ts';

const api = await testApi(t);
const { world } = api;

/** One workspace with a member in every role and a transcription that each can see. */
async function tenant() {
  const workspace = await world.workspace();
  const owner = await world.member(workspace, { role: 'owner' });
  const author = await world.member(workspace);
  const [viewer, editor, keeper, outsider] = await Promise.all([1, 2, 3, 4].map(() => world.member(workspace)));
  const project = await world.project(workspace, 'Team');
  await world.join(project, viewer!, 'viewer');
  await world.join(project, editor!, 'editor');
  await world.join(project, keeper!, 'owner');
  const people = { owner, author, viewer: viewer!, editor: editor!, keeper: keeper!, outsider: outsider! };
  const make = () => world.transcription(author, { projectId: project, externalId: `of-${workspace}`, metadata: `{"of":"${workspace}"}` });
  return { workspace, project, people, make };
}
const keyOf = async (person: Person) => (await world.key(person)).key;

/** Every request about one transcription. */
const ABOUT: readonly [method: string, path: (id: string) => string, body?: unknown][] = [
  ['GET', (id) => `/v1/transcriptions/${id}`],
  ['GET', (id) => `/v1/transcriptions/${id}?words=true`],
  ['GET', (id) => `/v1/transcriptions/${id}/export`],
  ['GET', (id) => `/v1/transcriptions/${id}/export?format=json`],
  ['GET', (id) => `/v1/transcriptions/${id}/subtitles?format=vtt`],
  ['POST', (id) => `/v1/transcriptions/${id}/reports`, { reports: ['summary'] }],
  ['PATCH', (id) => `/v1/transcriptions/${id}`, { author: null }],
  ['DELETE', (id) => `/v1/transcriptions/${id}`],
];
/** 404 is also the response without a kept recording; who may access one is tested in test/api/v1/recording.test.ts. */
const RECORDING: (typeof ABOUT)[number] = ['GET', (id) => `/v1/transcriptions/${id}/recording`];

const WEBHOOKS: readonly [method: string, path: (id: string) => string, body?: unknown][] = [
  ['GET', (id) => `/v1/webhooks/${id}`],
  ['PATCH', (id) => `/v1/webhooks/${id}`, { active: false }],
  ['DELETE', (id) => `/v1/webhooks/${id}`],
  ['POST', (id) => `/v1/webhooks/${id}/secret`],
  ['POST', (id) => `/v1/webhooks/${id}/test`],
];

const ours = await tenant();
const theirs = await tenant();

t.test('a foreign, an absent and a malformed id give every role the same 404 on every endpoint, and change nothing', async (t) => {
  const foreign = await theirs.make();
  for (const [role, person] of Object.entries(ours.people)) {
    for (const [method, path, body] of [...ABOUT, RECORDING]) {
      const key = await keyOf(person);
      const answers = await Promise.all([foreign, randomUUID(), 'x'].map((id) => api.call(key, method, path(id), { body })));
      for (const { status, headers, json } of answers) {
        t.equal(status, 404, `${role}: ${method} ${path('…')}`);
        t.strictSame({ ...json, request_id: '' }, { ...answers[0]!.json, request_id: '' });
        t.strictSame(Object.keys(headers), Object.keys(answers[0]!.headers));
      }
    }
  }
  const key = await keyOf(theirs.people.owner);
  t.match(await api.call(key, 'GET', `/v1/transcriptions/${foreign}`), { status: 200, json: { prompt_results: [] } });
});

t.test('every route with an id is tested here: the route table has no others', async (t) => {
  const members = '/v1/workspace/members/{user_id}/identities';
  const checked = new Set([
    ...[...ABOUT, RECORDING].map(([method, path]) => `${method} ${path('{id}').split('?')[0]}`),
    ...[`PUT ${members}`, `DELETE ${members}/{provider}/{external_id}`], // covered by the next test, like ids in queries, headers and bodies
    ...WEBHOOKS.map(([method, path]) => `${method} ${path('{id}')}`), // also covered there
    'GET /v1/models/{model}', // a model of the installation, the same for every workspace
  ]);
  const naming = ROUTES.filter(({ hidden, path }) => !hidden && path.includes('{')).map(({ method, path }) => `${method} ${path}`);
  t.strictSame([...new Set(naming)].sort(), [...checked].sort());
});

t.test('lists, archives and searches contain nothing of another workspace', async (t) => {
  const foreign = await theirs.make();
  const key = await keyOf(ours.people.owner);
  const filters = [`external_id=of-${theirs.workspace}`, `metadata.of=${theirs.workspace}`, `project_id=${theirs.project}`];
  for (const filter of filters) t.match((await api.call(key, 'GET', `/v1/transcriptions?${filter}`)).json, { items: [], total: 0 });
  t.equal((await api.call(key, 'POST', '/v1/transcriptions/export', { body: { ids: [foreign] } })).bytes.length, 22);
  for (const path of ['/v1/projects', '/v1/workspace/members', '/v1/workspace'])
    t.notOk(
      (await api.call(key, 'GET', path)).text.includes(theirs.workspace) ||
        (await api.call(key, 'GET', path)).text.includes(theirs.project),
      path,
    );
  const member = `/v1/workspace/members/${theirs.people.author.id}/identities`;
  t.match(await api.call(key, 'PUT', member, { body: { provider: 'a', external_id: '1' } }), {
    status: 404,
    json: { code: 'member_not_found' },
  });
  t.match(await api.call(key, 'DELETE', `${member}/a/1`), { status: 404, json: { code: 'member_not_found' } });
  const own = await ours.make();
  t.match(await api.call(key, 'PATCH', `/v1/transcriptions/${own}`, { body: { author: `user:${theirs.people.owner.id}` } }), {
    ...{ status: 422, json: { code: 'author_not_member' } },
  });
  t.match(await knock(api.url, key, {}, `?project_id=${theirs.project}`), { status: 422, json: { code: 'project_not_found' } });
  for (const author of [`user:${theirs.people.owner.id}`, `email:${theirs.people.owner.email}`])
    t.match(await knock(api.url, key, { 'X-Author': author }), { status: 422, json: { code: 'author_not_member' } });
  await world.template(theirs.workspace, 'their-own');
  t.notOk((await api.call(key, 'GET', '/v1/prompts')).text.includes('their-own'));
  t.match(await knock(api.url, key, {}, '?reports=their-own'), { status: 422, json: { code: 'prompt_not_found' } });
  const wish = { body: { reports: ['their-own'] } };
  t.match(await api.call(key, 'POST', `/v1/transcriptions/${own}/reports`, wish), { status: 422, json: { code: 'prompt_not_found' } });
  const made = await api.call(await keyOf(theirs.people.owner), 'POST', '/v1/webhooks', { body: { url: 'https://192.0.32.10/' } });
  for (const [method, path, body] of WEBHOOKS)
    for (const id of [made.json.id, randomUUID(), 'x'])
      t.match(await api.call(key, method, path(id), { body }), { status: 404, json: { code: null } });
  t.match((await api.call(key, 'GET', '/v1/webhooks')).json, { items: [], total: 0 });
  t.match(
    (await api.call(key, 'GET', '/v1/transcriptions?q=hello')).json.items.map((item: { id: string }) => item.id === foreign),
    [false],
  );
  await api.call(await keyOf(theirs.people.owner), 'PUT', member, { body: { provider: 'crm', external_id: 'theirs' } });
  t.match(await knock(api.url, key, { 'X-Author': 'external:crm:theirs' }), { status: 422, json: { code: 'author_not_member' } });
});

t.test('the same identity may be linked in two workspaces', async (t) => {
  for (const { people } of [ours, theirs]) {
    const path = `/v1/workspace/members/${people.author.id}/identities`;
    t.match(await api.call(await keyOf(people.owner), 'PUT', path, { body: { provider: 'crm', external_id: 'same' } }), { status: 201 });
  }
});

t.test('within a workspace: who may see and who may change a transcription', async (t) => {
  const rights: Record<keyof typeof ours.people, 'all' | 'see' | 'none'> = {
    owner: 'all',
    author: 'all',
    keeper: 'all',
    editor: 'all',
    viewer: 'see',
    outsider: 'none',
  };
  for (const [role, right] of Object.entries(rights)) {
    const key = await keyOf(ours.people[role as keyof typeof rights]);
    const id = await ours.make();
    const sees = right !== 'none';
    for (const [method, path, body] of ABOUT) {
      const changes = method === 'PATCH' || method === 'DELETE';
      const { status } = await api.call(key, method, path(id), { body });
      if (!sees) t.equal(status, 404, `${role}: ${method}`);
      else if (changes && right === 'see') t.equal(status, 403, `${role}: ${method}`);
      else t.ok(status < 300, `${role}: ${method} ${path('…')} ${status}`);
    }
  }
});

t.test('within a workspace: the list and the archive show each member what they may see', async (t) => {
  const { people, project } = await tenant();
  const mine = await world.transcription(people.outsider, { filename: 'mine.mp3' });
  const given = await world.transcription(people.author, { filename: 'given.mp3', author: people.outsider });
  const shared = await world.transcription(people.author, { filename: 'shared.mp3', projectId: project });
  const other = await world.transcription(people.author, { filename: 'other.mp3' });
  const all = { mine, given, shared, other };
  const expected: Record<string, string[]> = {
    owner: ['given', 'mine', 'other', 'shared'],
    author: ['given', 'other', 'shared'],
    viewer: ['shared'],
    outsider: ['given', 'mine'],
  };
  for (const [role, names] of Object.entries(expected)) {
    const key = await keyOf(people[role as keyof typeof people]);
    const { json } = await api.call(key, 'GET', '/v1/transcriptions');
    t.strictSame(json.items.map(({ title }: { title: string }) => title.split('.')[0]).sort(), names, role);
    t.equal(json.total, names.length);
    const { bytes } = await api.call(key, 'POST', '/v1/transcriptions/export', { body: { ids: Object.values(all), format: 'txt' } });
    for (const name of Object.keys(all)) t.equal(bytes.includes(`${name}.txt`), names.includes(name), `${role}: ${name}`);
  }
});
