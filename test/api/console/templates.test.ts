import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { visit } from '../../support/console/console.ts';

const api = await testApi(t);
const { world, call } = api;
const workspace = await world.workspace();
const [owner, user, third] = [
  await world.member(workspace, { role: 'owner' }),
  await world.member(workspace),
  await world.member(workspace),
];
const [annKey, bobKey] = [await world.key(owner), await world.key(user)];
const [ann, bob, carl] = [await visit(api, annKey), await visit(api, bobKey), await visit(api, await world.key(third))];
const foreign = await world.member(await world.workspace({ name: 'Other' }), { role: 'owner' });
const other = await visit(api, await world.key(foreign));
const PROMPT = 'Say which questions stayed open.';
const slugs = async (key: string) => (await call(key, 'GET', '/v1/prompts')).json.prompts.map((one: { slug: string }) => one.slug);

t.test('a draft is visible only to its author; once published, it is visible in its scope', async (t) => {
  const made = await bob.ask('POST', '/templates', { name: 'Open questions', prompt: PROMPT });
  t.match(made, {
    status: 201,
    json: { slug: 'open-questions', scope: 'personal', status: 'draft', owner: { id: user.id }, prompt: PROMPT },
  });
  t.notOk((await slugs(bobKey.key)).includes('open-questions'));
  t.equal((await ann.ask('GET', '/templates')).json.items.length, 0, 'owners do not see a personal template either');
  const path = `/templates/${made.json.id}`;
  t.equal((await carl.ask('PATCH', path, { name: 'Mine' })).status, 404);
  t.match(await bob.ask('PATCH', path, { status: 'published', description: 'What is open' }), {
    status: 200,
    json: { status: 'published', description: 'What is open' },
  });
  t.ok((await slugs(bobKey.key)).includes('open-questions'));
  t.notOk((await slugs(annKey.key)).includes('open-questions'));
  t.equal((await bob.ask('PATCH', path, { scope: 'workspace' })).status, 403, 'only owners publish for the workspace');
  t.equal((await bob.ask('DELETE', path)).status, 204);
  t.notOk((await slugs(bobKey.key)).includes('open-questions'));
});

t.test('owners write and publish templates for the workspace', async (t) => {
  t.equal((await bob.ask('POST', '/templates', { name: 'For all', prompt: PROMPT, scope: 'workspace' })).status, 403);
  const { json } = await ann.ask('POST', '/templates', { name: 'For all', slug: 'for-all', prompt: PROMPT, scope: 'workspace' });
  t.equal((await bob.ask('GET', '/templates')).json.items.length, 0, 'only owners see the draft');
  t.equal((await ann.ask('PATCH', `/templates/${json.id}`, { status: 'published' })).status, 200);
  t.match((await bob.ask('GET', '/templates')).json.items, [{ slug: 'for-all', owner: null }]);
  t.ok((await slugs(bobKey.key)).includes('for-all'));
  t.equal((await bob.ask('PATCH', `/templates/${json.id}`, { name: 'Bob was here' })).status, 404);
  t.equal((await bob.ask('DELETE', `/templates/${json.id}`)).status, 404);
  t.match(await bob.ask('GET', '/prompts'), { status: 200, json: { prompts: Array } });
});

t.test('a slug is unused, well formed and not built in; errors are reported by field', async (t) => {
  const bad = [
    { name: 'Summary', slug: 'summary', prompt: PROMPT },
    { name: 'Again', slug: 'for-all', prompt: PROMPT, scope: 'workspace' },
    { name: 'X', slug: 'No Good', prompt: PROMPT },
    { name: '漢字', prompt: PROMPT },
    { name: 'Short', prompt: 'too short' },
    { name: 'X', prompt: PROMPT, extra: 1 },
  ];
  for (const body of bad)
    t.match(
      await ann.ask('POST', '/templates', body),
      { status: 422, json: { code: 'validation_error', detail: { errors: [{ field: String }] } } },
      JSON.stringify(body),
    );
});

t.test('templates of another workspace do not exist', async (t) => {
  const [{ id }] = (await ann.ask('GET', '/templates')).json.items;
  t.equal((await other.ask('PATCH', `/templates/${id}`, { name: 'X' })).status, 404);
  t.equal((await other.ask('DELETE', `/templates/${id}`)).status, 404);
  t.strictSame((await other.ask('GET', '/templates')).json.items, []);
});

t.test('a draft is tested on a sample or on a transcript; nobody else sees the result', async (t) => {
  const draft = { name: 'Open questions', prompt: PROMPT };
  const started = await bob.ask('POST', '/templates/preview', draft);
  t.match(started, { status: 202, json: { id: String, status: 'queued' } });
  const path = `/templates/preview/${started.json.id}`;
  t.strictSame((await bob.ask('GET', path)).json, {
    ...{ id: started.json.id, status: 'queued', error_code: null, text: null, writer: null },
  });
  for (const stranger of [ann, other]) t.equal((await stranger.ask('GET', path)).status, 404);
  t.strictSame(
    (await bob.ask('GET', '/templates')).json.items.length,
    1,
    'nothing was saved: the template of the workspace is still there',
  );
  const [mine, hers] = [await world.transcription(user), await world.transcription(owner)];
  t.equal((await bob.ask('POST', '/templates/preview', { ...draft, transcription_id: mine })).status, 202);
  t.equal((await bob.ask('GET', path)).status, 404, 'it was replaced by a new one');
  for (const body of [{ ...draft, transcription_id: hers }, { ...draft, prompt: 'short' }, { ...draft, slug: 'x' }, { prompt: PROMPT }])
    t.match(await bob.ask('POST', '/templates/preview', body), { status: 422, json: { code: 'validation_error' } }, JSON.stringify(body));
  t.equal((await call('', 'POST', '/v1/app/templates/preview', { body: draft })).status, 401);
});
