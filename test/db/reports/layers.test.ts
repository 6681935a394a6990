import { randomUUID } from 'node:crypto';
import t from 'tap';
import { answerLayer, claimLayer, readLayer, requestLayer, requeueLayer } from '../../../db/reports/layers.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openBench } from '../../support/engine/work.ts';

const { db } = await testDatabase(t);
const bench = await openBench(db);
const { vault } = bench;
const workspaceId = await bench.workspace();
const sourceOf = (text: string) => ({ language: 'en', durationSeconds: 9, segments: [{ id: 1, start: 0, end: 9, speaker: 'a', text }] });
const layer = (title: string) => ({ title, summary: '', topics: [], speakerNames: [] });
t.afterEach(() => db.query('*', 'delete from layers'));

t.test('requestLayer() replaces an earlier request, whose answer counts no more', async (t) => {
  const id = await bench.transcription(workspaceId);
  const first = await requestLayer(db, vault, { workspaceId, id }, sourceOf('one'));
  const claimed = (await claimLayer(db, vault))!;
  t.equal(claimed.token, first.token);
  const second = await requestLayer(db, vault, { workspaceId, id }, sourceOf('two'));
  t.equal(await answerLayer(db, vault, claimed, layer('of one')), false);
  t.equal(await readLayer(db, vault, first), null);
  t.equal(await readLayer(db, vault, second), 'queued');
  t.match(await claimLayer(db, vault), { token: second.token, source: { segments: [{ text: 'two' }] } });
  t.equal(await answerLayer(db, vault, second, layer('of two')), true);
  t.match(await readLayer(db, vault, second), { title: 'of two' });
});

t.test('requeueLayer() leaves a request to another courier, but not one that was answered', async (t) => {
  const id = await bench.transcription(workspaceId);
  const request = await requestLayer(db, vault, { workspaceId, id }, sourceOf('one'));
  await claimLayer(db, vault);
  t.equal(await claimLayer(db, vault), null);
  await requeueLayer(db, request);
  t.match(await claimLayer(db, vault), { token: request.token });
  await answerLayer(db, vault, request, layer('done'));
  await requeueLayer(db, request);
  t.match(await readLayer(db, vault, request), { title: 'done' });
});

t.test('claimLayer() passes over a request that another courier is claiming', async (t) => {
  const ids = [await bench.transcription(workspaceId), await bench.transcription(workspaceId)];
  for (const id of ids) await requestLayer(db, vault, { workspaceId, id }, sourceOf(id));
  await db.acrossTenants(async (tx) => {
    await tx.rows('select 1 from layers where transcription_id = ?::uuid for update', [ids[0]!]);
    t.equal((await claimLayer(db, vault))!.id, ids[1]);
    t.equal(await claimLayer(db, vault), null);
  });
  t.equal((await claimLayer(db, vault))!.id, ids[0]);
  t.equal(await answerLayer(db, vault, { workspaceId, id: ids[0]!, token: randomUUID() }, null), false, 'of another request');
});
