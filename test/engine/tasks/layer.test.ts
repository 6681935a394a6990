import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { ClaimedTranscription } from '../../../db/jobs/claim.ts';
import { registerEngine, unregisterEngine } from '../../../db/jobs/engines.ts';
import { answerLayer, claimLayer, requeueLayer } from '../../../db/reports/layers.ts';
import type { Holding } from '../../../engine/tasks/holdings.ts';
import { describe } from '../../../engine/tasks/layer.ts';
import type { Transcript } from '../../../engine/types.ts';
import { eventually } from '../../support/processes/service.ts';
import { taskBench } from '../../support/engine/tasks.ts';
import { engineFacts } from '../../support/engine/work.ts';

const bench = await taskBench(t);
const { db, vault } = bench;
const AWAY_MS = 20_000; // how long an engine waits without any courier
const segments = [{ id: 0, start: 0, end: 9, speaker: 0, text: 'We paint the bridge.' }];
const transcript = { language: 'en', durationSeconds: 9, segments } as unknown as Transcript;

t.test('describe() waits for a courier that is restarted while it writes, but not for one that does not come back', async (t) => {
  const workspaceId = await bench.workspace();
  const id = await bench.transcription(workspaceId);
  const claim = { aiMetadata: true, lease: { workspaceId, id } } as ClaimedTranscription;
  const holding = { signal: new AbortController().signal } as Holding;
  const begin = () => describe(bench.engineHere(), claim, transcript, holding);
  const courier = { ...engineFacts(randomUUID()), role: 'courier' as const };
  await registerEngine(db, courier);
  const describing = begin();
  const claimed = () => eventually(() => claimLayer(db, vault), 'the request');
  const request = await claimed();
  await sleep(AWAY_MS);
  await unregisterEngine(db, courier.id);
  await requeueLayer(db, request);
  await sleep(3000); // longer than it waits between two looks
  const again = await claimed();
  t.equal(again.token, request.token);
  const title = 'The bridge';
  await answerLayer(db, vault, again, { title, summary: 'It is painted.', writer: 'model', topics: [], speakerNames: [] });
  t.match(await describing, { title });
  const begun = performance.now();
  t.equal(await begin(), null);
  t.ok(performance.now() - begun >= AWAY_MS);
});
