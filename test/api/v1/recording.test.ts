import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { complete, fail } from '../../../db/jobs/complete.ts';
import { expiredMedia } from '../../../db/jobs/kept.ts';
import { leftoverMedia } from '../../../db/jobs/sweep.ts';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';
import { send } from '../../support/api/uploads.ts';
import { visit } from '../../support/console/console.ts';
import { openByHand } from '../../support/engine/byhand.ts';

const api = await testApi(t, { LONGHAND_KEEP_RECORDINGS_DAYS: '7' });
const { world, db, settings } = api;
const workspace = await world.workspace({ minutes: 1000 });
const owner = await world.member(workspace, { role: 'owner' });
const { key } = await world.key(owner);
const hand = openByHand(api);
const WAV = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), randomBytes(700_000), Buffer.from('spoken words')]);

const keep = (days: number) => db.query('*', 'update workspaces set keep_recordings_days = ? where id = ?', [days, workspace]);
const age = (id: string, days: number) =>
  db.query('*', `update transcriptions set completed_at = completed_at - ?::int * interval '1 day' where id = ?`, [days, id]);
const at = (id: string) => `/v1/transcriptions/${id}/recording`;
const get = (id: string, headers: Record<string, string> = {}, as = key) => api.call(as, 'GET', at(id), { headers });
const expired = async () => (await expiredMedia(db, settings.LONGHAND_KEEP_RECORDINGS_DAYS)).map(({ id }) => id);
const named = { 'Content-Disposition': `attachment; filename*=UTF-8''Gespr%C3%A4ch.mp3` }; // a wrong extension
const upload = async () => (await send(api.url, key, named, '', WAV)).json.uuid as string;

async function completed(days = 7): Promise<string> {
  const id = await upload();
  await hand.probe();
  const { lease } = await hand.take();
  await complete(db, lease, await hand.result(workspace, id, 60), days);
  return id;
}

t.test('complete() keeps nothing unless both the operator and the workspace want it, and only of what was completed', async (t) => {
  const left = async (id: string) => (await leftoverMedia(db)).some((media) => media.id === id);
  for (const [days, most, kept] of [
    [0, 7, false],
    [3, 0, false],
    [3, 7, true],
  ] as const) {
    await keep(days);
    const id = await completed(most);
    t.equal(await left(id), !kept, `${days} of at most ${most} days`);
    t.equal((await get(id)).status, kept ? 200 : 404);
  }
  const id = await upload();
  await hand.probe();
  t.equal((await get(id)).status, 404, 'not before completion');
  await fail(db, (await hand.take()).lease, 'FILE_CORRUPTED');
  t.ok(await left(id), 'a failed one is removed');
  t.match(await get(id), { status: 404, json: { code: null } });
});

t.test('GET recording returns the file or a part of it, by its container and under its name, and HEAD the size', async (t) => {
  await keep(7);
  const id = await completed();
  const whole = await get(id);
  t.match(whole.headers, {
    'content-type': 'audio/wav',
    'content-length': String(WAV.length),
    'cache-control': 'private, no-store',
    'accept-ranges': 'bytes',
    etag: `"${id}"`,
  });
  t.match(whole.headers['content-disposition'], /^attachment; .*Gespr%C3%A4ch\.mp3/);
  t.notOk(whole.headers['transfer-encoding']);
  t.ok(whole.bytes.equals(WAV));
  const sealed = await readFile(join(settings.LONGHAND_HOME, 'spool', `${id}.mp3`));
  t.notOk(sealed.includes('spoken words') || sealed.includes('WAVE'), 'encrypted in the spool');
  const part = await get(id, { range: 'bytes=262140-262150' });
  t.match(part, { status: 206, headers: { 'content-range': `bytes 262140-262150/${WAV.length}`, 'content-length': '11' } });
  t.ok(part.bytes.equals(WAV.subarray(262_140, 262_151)));
  t.equal((await get(id, { range: 'bytes=-12' })).text, 'spoken words');
  const beyond = await get(id, { range: `bytes=${WAV.length}-` });
  t.match(beyond, provokes('GET /transcriptions/{id}/recording', 416, 'range_not_satisfiable'));
  t.match(beyond, { headers: { 'content-range': `bytes */${WAV.length}` }, json: { detail: { size_bytes: WAV.length } } });
  t.equal((await get(id, { range: 'bytes=0-1,4-5' })).status, 200, 'several ranges return the whole file');
  t.equal((await get(id, { range: 'bytes=0-1', 'if-range': `"${id}"` })).status, 206);
  t.equal((await get(id, { range: 'bytes=0-1', 'if-range': '"another"' })).status, 200);
  const head = await api.call(key, 'HEAD', at(id), { headers: { range: 'bytes=0-1' } });
  t.match(head, { status: 200, headers: { 'content-length': String(WAV.length), 'content-type': 'audio/wav' } });
  t.equal(head.bytes.length, 0);
});

t.test('GET recording follows the visibility of the transcription, and the session of the console sees the same', async (t) => {
  await keep(7);
  const id = await completed();
  const stranger = await world.member(workspace);
  const { key: foreign } = await world.key(await world.member(await world.workspace(), { role: 'owner' }));
  const { key: hers } = await world.key(stranger);
  for (const other of [hers, foreign]) t.match(await get(id, {}, other), { status: 404, json: { code: null } });
  t.match(await get('none'), provokes('GET /transcriptions/{id}/recording', 404, null));
  t.equal((await get(id, {}, (await world.key(owner, ['uploads:write'])).key)).status, 403);
  const person = await visit(api, { key });
  const part = await person.ask('GET', `/transcriptions/${id}/recording`, undefined, { range: 'bytes=0-3' });
  t.match(part, { status: 206, text: 'RIFF', headers: { 'cache-control': 'private, no-store' } });
  t.match((await person.ask('GET', `/transcriptions/${id}/rights`)).json, { recording_until: /^\d{4}-/ });
  t.equal((await (await visit(api, { key: hers })).ask('GET', `/transcriptions/${id}/recording`)).status, 404);
});

t.test('a recording is out of reach and due for removal at the end of its term, which a shortened policy shortens', async (t) => {
  await keep(5);
  const id = await completed();
  t.strictSame(await expired(), []);
  await age(id, 4);
  t.equal((await get(id)).status, 200);
  t.strictSame(await expired(), []);
  await keep(4);
  t.equal((await get(id)).status, 404, 'the workspace shortens the term');
  t.strictSame(await expired(), [id]);
  await keep(7);
  t.equal((await get(id)).status, 200);
  t.strictSame(
    (await expiredMedia(db, 3)).map((media) => media.id),
    [id],
    'the operator shortens it',
  );
  await db.query('*', 'update transcriptions set media_until = now() where id = ?', [id]);
  t.equal((await get(id)).status, 404, 'a longer policy does not extend a term');
  t.strictSame(await expired(), [id]);
});

t.test('deleting a transcription removes its kept recording, and leaves its name to the sweep', async (t) => {
  await keep(7);
  const id = await completed();
  const files = async () => {
    const names: string[] = [];
    for await (const file of api.spool.list()) names.push(file.id);
    return names;
  };
  t.ok((await files()).includes(id));
  t.equal((await api.call(key, 'DELETE', `/v1/transcriptions/${id}`)).status, 204);
  t.notOk((await files()).includes(id));
  t.equal((await get(id)).status, 404);
  t.strictSame(await db.query('*', `select name from spool_orphans where seen_at = '-infinity'`), [{ name: `${id}.mp3` }]);
});
