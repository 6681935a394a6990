import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';

const api = await testApi(t);
const { world } = api;
const workspace = await world.workspace();
const anna = await world.member(workspace, { role: 'owner' });
const { key } = await world.key(anna);
const list = (query = '') => api.call(key, 'GET', `/v1/transcriptions${query}`);
const titles = async (query: string) => (await list(query)).json.items.map((item: { title: string }) => item.title);

const project = await world.project(workspace, 'Sales');
const metadata = '{"n":42,"s":"42","b":true,"z":null,"a":["x",[7]],"o":{"n":42},"a.b":"dot","big":12345678901234567890,"e":1e2}';
await world.transcription(anna, {
  filename: 'a.mp3',
  duration: 10,
  createdAt: '2026-01-01T00:00:00Z',
  metadata,
  externalId: 'Deal',
  language: 'en',
});
await world.transcription(anna, { filename: 'b.mp3', duration: 30, createdAt: '2026-01-01T23:59:59.999Z', projectId: project });
await world.transcription(anna, { filename: 'c.mp3', duration: null, createdAt: '2026-01-02T00:00:00Z', externalId: 'Deal' });
await world.transcription(anna, { filename: 'd.mp3', duration: 20, createdAt: '2026-01-03T12:00:00Z', externalId: 'deal' });
await world.transcription(anna, { filename: 'q.mp3', status: 'queued' });

t.test('status: completed by default; an unknown or empty one gives an empty list', async (t) => {
  t.strictSame(await titles(''), ['d.mp3', 'c.mp3', 'b.mp3', 'a.mp3']);
  t.strictSame(await titles('?status=queued'), ['q.mp3']);
  for (const query of ['?status=all', '?status=', '?status=Completed']) t.match((await list(query)).json, { items: [], total: 0 });
});

t.test('limit is clamped to 1 to 100 and echoed; offset below 0 is 0, past the end gives no items and the true total', async (t) => {
  for (const [given, used] of [
    ['0', 1],
    ['-5', 1],
    ['500', 100],
    ['3', 3],
    ['99999999999999999999', 100],
  ] as const)
    t.match((await list(`?limit=${given}`)).json, { limit: used, total: 4 });
  t.match((await list('?limit=2&offset=3')).json, { items: [{ title: 'a.mp3' }], total: 4, limit: 2, offset: 3 });
  t.strictSame((await list('?offset=40')).json, { items: [], total: 4, limit: 20, offset: 40 });
  t.match((await list('?offset=-1')).json, { offset: 0, total: 4 });
  t.match((await list('?offset=99999999999999999999')).json, { items: [], total: 4 });
});

t.test('limit, offset, sort, dates and project_id that cannot be read are 422 validation_error with the field', async (t) => {
  const bad = ['limit=x', 'limit=1.5', 'limit=', 'offset=one', 'sort=name', 'sort=', 'date_from=2026-02-30', 'date_to=2026-1-1'];
  for (const query of [...bad, 'date_from=0000-01-01', 'date_from=2026-01-01T00:00:00Z', 'project_id=7', 'limit=1&limit=2']) {
    const answer = await list(`?${query}`);
    t.match(answer, provokes('GET /transcriptions', 422, 'validation_error'), query);
    t.match(answer.json.detail.errors, [{ field: query.split('=')[0], message: String }]);
  }
});

t.test('sort: by created_at or duration, in both directions; null durations come last in both', async (t) => {
  t.strictSame(await titles('?sort=created_at'), ['a.mp3', 'b.mp3', 'c.mp3', 'd.mp3']);
  t.strictSame(await titles('?sort=-created_at'), ['d.mp3', 'c.mp3', 'b.mp3', 'a.mp3']);
  t.strictSame(await titles('?sort=duration'), ['a.mp3', 'd.mp3', 'b.mp3', 'c.mp3']);
  t.strictSame(await titles('?sort=-duration'), ['b.mp3', 'd.mp3', 'a.mp3', 'c.mp3']);
});

t.test('date_from and date_to are whole days in UTC; an inverted range is empty', async (t) => {
  t.strictSame(await titles('?date_from=2026-01-01&date_to=2026-01-01'), ['b.mp3', 'a.mp3']);
  t.strictSame(await titles('?date_from=2026-01-02'), ['d.mp3', 'c.mp3']);
  t.strictSame(await titles('?date_to=2026-01-01'), ['b.mp3', 'a.mp3']);
  t.match((await list('?date_from=2026-01-03&date_to=2026-01-01')).json, { items: [], total: 0 });
});

t.test('project_id, language and external_id match exactly; unknown ones give an empty list; filters are combined with AND', async (t) => {
  t.strictSame(await titles(`?project_id=${project}`), ['b.mp3']);
  t.strictSame(await titles(`?project_id=${project.toUpperCase()}`), ['b.mp3']);
  t.strictSame(await titles('?project_id=11111111-1111-1111-1111-111111111111'), []);
  t.strictSame(await titles('?language=en'), ['a.mp3']);
  t.strictSame(await titles('?language=tlh'), []);
  t.strictSame(await titles('?external_id=Deal'), ['c.mp3', 'a.mp3']);
  t.strictSame(await titles('?external_id=Deal&language=en'), ['a.mp3']);
  t.strictSame(await titles('?external_id=Dea'), []);
});

t.test('metadata.<key> compares with the text of a scalar, or of an element of an array; objects never match', async (t) => {
  const found = ['n=42', 's=42', 'b=true', 'z=null', 'a=x', 'a=7', 'a.b=dot', 'big=12345678901234567890', 'e=1e2', 'n=42&metadata.b=true'];
  for (const filter of found) t.strictSame(await titles(`?metadata.${filter}`), ['a.mp3'], filter);
  const none = [
    'n=42.0',
    'n=4',
    'b=1',
    'o=42',
    'o={"n":42}',
    'x=42',
    'N=42',
    'big=12345678901234567000',
    'e=100',
    'a=[7]',
    'n=42&metadata.b=no',
    'n=%00',
  ];
  for (const filter of none) t.strictSame(await titles(`?metadata.${filter.replaceAll('"', '%22')}`), [], filter);
  t.match(await list('?metadata.n=1&metadata.n=2'), provokes('GET /transcriptions', 422, 'validation_error'));
});

t.test('metadata[key] means metadata.key, and no other name that begins with metadata is ignored', async (t) => {
  for (const filter of ['[n]=42', '%5Bn%5D=42', '[a.b]=dot', '[n]=42&metadata.b=true', '[n]=42&metadata[b]=true'])
    t.strictSame(await titles(`?metadata${filter}`), ['a.mp3'], filter);
  t.strictSame(await titles('?metadata[n]=43'), []);
  for (const other of [
    '=%7B%22n%22:42%7D',
    '[n]=42&metadata.n=42',
    '[n]=42&metadata[n]=42',
    '[]=42',
    '[n=42',
    '[n][o]=42',
    '_n=42',
    'n=42',
  ])
    t.match(await list(`?metadata${other}`), provokes('GET /transcriptions', 422, 'validation_error'), other);
  t.match(await list('?Metadata[n]=42'), provokes('GET /transcriptions', 422, 'validation_error'));
});

t.test('metadata.<key> follows the status of its transcription', async (t) => {
  const id = await world.transcription(anna, { status: 'processing', metadata: '{"call":"77"}', filename: 'w.mp3' });
  t.strictSame(await titles('?metadata.call=77'), []);
  t.strictSame(await titles('?metadata.call=77&status=processing'), ['w.mp3']);
  await api.db.acrossTenants((tx) => tx.rows(`update transcriptions set status = 'failed' where id = ?`, [id]));
  t.strictSame(await titles('?metadata.call=77&status=failed'), ['w.mp3']);
  await api.call(key, 'DELETE', `/v1/transcriptions/${id}`);
  t.strictSame(await titles('?metadata.call=77&status=failed'), []);
});

t.test('unknown query parameters are ignored; U+0000 in a known one is refused, never a failure', async (t) => {
  t.equal((await list('?color=red&meta=1')).json.total, 4);
  for (const query of ['?external_id=%00', '?language=%00', '?status=%00']) t.ok((await list(query)).status < 500);
});

t.test('pages: walked by offset, they contain each item once; on the last page, offset plus items equals total', async (t) => {
  for (const sort of ['created_at', '-created_at', 'duration', '-duration']) {
    const seen: string[] = [];
    for (let last = false; !last; ) {
      const { items, total, offset } = (await list(`?sort=${sort}&limit=3&offset=${seen.length}`)).json;
      seen.push(...items.map(({ title }: { title: string }) => title));
      last = offset + items.length >= total;
      t.ok(items.length === 3 || last);
    }
    t.strictSame(seen, await titles(`?sort=${sort}&limit=100`), sort);
    t.equal(seen.length, 4);
  }
});
