import t from 'tap';
import { complete } from '../../../db/jobs/complete.ts';
import { ExtractiveWriter } from '../../../engine/reports/extractive.ts';
import { type Layer, sealed } from '../../../engine/tasks/sealed.ts';
import type { Transcript } from '../../../engine/types.ts';
import { testApi } from '../../support/api/client.ts';
import { send } from '../../support/api/uploads.ts';
import { openByHand } from '../../support/engine/byhand.ts';

const api = await testApi(t);
const { world, db, vault, url } = api;
const workspace = await world.workspace({ minutes: 1000 });
const { key } = await world.key(await world.member(workspace, { role: 'owner' }));
const hand = openByHand(api);
const SAID = 'We looked at the delivery date again because the supplier said that parts will not arrive before March.';
const transcript: Transcript = {
  ...{ language: 'en', durationSeconds: 60, mediaType: 'audio', diarized: false, diarizationError: null, speakers: 0, uncoveredSeconds: 0 },
  segments: [{ id: 1, start: 0, end: 9, speaker: null, text: SAID, words: [{ start: 0, end: 9, text: SAID, probability: 1 }] }],
};
const withoutModel = async (): Promise<Layer> => {
  const segments = [{ id: 1, start: 0, end: 9, speaker: 'Speaker 1', text: SAID }];
  const source = { language: 'en', durationSeconds: 60, segments };
  return { ...(await new ExtractiveWriter().describe(source, new AbortController().signal)), names: new Map() };
};

t.test('sealed() leaves title and topics empty if nothing better is known: the file name is shown, and no topics', async (t) => {
  for (const [what, layer, title, topics] of [
    ['nothing was requested', null, 'Call 17.mp3', []],
    ['no language model', await withoutModel(), 'Call 17.mp3', []],
    [
      'a language model',
      { title: 'Late parts', summary: 'Late.', topics: ['Parts'], names: new Map() } as Layer,
      'Late parts',
      [{ title: 'Parts' }],
    ],
  ] as const) {
    const named = { 'Content-Disposition': 'attachment; filename="Call 17.mp3"' };
    const id = (await send(url, key, named, '', Buffer.alloc(4_096, 1))).json.uuid as string;
    await hand.probe();
    const claim = await hand.take();
    await complete(db, claim.lease, await sealed(vault, claim, transcript, layer));
    const { json } = await api.call(key, 'GET', `/v1/transcriptions/${id}`);
    t.strictSame([json.title, json.topics ?? []], [title, topics], what);
    const { items } = (await api.call(key, 'GET', '/v1/transcriptions')).json;
    t.match(
      items.find((item: { id: string }) => item.id === id),
      { title },
      what,
    );
    const { text } = await api.call(key, 'GET', `/v1/transcriptions/${id}/export?format=md`);
    t.match(text, `title: "${title}"`, what);
  }
});

t.test('sealed() keeps every segment of a transcript that is stored in several blocks', async (t) => {
  const segments = Array.from({ length: 450 }, (_, i) => ({
    ...{ id: i + 1, start: i, end: i + 0.9, speaker: null, text: `Number ${i}.` },
    words: [{ start: i, end: i + 0.9, text: ` Number ${i}.`, probability: 1 }],
  }));
  const id = (await send(url, key, {}, '', Buffer.alloc(4_096, 1))).json.uuid as string;
  await hand.probe(500);
  const claim = await hand.take();
  await complete(db, claim.lease, await sealed(vault, claim, { ...transcript, durationSeconds: 450, segments }, null));
  const { json } = await api.call(key, 'GET', `/v1/transcriptions/${id}`);
  t.strictSame(
    json.segments.map((segment: { text: string }) => segment.text),
    segments.map(({ text }) => text),
  );
});
