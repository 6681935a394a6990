import t from 'tap';
import { testApi } from '../../support/api/client.ts';

const api = await testApi(t);
const { world, db, vault } = api;
const owner = await world.member(await world.workspace(), { role: 'owner' });
const { key } = await world.key(owner);
const upload = (vocabulary?: string) =>
  api.call(key, 'POST', '/v1/transcriptions', {
    body: Buffer.alloc(2048),
    headers: { 'content-disposition': 'attachment; filename=a.mp3', ...(vocabulary !== undefined && { 'x-vocabulary': vocabulary }) },
  });
const kept = async (id: string) => {
  const [row] = await db.query<{ vocabulary_sealed: Buffer | null }>('*', 'select vocabulary_sealed from transcriptions where id = ?', [
    id,
  ]);
  return vault.text(owner.workspaceId, `transcriptions|${id}|vocabulary`, row!.vocabulary_sealed);
};

t.test('X-Vocabulary is stored encrypted with the recording, sent as ASCII or as RFC 8187 specifies', async (t) => {
  for (const [sent, wanted] of [
    [undefined, null],
    ['', null],
    ['Okonkwo, Kestrel 9', 'Okonkwo, Kestrel 9'],
    ["UTF-8''Gro%C3%9Fmann%2C%20%E5%8C%97%E4%BA%AC", 'Großmann, 北京'],
    ["iso-8859-1'de'M%FCller", 'Müller'],
    ["UTF-8''two%0Alines", 'two lines'],
    ["O'Brien's list", "O'Brien's list"],
    ['x'.repeat(2000), 'x'.repeat(2000)],
  ] as const) {
    const { status, json } = await upload(sent);
    t.equal(status, 201, String(sent));
    t.equal(await kept(json.uuid), wanted);
  }
});

t.test('X-Vocabulary is refused when it is too long or cannot be read, and nothing is stored', async (t) => {
  const count = () => db.query<{ n: string }>('*', 'select count(*) as n from transcriptions').then(([row]) => row!.n);
  const before = await count();
  for (const sent of ['x'.repeat(2001), "UTF-8''%FF", "UTF-8''%zz", 'M\u00fcller'])
    t.match(
      await upload(sent),
      { status: 422, json: { code: 'validation_error', detail: { errors: [{ field: 'X-Vocabulary' }] } } },
      sent.slice(0, 20),
    );
  t.equal(await count(), before);
});
