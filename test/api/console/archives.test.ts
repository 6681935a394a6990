import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { visit } from '../../support/console/console.ts';

const api = await testApi(t);
const { world } = api;
const ann = await world.member(await world.workspace(), { role: 'owner' });
const visitor = await visit(api, await world.key(ann));

t.test('manyDocuments() returns whole archives, or 503 before they begin, however many are made at once', async (t) => {
  const ids: string[] = [];
  for (let k = 0; k < 3; k++) ids.push(await world.transcription(ann, { title: `Call ${k}` }));
  const ask = () => visitor.ask('POST', '/transcriptions/documents', { ids, format: 'docx' });
  const answers = await Promise.all(
    Array.from({ length: 24 }, () => ask().catch((error: Error) => ({ status: error.message, bytes: null }))),
  );
  const whole = answers.filter(({ status }) => status === 200);
  t.ok(whole.length >= 10, `${whole.length} archives`);
  for (const { bytes } of whole) t.equal(bytes!.readUInt16LE(bytes!.lastIndexOf('PK\x05\x06') + 10), 3, 'files');
  t.strictSame([...new Set(answers.map(({ status }) => status))].toSorted(), [200, 503]);
});
