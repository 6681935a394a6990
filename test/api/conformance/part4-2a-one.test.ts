import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';

const api = await testApi(t, { LONGHAND_LIMIT_DELETES_PER_MIN: '30' });
const { world } = api;
const workspace = await world.workspace();
const owner = await world.member(workspace, { role: 'owner', name: 'Olga' });
const anna = await world.member(workspace, { name: 'Anna', email: 'Anna@Example.com' });
const bob = await world.member(workspace, { name: 'Bob' });
const pending = await world.member(workspace, { status: 'pending' });
const ownerKey = await world.key(owner);
const annaKey = await world.key(anna);
const bobKey = await world.key(bob);
const one = (key: { key: string }, method: string, id: string, body?: unknown) =>
  api.call(key.key, method, `/v1/transcriptions/${id}`, { body });
const PATCH = 'PATCH /transcriptions/{id}';
const DELETE = 'DELETE /transcriptions/{id}';

t.test('GET: an absent, deleted or malformed id gives 404 without a code', async (t) => {
  const bodies = [];
  for (const id of ['7f2c1c9e-5d0b-4f1e-9a53-0d6f1b2c3d4e', 'not-an-id', '%F0%9F%92%A9', "1'--", 'a%2Fb']) {
    const answer = await one(ownerKey, 'GET', id);
    t.match(answer, provokes('GET /transcriptions/{id}', 404, null));
    bodies.push({ ...answer.json, request_id: null });
  }
  for (const body of bodies) t.strictSame(body, bodies[0], 'all responses are equal');
});

t.test('GET: the id is found in any letter case', async (t) => {
  const id = await world.transcription(anna);
  t.match(await one(annaKey, 'GET', id.toUpperCase()), { status: 200, json: { id } });
});

t.test('PATCH: email (in any case), user and null name the author; the whole record comes back', async (t) => {
  const id = await world.transcription(anna, { keyId: annaKey.id });
  const before = (await one(annaKey, 'GET', id)).json;
  t.match(await one(annaKey, 'PATCH', id, { author: `user:${bob.id}` }), {
    status: 200,
    json: { id, author: { id: bob.id, name: 'Bob' } },
  });
  t.match(await one(annaKey, 'PATCH', id, { author: 'email:aNNa@example.COM' }), { status: 200, json: { author: { id: anna.id } } });
  await one(annaKey, 'PATCH', id, { author: `user:${bob.id}` });
  const { status, json } = await one(ownerKey, 'PATCH', id, { author: null });
  t.match({ status, json }, { status: 200, json: { author: { id: anna.id } } }, 'null returns it to the creator of the uploading key');
  t.strictSame(Object.keys(json), Object.keys(before));
  t.not(json.updated_at, before.updated_at);
});

t.test('PATCH works in any status', async (t) => {
  for (const status of ['queued', 'processing', 'failed', 'insufficient_balance'] as const) {
    const id = await world.transcription(anna, { status });
    t.match(await one(annaKey, 'PATCH', id, { author: `user:${bob.id}` }), { status: 200, json: { status, author: { id: bob.id } } });
  }
});

t.test('PATCH: a member who gives a transcription away still gets the record in the response', async (t) => {
  const id = await world.transcription(bob, { author: anna });
  t.match(await one(annaKey, 'PATCH', id, { author: `user:${bob.id}` }), { status: 200, json: { author: { id: bob.id } } });
  t.match(await one(annaKey, 'GET', id), { status: 404 });
});

t.test('PATCH: authors that cannot be read, of another kind, or not active members are refused', async (t) => {
  const id = await world.transcription(anna);
  const stranger = await world.member(await world.workspace());
  for (const author of ['anna', 'user:7', 'email:', '', ':x', 7])
    t.match(await one(annaKey, 'PATCH', id, { author }), provokes(PATCH, 422, 'invalid_author'));
  t.match(await one(annaKey, 'PATCH', id, {}), provokes(PATCH, 422, 'invalid_author'));
  for (const author of ['external:crm:7', 'phone:1'])
    t.match(await one(annaKey, 'PATCH', id, { author }), provokes(PATCH, 422, 'unsupported_author_type'));
  for (const author of [`user:${stranger.id}`, `email:${stranger.email}`, `user:${pending.id}`, 'email:nobody@example.com'])
    t.match(await one(annaKey, 'PATCH', id, { author }), provokes(PATCH, 422, 'author_not_member'));
});

t.test('PATCH: another field, malformed JSON and a missing body give validation_error', async (t) => {
  const id = await world.transcription(anna);
  for (const body of [{ author: null, title: 'x' }, '{"author":', '', '[]', 'null', undefined])
    t.match(await one(annaKey, 'PATCH', id, body), provokes(PATCH, 422, 'validation_error'));
});

t.test('PATCH: order of refusals is token, scope, 404, 422, edit right', async (t) => {
  const project = await world.project(workspace, 'Read only');
  await world.join(project, bob, 'viewer');
  const id = await world.transcription(anna, { projectId: project });
  const absent = '7f2c1c9e-5d0b-4f1e-9a53-0d6f1b2c3d4e';
  t.match(await one(await world.token(anna, ['read']), 'PATCH', absent, {}), provokes(PATCH, 403, 'author_requires_api_key'));
  t.match(await one(await world.key(anna, ['read']), 'PATCH', absent, {}), provokes(PATCH, 403, 'upload_scope_required'));
  t.match(await one(annaKey, 'PATCH', absent, { bad: 1 }), provokes(PATCH, 404, null));
  t.match(await one(bobKey, 'PATCH', id, { author: 'nobody' }), provokes(PATCH, 422, 'invalid_author'));
  t.match(await one(bobKey, 'PATCH', id, { author: `user:${bob.id}` }), provokes(PATCH, 403, null));
});

t.test('PATCH: editors and owners of its project may reassign it; a key may always reassign what it uploaded', async (t) => {
  for (const role of ['editor', 'owner'] as const) {
    const project = await world.project(workspace, role);
    await world.join(project, bob, role);
    const id = await world.transcription(anna, { projectId: project });
    t.match(await one(bobKey, 'PATCH', id, { author: `user:${bob.id}` }), { status: 200 });
  }
  const seen = await world.project(workspace, 'Seen');
  await world.join(seen, bob, 'viewer');
  const id = await world.transcription(anna, { projectId: seen, keyId: bobKey.id });
  t.match(await one(bobKey, 'PATCH', id, { author: `user:${bob.id}` }), { status: 200 });
});

t.test('DELETE removes the transcription in any status, with everything that belongs to it; a second DELETE gives 404', async (t) => {
  for (const status of ['queued', 'processing', 'completed', 'failed', 'insufficient_balance'] as const) {
    const id = await world.transcription(anna, { status, metadata: '{"a":1}' });
    await world.report(id, 'summary', 'queued');
    const writer = await api.spool.create(id, 'mp3');
    await writer.write(Buffer.from('sound'));
    await writer.finish();
    await api.db.acrossTenants((tx) =>
      tx.rows('insert into reservations (transcription_id, workspace_id, minutes) values (?, ?, 1)', [id, workspace]),
    );
    await api.db.acrossTenants((tx) =>
      tx.rows(`insert into idempotency_keys (workspace_id, key, transcription_id, token, node_id) values (?, ?, ?, ?, ?)`, [
        workspace,
        id,
        id,
        id,
        id,
      ]),
    );
    const answer = await one(annaKey, 'DELETE', id);
    t.match(answer, { status: 204, text: '' });
    t.match(await one(annaKey, 'GET', id), { status: 404 });
    t.match(await one(annaKey, 'DELETE', id), provokes(DELETE, 404, null));
    for (const table of ['segments', 'reports', 'reservations', 'idempotency_keys', 'metadata_terms'])
      t.strictSame(await api.db.query('*', `select 1 from ${table} where transcription_id = ?`, [id]), [], table);
    for await (const file of api.spool.list()) t.not(file.id, id, 'the media is deleted');
  }
});

t.test('DELETE: without the scope, 403 for any id; without the right to edit a visible one, 403 without a code', async (t) => {
  const project = await world.project(workspace, 'Shared');
  await world.join(project, bob, 'viewer');
  const id = await world.transcription(anna, { projectId: project });
  t.match(await one(await world.key(anna, ['read']), 'DELETE', 'any'), provokes(DELETE, 403, 'delete_scope_required'));
  t.match(await one(bobKey, 'DELETE', id), provokes(DELETE, 403, null));
  t.match(await one(ownerKey, 'DELETE', id), { status: 204 });
});

t.test('DELETE: 30 a minute per key, including 404s; then delete_rate_exceeded with Retry-After; other keys are unaffected', async (t) => {
  const key = await world.key(anna);
  const answers = await Promise.all(Array.from({ length: 31 }, () => one(key, 'DELETE', 'none')));
  t.strictSame(answers.map((answer) => answer.status).sort(), [...Array.from({ length: 30 }, () => 404), 429]);
  const refused = answers.find((answer) => answer.status === 429)!;
  t.match(refused, provokes(DELETE, 429, 'delete_rate_exceeded'));
  const seconds = Number(refused.headers['retry-after']);
  t.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60);
  t.match(await one(await world.key(anna), 'DELETE', 'none'), { status: 404 });
  await api.db.acrossTenants((tx) => tx.rows(`update deletions set at = at - interval '61 seconds' where subject = ?`, [key.id]));
  t.match(await one(key, 'DELETE', 'none'), { status: 404 }, 'the window slides');
});

t.test('DELETE: deletions from before the clock was set back do not count', async (t) => {
  const key = await world.key(anna);
  await Promise.all(Array.from({ length: 30 }, () => one(key, 'DELETE', 'none')));
  await api.db.acrossTenants((tx) => tx.rows(`update deletions set at = at + interval '1 hour' where subject = ?`, [key.id]));
  t.match(await one(key, 'DELETE', 'none'), { status: 404 });
});
