import t from 'tap';
import { testApi } from '../../support/api/client.ts';

const api = await testApi(t);
const { world, db } = api;
const owner = await world.member(await world.workspace(), { role: 'owner' });
const { key } = await world.key(owner);
const get = async (path: string) => (await api.call(key, 'GET', `/v1/transcriptions${path}`)).json;
const words = (...confidences: (number | undefined)[]) =>
  confidences.map(
    (confidence, at) => [at, at + 1, ` w${at}`, ...(confidence === undefined ? [] : [confidence])] as unknown as [number, number, string],
  );
const record = async (confidence: number | null, ...confidences: (number | undefined)[]) => {
  const id = await world.transcription(owner, {
    turns: [{ start: 0, end: 3, speaker: null, text: 'w0 w1', words: words(...confidences) }],
  });
  await db.query('*', 'update transcriptions set confidence = ? where id = ?', [confidence, id]);
  return id;
};

t.test('words=true returns the confidence of each word, and the mean for each segment', async (t) => {
  const id = await record(0.7, 0.5, 0.9);
  const [segment] = (await get(`/${id}?words=true`)).segments;
  t.match(segment, {
    confidence: 0.7,
    words: [
      { text: ' w0', confidence: 0.5 },
      { text: ' w1', confidence: 0.9 },
    ],
  });
  t.notOk('confidence' in (await get(`/${id}`)).segments[0], 'only with the parameter');
  const older = await record(null, undefined, undefined);
  t.notMatch(JSON.stringify((await get(`/${older}?words=true`)).segments), 'confidence', 'absent where it is unknown');
});

t.test('confidence_below finds recordings that need review, combined with other filters', async (t) => {
  const sure = await record(0.95, 0.95);
  const unsure = await record(0.4, 0.4);
  const ids = async (query: string) => (await get(`?${query}`)).items.map((item: { id: string }) => item.id);
  t.strictSame(await ids('confidence_below=0.6'), [unsure]);
  t.ok(!(await ids('confidence_below=0.95')).includes(sure), 'below, not at');
  t.ok((await ids('confidence_below=1')).includes(sure));
  t.strictSame(await ids('confidence_below=0.6&language=de'), []);
  t.strictSame(await ids('confidence_below=0'), []);
  t.strictSame(await ids('confidence_below=0.6&q=w1'), [unsure]);
  for (const bad of ['', 'x', '-1', '1.5', '2', '0.5&confidence_below=0.6'])
    t.match(await get(`?confidence_below=${bad}`), { code: 'validation_error' }, bad);
});
