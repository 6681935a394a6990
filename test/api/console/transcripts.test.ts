import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { visit } from '../../support/console/console.ts';

const api = await testApi(t);
const { world, call, db } = api;
const workspace = await world.workspace();
const [owner, user, third] = [
  await world.member(workspace, { role: 'owner' }),
  await world.member(workspace, { name: 'Bob' }),
  await world.member(workspace, { name: 'Carl' }),
];
const [annKey, bobKey] = [await world.key(owner), await world.key(user)];
const [ann, bob, carl] = [await visit(api, annKey), await visit(api, bobKey), await visit(api, await world.key(third))];
const foreign = await world.member(await world.workspace({ name: 'Other' }), { role: 'owner' });
const other = await visit(api, await world.key(foreign));
const said = (text: string) => [{ start: 0, end: 2, speaker: 'speaker_1', text }];

t.test('listing() finds words in what the person may see, newest first, and returns the total', async (t) => {
  const hers = await world.transcription(owner, { turns: said('The Invoice is overdue.'), createdAt: '2026-01-01T00:00:00Z' });
  const his = await world.transcription(user, {
    turns: said('Send the invoice again.'),
    title: 'A call',
    createdAt: '2026-01-02T00:00:00Z',
  });
  await world.transcription(foreign, { turns: said('An invoice from elsewhere.') });
  await world.transcription(user, { status: 'failed', errorCode: 'ENGINE_ERROR', filename: 'invoice.mp3' });
  const all = await ann.ask('GET', '/listing?q=INVOICE');
  t.match(all.json, {
    total: 2,
    items: [
      {
        id: his,
        title: 'A call',
        status: 'completed',
        opening: 'Send the invoice again.',
        hits: [{ segment: 1, start: 0, speaker_id: 'speaker_1' }],
      },
      { id: hers },
    ],
  });
  t.strictSame(
    (await bob.ask('GET', '/listing?q=invoice')).json.items.map((item: { id: string }) => item.id),
    [his],
  );
  t.match((await ann.ask('GET', '/listing?q=invoice&limit=1')).json, { total: 2, limit: 1, items: [{ id: his }] });
  t.match((await ann.ask('GET', '/listing?q=unheard')).json, { total: 0, items: [] });
  t.match((await bob.ask('GET', '/listing?q=a%20CALL')).json.items, [{ id: his, hits: [] }], 'titles are searched too');
  for (const query of ['q=', 'q=x', 'q=hello&limit=many', 'q=hello&q=hello'])
    t.equal((await ann.ask('GET', `/listing?${query}`)).status, 422, query);
});

t.test('listing() reaches the oldest of many transcripts, also with filters', async (t) => {
  const [, crowd] = [await world.workspace(), await world.member(await world.workspace({ name: 'Crowd' }), { role: 'owner' })];
  const oldest = await world.transcription(crowd, { turns: said('a needle'), createdAt: '2025-01-01T00:00:00Z' });
  for (let i = 0; i < 60; i++) await world.transcription(crowd, { turns: said('hay') });
  const reader = await visit(api, await world.key(crowd));
  t.match((await reader.ask('GET', '/listing?q=needle')).json, { total: 1, items: [{ id: oldest }] });
  t.match((await reader.ask('GET', '/listing?q=needle&date_from=2025-01-02')).json, { total: 0, items: [] });
});

t.test('renameSpeaker() overrides the name given by the AI everywhere, changes the ETag, and can be undone', async (t) => {
  const id = await world.transcription(user, {
    speakers: [
      { id: 'speaker_1', ai_name: 'Robert', name: null },
      { id: 'speaker_2', ai_name: null, name: null },
    ],
  });
  const path = `/transcriptions/${id}/speakers/speaker_1`;
  const before = await call(bobKey.key, 'GET', `/v1/transcriptions/${id}`);
  const renamed = await bob.ask('PATCH', path, { name: ' Dorothy ' });
  t.match(renamed, { status: 200, json: { id, segments: [{ speaker_name: 'Dorothy', speaker_id: 'speaker_1' }] } });
  const after = await call(bobKey.key, 'GET', `/v1/transcriptions/${id}`, { headers: { 'if-none-match': before.headers.etag! } });
  t.equal(after.status, 200, 'not 304');
  t.not(after.headers.etag, before.headers.etag);
  t.strictSame(after.json, renamed.json);
  t.match((await call(bobKey.key, 'GET', `/v1/transcriptions/${id}/export?format=txt`)).text, /Dorothy/);
  t.match((await bob.ask('GET', `/transcriptions/${id}/subtitles?format=vtt`)).text, /Dorothy/);
  t.notMatch((await bob.ask('PATCH', path, { name: null })).text, /Dorothy/);
  t.match((await bob.ask('GET', `/transcriptions/${id}`)).text, /Robert/);
});

t.test('renameSpeaker() needs the right to edit', async (t) => {
  const project = await world.project(workspace, 'Sales');
  await world.join(project, user, 'editor');
  await world.join(project, third, 'viewer');
  const id = await world.transcription(owner, { projectId: project });
  const rename = (who: typeof ann, speaker = 'speaker_1') => who.ask('PATCH', `/transcriptions/${id}/speakers/${speaker}`, { name: 'X' });
  t.equal((await rename(bob)).status, 200, 'an editor');
  t.match(await rename(carl), { status: 403, json: { code: null } }, 'a viewer');
  t.equal((await rename(other)).status, 404, 'another workspace');
  t.equal((await rename(ann, 'speaker_9')).status, 404, 'no speaker has that id');
  t.equal((await ann.ask('PATCH', `/transcriptions/${id}/speakers/speaker_1`, { name: '' })).status, 422);
  t.equal((await call(annKey.key, 'PATCH', `/v1/app/transcriptions/${id}/speakers/speaker_1`, { body: { name: 'X' } })).status, 401);
});

t.test('notifications reach the author, can be marked as read, and disappear with the right to see the transcript', async (t) => {
  const ids = [
    await world.transcription(owner, { author: third, title: 'First' }),
    await world.transcription(owner, { author: third, filename: 'second.mp3' }),
  ];
  for (const id of ids) {
    await db.acrossTenants((tx) =>
      tx.rows('insert into notifications (workspace_id, member_id, transcription_id) values (?, ?, ?)', [workspace, third.id, id]),
    );
  }
  const { json } = await carl.ask('GET', '/notifications');
  t.match(json, {
    unread: 2,
    items: [
      { title: 'second.mp3', transcription_id: ids[1], read: false },
      { title: 'First', read: false },
    ],
  });
  t.strictSame((await ann.ask('GET', '/notifications')).json, { items: [], unread: 0 }, 'the uploader is not notified');
  t.equal((await bob.ask('POST', '/notifications/read', { ids: [json.items[0].id] })).status, 204);
  t.equal((await carl.ask('GET', '/notifications')).json.unread, 2, 'each person marks only their own as read');
  t.equal((await carl.ask('POST', '/notifications/read', { ids: [json.items[0].id] })).status, 204);
  t.equal((await carl.ask('GET', '/notifications')).json.unread, 1);
  t.equal((await carl.ask('POST', '/notifications/read', {})).status, 204);
  t.equal((await carl.ask('GET', '/notifications')).json.unread, 0);
  await db.acrossTenants((tx) => tx.rows('update transcriptions set author_id = ? where id = ?', [owner.id, ids[1]]));
  t.equal((await carl.ask('GET', '/notifications')).json.items.length, 1);
});

t.test('/v1/app answers as /v1 does, with a session instead of a key', async (t) => {
  const id = await world.transcription(user);
  const [plain, twin] = await Promise.all([
    call(bobKey.key, 'GET', `/v1/transcriptions/${id}?words=true`),
    bob.ask('GET', `/transcriptions/${id}?words=true`),
  ]);
  t.strictSame(twin.json, plain.json);
  t.equal((await bob.ask('GET', `/transcriptions/${id}?words=true`, undefined, { 'if-none-match': twin.headers.etag! })).status, 304);
  t.match(await other.ask('GET', `/transcriptions/${id}`), { status: 404, json: { code: null } });
  const upload = () =>
    bob.ask('POST', '/transcriptions', Buffer.alloc(2048, 1), {
      'content-type': 'audio/mpeg',
      'content-disposition': 'attachment; filename="a.mp3"',
      'idempotency-key': 'one',
    });
  const first = await upload();
  t.match(first, { status: 201, json: { status: 'queued' } });
  t.match(await upload(), { status: 200, headers: { 'idempotency-replayed': 'true' }, json: first.json });
  t.equal((await bob.ask('DELETE', `/transcriptions/${id}`)).status, 204);
  t.equal((await call(bobKey.key, 'GET', `/v1/transcriptions/${id}`)).status, 404);
  const identity = { provider: 'crm', external_id: '7' };
  t.equal((await bob.ask('PUT', `/workspace/members/${user.id}/identities`, identity)).status, 403, 'only owners manage identities');
});
