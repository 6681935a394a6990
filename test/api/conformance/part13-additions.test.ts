import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';

const api = await testApi(t);
const { world } = api;
const workspace = await world.workspace();
const anna = await world.member(workspace, { role: 'owner' });
const { key } = await world.key(anna);
const get = (path: string, headers: Record<string, string> = {}) => api.call(key, 'GET', `/v1/transcriptions/${path}`, { headers });

t.test('progress: only present while queued or processing', async (t) => {
  const id = await world.transcription(anna, { status: 'processing', stage: 'transcribing', fraction: 0.33333 });
  t.strictSame((await get(id)).json.progress, { stage: 'transcribing', fraction: 0.333 });
  t.strictSame((await get(await world.transcription(anna, { status: 'queued' }))).json.progress, { stage: 'waiting', fraction: 0 });
  t.notOk('progress' in (await get(await world.transcription(anna))).json);
});

t.test('words: only returned with the parameter, which is true, false, 1 or 0; never in exports', async (t) => {
  const id = await world.transcription(anna);
  for (const query of ['', '?words=false', '?words=0']) t.notOk('words' in (await get(id + query)).json.segments[0]);
  for (const query of ['?words=true', '?words=1'])
    t.strictSame((await get(id + query)).json.segments[0].words, [
      { start: 0.5, end: 1.1, text: ' Hello' },
      { start: 1.2, end: 2, text: ' there.' },
    ]);
  for (const query of ['?words=yes', '?words=', '?words=1&words=1'])
    t.match(await get(id + query), provokes('GET /transcriptions/{id}', 422, 'validation_error'));
  t.notOk((await get(`${id}/export?format=json&words=true`)).text.includes('"words"'));
});

t.test('ETag: If-None-Match gives 304 without a body, until anything in the record changes', async (t) => {
  const id = await world.transcription(anna, { status: 'processing' });
  let last = await get(id);
  const unchanged = async () => {
    const answer = await get(id, { 'if-none-match': `"other", W/${last.headers.etag}` });
    t.match(answer, { status: 304, text: '', headers: { etag: last.headers.etag } });
    t.match(await get(id, { 'if-none-match': '*' }), { status: 304 });
  };
  const changes = [
    `update transcriptions set fraction = 0.5 where id = ?`,
    `update transcriptions set stage = 'finishing' where id = ?`,
    `update transcriptions set status = 'completed', updated_at = clock_timestamp() where id = ?`,
    `update transcriptions set author_name = 'New', updated_at = clock_timestamp() where id = ?`,
  ];
  for (const change of changes) {
    await unchanged();
    await api.db.acrossTenants((tx) => tx.rows(change, [id]));
    const next = await get(id, { 'if-none-match': last.headers.etag! });
    t.equal(next.status, 200, change);
    t.not(next.headers.etag, last.headers.etag);
    last = next;
  }
  await unchanged();
  await world.report(id, 'summary', 'queued');
  t.equal((await get(id, { 'if-none-match': last.headers.etag! })).status, 200, 'a report was requested');
  const spoken = await world.transcription(anna);
  t.not((await get(`${spoken}?words=true`)).headers.etag, (await get(spoken)).headers.etag, 'words have their own ETag');
});

t.test('ETag: a record that was deleted or hidden gives 404, even if it was cached', async (t) => {
  const bob = await world.member(workspace);
  const bobKey = (await world.key(bob)).key;
  const id = await world.transcription(anna, { author: bob });
  const path = `/v1/transcriptions/${id}`;
  const { headers } = await api.call(bobKey, 'GET', path);
  await api.call(key, 'PATCH', path, { body: { author: `user:${anna.id}` } });
  t.equal((await api.call(bobKey, 'GET', path, { headers: { 'if-none-match': headers.etag! } })).status, 404);
  await api.call(key, 'DELETE', path);
  t.equal((await get(id, { 'if-none-match': headers.etag! })).status, 404);
});

t.test('subtitles: srt and vtt of a completed transcription, named after the title', async (t) => {
  const id = await world.transcription(anna, { filename: 'Call.mp3' });
  const srt = await get(`${id}/subtitles?format=srt`);
  t.match(srt, { status: 200, headers: { 'content-type': 'application/x-subrip; charset=utf-8' } });
  t.equal(srt.headers['content-disposition'], `attachment; filename="Call.srt"; filename*=UTF-8''Call.srt`);
  t.equal(srt.text, '1\n00:00:00,500 --> 00:00:04,200\n- Hello there.\n- Hi.\n');
  const vtt = await get(`${id}/subtitles?format=vtt`);
  t.equal(vtt.headers['content-type'], 'text/vtt; charset=utf-8');
  t.match(vtt.text, /^WEBVTT\n\n00:00:00\.500 --> 00:00:04\.200\n<v Speaker 1>- Hello there\.<\/v>\n<v Speaker 2>- Hi\.<\/v>\n$/);
});

t.test('subtitles: nothing said gives no cues; 409 before completion, 422 for other formats, 404 for absent ids', async (t) => {
  const id = await world.transcription(anna, { turns: [], speakers: [] });
  t.equal((await get(`${id}/subtitles`)).text, '');
  t.equal((await get(`${id}/subtitles?format=vtt`)).text, 'WEBVTT\n');
  for (const status of ['queued', 'processing', 'failed', 'insufficient_balance'] as const)
    t.match(
      await get(`${await world.transcription(anna, { status })}/subtitles`),
      provokes('GET /transcriptions/{id}/subtitles', 409, 'transcription_not_completed'),
    );
  t.match(await get(`${id}/subtitles?format=ass`), provokes('GET /transcriptions/{id}/subtitles', 422, 'validation_error'));
  t.match(await get('none/subtitles'), provokes('GET /transcriptions/{id}/subtitles', 404, null));
});
