import t from 'tap';
import { mergeDue } from '../../../db/search/blocks.ts';
import { indexWaiting } from '../../../db/search/keep.ts';
import { testApi } from '../../support/api/client.ts';
import type { Given } from '../../support/databases/world.ts';

const api = await testApi(t);
const { world, db, vault } = api;
const workspace = await world.workspace();
const owner = await world.member(workspace, { role: 'owner' });
const user = await world.member(workspace);
const [{ key }, { key: userKey }] = [await world.key(owner), await world.key(user)];
const said = (...texts: string[]) =>
  texts.map((text, at) => ({ start: at * 2, end: at * 2 + 2, speaker: `speaker_${(at % 2) + 1}`, text }));
const record = (text: string | string[], given: Given = {}) => world.transcription(owner, { turns: said(...[text].flat()), ...given });
const find = async (query: string, as = key) => {
  const { status, json } = await api.call(as, 'GET', `/v1/transcriptions?${query}`);
  return { status, json, ids: (json.items ?? []).map((item: { id: string }) => item.id) as string[] };
};
const q = (text: string) => `q=${encodeURIComponent(text)}`;

t.test('q finds recordings in which all words were said, with up to three hits', async (t) => {
  const id = await record(['The quarterly invoice is late.', 'Which invoice?', 'The invoice of May.', 'Invoice, invoice!', 'Good day.']);
  const other = await record(['Good day to you.']);
  t.match((await find(q('INVOICE quarterly'))).json, {
    total: 1,
    items: [{ id, hits: [{ segment: 1, start: 0, speaker_id: 'speaker_1', text: 'The quarterly invoice is late.' }] }],
  });
  const { json } = await find(q('invoice'));
  t.strictSame(
    json.items[0].hits.map((hit: { segment: number }) => hit.segment),
    [1, 2, 3],
  );
  t.strictSame((await find(q('good day'))).ids.sort(), [id, other].sort());
  t.strictSame((await find(q('invoice to'))).ids, [], 'all words in one recording');
  t.strictSame((await find(q('invoices'))).ids, [], 'another inflection is another word');
  t.strictSame((await find(q('call'))).ids, [], 'file names are not searched');
  for (const bad of ['q=', 'q=%20', q('?!'), `q=${'a'.repeat(501)}`, 'q=a&q=b'])
    t.match(await find(bad), { status: 422, json: { code: 'validation_error' } }, bad);
  t.notOk('hits' in (await find('limit=1')).json.items[0], 'only with the parameter');
});

t.test('q matches any letter case, accents, compounds and scripts as people type them', async (t) => {
  const ids = {
    german: await record('Die Straße ist lang, schöne Grüße.'),
    compound: await record("We don't send e-mail to example.com."),
    chinese: await record('我们明天去北京开会。'),
    thai: await record('สวัสดีครับ ผมชื่อสมชาย'),
    greek: await record('Καλημέρα ΚΌΣΜΕ'),
  };
  const expected: [string, keyof typeof ids][] = [
    ['strasse GRUSSE', 'german'],
    ['schone', 'german'],
    ['dont email', 'compound'],
    ["don't e-mail", 'compound'],
    ['example', 'compound'],
    ['北京', 'chinese'],
    ['สวัสดี', 'thai'],
    ['κοσμε', 'greek'],
  ];
  for (const [text, name] of expected) t.strictSame((await find(q(text))).ids, [ids[name]], text);
});

t.test('q can be combined with every filter and with paging, and respects who may see what', async (t) => {
  const project = await world.project(workspace, 'Calls');
  const ids: string[] = [];
  for (let i = 0; i < 5; i++)
    ids.push(
      await record('a zebra crossing', {
        ...{
          language: i % 2 ? 'de' : 'en',
          externalId: `z-${i}`,
          metadata: `{"n":${i}}`,
          createdAt: `2026-02-0${i + 1}T00:00:00Z`,
          duration: 10 + i,
        },
        ...(i === 3 && { projectId: project }),
      }),
    );
  t.strictSame((await find(q('zebra'))).ids, [...ids].reverse(), 'newest first');
  const page = await find(`${q('zebra')}&limit=2&offset=2`);
  t.match(page.json, { total: 5, limit: 2, offset: 2 });
  t.strictSame(page.ids, [ids[2], ids[1]]);
  t.strictSame((await find(`${q('zebra')}&sort=duration&limit=1`)).ids, [ids[0]]);
  for (const [filter, wanted] of [
    ['language=de', [3, 1]],
    ['external_id=z-2', [2]],
    ['metadata.n=4', [4]],
    ['metadata[n]=4&language=en', [4]],
    ['date_from=2026-02-02&date_to=2026-02-03', [2, 1]],
    [`project_id=${project}`, [3]],
    ['status=failed', []],
  ] as const) {
    const found = await find(`${q('zebra')}&${filter}`);
    t.strictSame(
      found.ids,
      wanted.map((i) => ids[i]),
      filter,
    );
    t.equal(found.json.total, wanted.length, filter);
  }
  t.strictSame((await find(q('zebra'), userKey)).ids, []);
  await world.join(project, user, 'viewer');
  t.strictSame((await find(q('zebra'), userKey)).ids, [ids[3]]);
  const foreign = await world.member(await world.workspace(), { role: 'owner' });
  t.strictSame((await find(q('zebra'), (await world.key(foreign)).key)).ids, []);
});

t.test('q finds recent changes immediately, and nothing that was deleted', async (t) => {
  const id = await record('the first wording');
  t.strictSame((await find(q('wording'))).ids, [id]);
  const turns = JSON.stringify([{ id: 1, start: 0, end: 2, speaker: null, text: 'the corrected text' }]);
  const sealed = await vault.seal(workspace, `segments|${id}:0|turns`, turns);
  await db.workspace(workspace, (tx) => tx.rows('update segments set turns_sealed = ? where transcription_id = ?', [sealed, id]));
  t.strictSame((await find(q('corrected'))).ids, [id]);
  t.strictSame((await find(q('wording'))).ids, []);
  t.equal((await api.call(key, 'DELETE', `/v1/transcriptions/${id}`)).status, 204);
  t.match((await find(q('corrected'))).json, { total: 0, items: [] });
});

t.test('the index finds the same after its transcripts are packed into blocks, and blocks into larger ones', async (t) => {
  const crowd = await world.member(await world.workspace(), { role: 'owner' });
  const mine = (await world.key(crowd)).key;
  const ids: string[] = [];
  for (let i = 0; i < 150; i++)
    ids.push(
      await world.transcription(crowd, { turns: said(`number${i} ${i % 2 ? 'odd' : 'even'} ${i % 7 ? '' : 'seventh'} everywhere`) }),
    );
  while (await indexWaiting(db, vault, crowd.workspaceId, 100));
  const rows = (table: string) =>
    db.query<{ n: number }>(crowd.workspaceId, `select count(*)::int as n from search_${table}`).then(([row]) => row!.n);
  const check = async (when: string) => {
    for (const [text, wanted] of [
      ['number77', 1],
      ['everywhere', ids.length],
      ['odd seventh', 11],
      ['even odd', 0],
    ] as const)
      t.equal((await find(`${q(text)}&limit=1`, mine)).json.total, wanted, `${text}, ${when}`);
  };
  await check('one by one');
  while (await mergeDue(db));
  t.equal(await rows('blocks'), 2);
  t.ok((await rows('fresh')) < 64);
  await check('in blocks');
  t.equal((await api.call(mine, 'DELETE', `/v1/transcriptions/${ids[0]}`)).status, 204);
  t.match((await find(q('number0'), mine)).json, { total: 0 });
  t.match((await find(q('everywhere'), mine)).json, { total: 149 });
  await db.query('*', `update search_gone set gone_at = now() - interval '2 days'`);
  await db.query('*', 'update search_states set due = true');
  while (await mergeDue(db));
  t.equal(await rows('gone'), 0, 'a transcript deleted a day ago is no longer in any block');
  t.match((await find(q('everywhere'), mine)).json, { total: 149 });
});

t.test('a dump of the database contains no word of a transcript', async (t) => {
  await record('a pomegranate and a chrysanthemum');
  t.equal((await find(q('pomegranate'))).json.total, 1);
  const tables = await db.direct(`select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`);
  for (const { relname } of tables) {
    const rows = await db.direct(`select x::text as text from ${relname} x`);
    for (const { text } of rows) t.notMatch(String(text), /pomegranate|chrysanthemum|706f6d656772616e617465/i, String(relname));
  }
});
