import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { member } from '../../support/api/zip.ts';
import { visit } from '../../support/console/console.ts';

const api = await testApi(t);
const { world, call, db } = api;
const workspace = await world.workspace();
const owner = await world.member(workspace, { role: 'owner', name: 'Ann' });
const user = await world.member(workspace, { name: 'Bob', email: 'bob@example.com' });
const { key } = await world.key(owner);
const [ann, bob] = [await visit(api, { key }), await visit(api, await world.key(user))];
const turn = (start: number, speaker: string, text: string) => ({
  ...{ start, end: start + 2, speaker, text },
  words: text.split(' ').map((word, at): [number, number, string] => [start + at * 0.5, start + at * 0.5 + 0.4, ` ${word}`]),
});
const TURNS = [
  turn(0, 'speaker_1', 'Helo there.'),
  turn(3, 'speaker_2', 'Good morning.'),
  turn(6, 'speaker_3', 'It is me.'),
  turn(9, 'speaker_1', 'Right.'),
];
const SPEAKERS = [1, 2, 3].map((n) => ({ id: `speaker_${n}`, ai_name: null, name: n === 3 ? 'Carl' : null }));
const make = () => world.transcription(user, { title: 'A call', turns: TURNS, speakers: SPEAKERS });
const record = async (id: string, words = false) => (await call(key, 'GET', `/v1/transcriptions/${id}${words ? '?words=true' : ''}`)).json;
const changes = async (id: string) => (await ann.ask('GET', `/transcriptions/${id}/changes`)).json;
const correct = (who: typeof ann, id: string, body: object, headers = {}) => who.ask('PATCH', `/transcriptions/${id}/text`, body, headers);

t.test('correctText() to letters or emoji that join to one wider than a line leaves subtitles readable', async (t) => {
  for (const text of ['\u1100'.repeat(25), Array(21).fill('\u{1f642}').join('\u200d')]) {
    const id = await make();
    t.equal((await correct(ann, id, { version: 0, segments: [{ id: 1, text }] })).status, 200);
    for (const format of ['srt', 'vtt']) {
      const answer = await call(key, 'GET', `/v1/transcriptions/${id}/subtitles?format=${format}`);
      t.equal(answer.status, 200);
      t.match(answer.text, [...text].slice(0, 8).join(''));
    }
  }
});

t.test('correctText() and rename() answer 404 if the transcript is deleted before they read it again', async (t) => {
  await db.direct(`create function remove_it() returns trigger language plpgsql as
    'begin delete from transcriptions where id = new.id; return null; end'`);
  await db.direct(`create constraint trigger remove_it after update on transcriptions deferrable initially deferred
    for each row execute function remove_it()`);
  t.teardown(() => db.direct('drop trigger remove_it on transcriptions; drop function remove_it()'));
  const [corrected, renamed] = [await make(), await make()];
  t.match(await correct(ann, corrected, { version: 0, title: 'Another' }), { status: 404 });
  t.match(await ann.ask('PATCH', `/transcriptions/${renamed}/speakers/speaker_1`, { name: 'Dora' }), { status: 404 });
});

t.test('correctText() refuses a segment that is named twice, and more text than can be compared in one request', async (t) => {
  const id = await make();
  const [text, most] = ['水'.repeat(20_000), 'a '.repeat(9_999)];
  for (const segments of [
    [
      { id: 1, text },
      { id: 1, text: `${text.slice(1)}火` },
    ],
    [
      { id: 1, text: 'x' },
      { id: 1, speaker_id: 'speaker_2' },
    ],
    [1, 2, 3, 4, 5, 6].map((id) => ({ id, text: most })),
    [{ id: 1, text: `${text}x` }],
  ]) {
    const { status, json } = await correct(ann, id, { version: 0, segments });
    t.match([status, json], [422, { code: 'validation_error', detail: { errors: [{ field: /^segments/ }] } }]);
  }
  t.match((await correct(ann, id, { version: 0, segments: [1, 2, 3, 4].map((id) => ({ id, text })) })).status, 200);
});

t.test('correctText() changes title and text everywhere, records who and when, and keeps word timestamps of unchanged words', async (t) => {
  const id = await make();
  const before = await call(key, 'GET', `/v1/transcriptions/${id}`);
  t.strictSame(await changes(id), { version: 0, items: [] });
  const corrected = await correct(bob, id, { version: 0, title: ' First  call ', segments: [{ id: 1, text: 'Hello there.' }] });
  t.match(corrected, { status: 200, json: { title: 'First call', segments: [{ text: 'Hello there.' }] } });
  const after = await call(key, 'GET', `/v1/transcriptions/${id}`);
  t.strictSame(after.json, corrected.json);
  t.not(after.headers.etag, before.headers.etag);
  t.not(after.json.updated_at, before.json.updated_at);
  const { segments } = await record(id, true);
  t.match(segments[0].words, [
    { start: 0, end: 0.4 },
    { start: 0.5, end: 0.9 },
  ]);
  t.match(segments[0].words[0].text.trim(), 'Hello');
  for (const format of ['md', 'txt', 'json']) {
    const { text } = await call(key, 'GET', `/v1/transcriptions/${id}/export?format=${format}`);
    t.match(text, 'Hello there.', format);
    t.notMatch(text, 'Helo', format);
  }
  for (const format of ['srt', 'vtt'])
    t.match((await call(key, 'GET', `/v1/transcriptions/${id}/subtitles?format=${format}`)).text, 'Hello there.', format);
  const word = await member((await ann.ask('GET', `/transcriptions/${id}/documents/docx`)).bytes, 'word/document.xml');
  t.match(word, 'Hello there.');
  t.match(word, 'First call');
  t.notMatch(word, 'Helo');
  t.match(await changes(id), {
    version: 2,
    items: [
      {
        version: 2,
        kind: 'text',
        segment: 1,
        before: 'Helo there.',
        after: 'Hello there.',
        by: { name: 'Bob', email: 'bob@example.com' },
        at: /Z$/,
      },
      { version: 1, kind: 'title', before: 'A call', after: 'First call' },
    ],
  });
  t.equal((await correct(bob, id, { version: 2, title: 'First call' })).status, 200);
  t.equal((await changes(id)).version, 2, 'an identical value is not a change');
  t.match(
    await correct(bob, id, { version: 2, title: ' ' }),
    { status: 200, json: { title: 'call.mp3' } },
    'without a title, the file name',
  );
  const plain = await db.acrossTenants((tx) =>
    tx.rows<{ c: Buffer }>('select change_sealed as c from corrections where transcription_id = ?', [id]),
  );
  for (const { c } of plain) t.notOk(/call|Hello|Bob/.test(c.toString('latin1')), 'sealed');
});

t.test('correctText() assigns a segment to another speaker and merges two; speakers are named in the order they speak', async (t) => {
  const id = await make();
  await correct(bob, id, { segments: [{ id: 1, speaker_id: 'speaker_2' }] });
  const moved = await record(id);
  t.match(moved.segments[0], { speaker_id: 'speaker_2' });
  t.match(moved.speakers, [{ id: 'speaker_2', name: 'Speaker 1' }, { id: 'speaker_3', name: 'Carl' }, { id: 'speaker_1' }]);
  t.match(moved.text, /^\[00:00\] Speaker 1: Helo there\.\n\[00:03\] Speaker 1: Good/);
  t.equal((await correct(bob, id, { version: 1, merge: { speaker_id: 'speaker_3', into: 'speaker_1' } })).status, 200);
  const merged = await record(id);
  t.strictSame(
    merged.segments.map((segment: { speaker_id: string }) => segment.speaker_id),
    ['speaker_2', 'speaker_2', 'speaker_1', 'speaker_1'],
  );
  t.equal(merged.speakers.length, 2);
  await correct(ann, id, { undo: 2 });
  const back = await record(id);
  t.match(back.segments[2], { speaker_id: 'speaker_3', speaker_name: 'Carl' }, 'with its earlier name');
  await correct(ann, id, { undo: 1 });
  t.strictSame(
    (await record(id)).segments.map((segment: { speaker_id: string }) => segment.speaker_id),
    TURNS.map(({ speaker }) => speaker),
  );
  t.match((await changes(id)).items, [{ undoes: 1, by: { name: 'Ann' } }, { undoes: 2 }, { kind: 'merge' }, { kind: 'speaker' }]);
});

t.test('correctText() undoes a text with its word timestamps, and an undo too', async (t) => {
  const id = await make();
  const before = await record(id, true);
  await correct(bob, id, { segments: [{ id: 3, text: 'That is you, perhaps.' }] });
  await correct(ann, id, { version: 1, undo: 1 });
  t.strictSame((await record(id, true)).segments, before.segments);
  await correct(bob, id, { version: 2, undo: 2 });
  t.equal((await record(id)).segments[2].text, 'That is you, perhaps.');
  t.equal((await correct(bob, id, { undo: 9 })).status, 422);
});

t.test('correctText() gives a segment back to a speaker whom a later change removed, and to none', async (t) => {
  const id = await make();
  await correct(ann, id, { version: 0, segments: [{ id: 4, speaker_id: 'speaker_3' }] });
  const merged = await correct(ann, id, { version: 1, merge: { speaker_id: 'speaker_1', into: 'speaker_2' } });
  t.equal(merged.json.speakers.length, 2);
  const undone = await correct(ann, id, { undo: 1 });
  t.match(undone, { status: 200, json: { segments: [{}, {}, {}, { speaker_id: 'speaker_1' }] } });
  t.strictSame(
    undone.json.speakers.map(({ id }: { id: string }) => id),
    ['speaker_2', 'speaker_3', 'speaker_1'],
  );

  const unassigned = await world.transcription(user, {
    turns: [...TURNS.slice(0, 3), { ...TURNS[3]!, speaker: null }],
    speakers: SPEAKERS,
  });
  t.match(await correct(ann, unassigned, { segments: [{ id: 4, speaker_id: 'speaker_2' }] }), {
    json: { segments: [{}, {}, {}, { speaker_id: 'speaker_2' }] },
  });
  t.match(await correct(ann, unassigned, { undo: 1 }), { status: 200, json: { segments: [{}, {}, {}, { speaker_id: null }] } });
});

t.test('correctText() refuses to overwrite an unseen change, and shows it; changes elsewhere do not matter', async (t) => {
  const id = await make();
  await correct(ann, id, { version: 0, segments: [{ id: 1, text: 'Hello, there!' }] });
  const late = await correct(bob, id, { version: 0, segments: [{ id: 1, text: 'Hello there.' }] });
  t.match(late, {
    status: 409,
    json: {
      code: null,
      detail: { change: { version: 1, by: { name: 'Ann' }, kind: 'text', segment: 1, before: 'Helo there.', after: 'Hello, there!' } },
    },
  });
  t.equal((await record(id)).segments[0].text, 'Hello, there!');
  t.equal((await correct(bob, id, { version: 0, segments: [{ id: 2, text: 'Good evening.' }] })).status, 200);
  t.equal(
    (await correct(bob, id, { segments: [{ id: 1, text: 'Hello there.' }] }, { 'if-match': '"2"' })).status,
    200,
    'based on the current version',
  );
  t.equal((await correct(ann, id, { undo: 1 })).status, 409, 'a later change depends on it');
  const race = await Promise.all(['One.', 'Two.'].map((text) => correct(bob, id, { version: 3, segments: [{ id: 4, text }] })));
  t.strictSame(race.map(({ status }) => status).sort(), [200, 409], 'one of two concurrent changes is refused');
});

t.test('correctText() shows unseen changes of a segment and of its speaker in turn, so that none is overwritten unseen', async (t) => {
  const text = (text: string) => ({ segments: [{ id: 1, text }] });
  const voice = (speaker_id: string) => ({ segments: [{ id: 1, speaker_id }] });
  for (const hers of [
    [voice('speaker_2'), text('Hello!')],
    [text('Hello!'), voice('speaker_2')],
    [text('Hello?'), voice('speaker_2'), text('Hello!')],
  ]) {
    const id = await make();
    for (const [version, change] of hers.entries()) t.equal((await correct(ann, id, { version, ...change })).status, 200);
    const both = { segments: [{ id: 1, text: 'Hi.', speaker_id: 'speaker_3' }] };
    const shown = [];
    for (let version = 0; ; ) {
      const answer = await correct(bob, id, { version, ...both });
      if (answer.status === 200) break;
      shown.push(answer.json.detail.change.after);
      version = answer.json.detail.change.version;
    }
    t.strictSame(shown.sort(), ['Hello!', 'speaker_2']);
    t.match((await record(id)).segments[0], { text: 'Hi.', speaker_id: 'speaker_3' });
  }
});

t.test('correctText() needs the right to edit and a finished transcript, and refuses what does not exist', async (t) => {
  const id = await make();
  const carl = await visit(api, await world.key(await world.member(workspace, { name: 'Carl' })));
  t.equal((await correct(carl, id, { title: 'X' })).status, 404);
  const project = await world.project(workspace, 'Sales');
  const shared = await world.transcription(owner, { projectId: project });
  await world.join(project, user, 'viewer');
  t.equal((await correct(bob, shared, { title: 'X' })).status, 403, 'a viewer');
  t.equal((await bob.ask('GET', `/transcriptions/${shared}/changes`)).status, 200);
  t.equal((await carl.ask('GET', `/transcriptions/${shared}/changes`)).status, 404);
  t.equal((await correct(bob, await world.transcription(user, { status: 'queued' }), { title: 'X' })).status, 409);
  for (const body of [
    {},
    { version: 1 },
    { segments: [{ id: 99, text: 'X' }] },
    { segments: [{ id: 99, speaker_id: 'speaker_1' }] },
    { segments: [{ id: 1, text: ' ' }] },
    { segments: [{ id: 1, speaker_id: 'speaker_9' }] },
    { merge: { speaker_id: 'speaker_1', into: 'speaker_1' } },
    { merge: { speaker_id: 'speaker_9', into: 'speaker_1' } },
    { colour: 'red' },
  ])
    t.equal((await correct(bob, id, body)).status, 422, JSON.stringify(body));
  t.strictSame(await changes(id), { version: 0, items: [] });
});

t.test('correctText() keeps corrections and their author when the member is removed', async (t) => {
  const dora = await world.member(workspace, { name: 'Dora', role: 'owner' });
  const id = await make();
  const hers = await visit(api, await world.key(dora));
  await correct(hers, id, { title: 'By Dora' });
  t.equal((await ann.ask('DELETE', `/members/${dora.id}`)).status, 204);
  t.match(await changes(id), { items: [{ after: 'By Dora', by: { id: dora.id, name: 'Dora' } }] });
  t.equal((await record(id)).title, 'By Dora');
});
