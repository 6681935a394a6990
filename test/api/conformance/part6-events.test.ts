import t from 'tap';
import { ROUTES } from '../../../api/v1/routes.ts';
import { testApi } from '../../support/api/client.ts';
import { send } from '../../support/api/uploads.ts';
import { openByHand } from '../../support/engine/byhand.ts';

const api = await testApi(t);
const { db, world } = api;
const { transcribe } = openByHand(api);
const workspace = await world.workspace();
const owner = await world.member(workspace, { role: 'owner' });
const anna = await world.member(workspace);
const bob = await world.member(workspace);
const { key } = await world.key(owner);
const notified = (id: string) =>
  db.query<{ member_id: string }>('*', 'select member_id from notifications where transcription_id = ?', [id]);

t.test('6 results are obtained by polling: every state is read by GET, and nothing is sent to the caller', async (t) => {
  const { json } = await send(api.url, key);
  const read = async () => (await api.call(key, 'GET', `/v1/transcriptions/${json.uuid}`)).json;
  t.match(await read(), { status: 'queued' });
  await transcribe(workspace, json.uuid);
  t.match(await read(), { status: 'completed' });
  t.strictSame(await db.query('*', 'select 1 from deliveries'), [], 'there is no webhook until one is created in the web app');
});

t.test('6 a ready notification goes to the author in the web app, and not through the API', async (t) => {
  const { json } = await send(api.url, key, { 'X-Author': `user:${anna.id}` });
  await transcribe(workspace, json.uuid);
  t.strictSame(await notified(json.uuid), [{ member_id: anna.id }]);
  t.notOk(ROUTES.some(({ path, hidden }) => !hidden && /notif|event/.test(path)));
  t.notMatch((await api.call(key, 'GET', `/v1/transcriptions/${json.uuid}`)).text, /notif/);
});

t.test('4.2a a new author of an unfinished transcription gets the ready notification', async (t) => {
  const { json } = await send(api.url, key, { 'X-Author': `user:${anna.id}` });
  t.equal((await api.call(key, 'PATCH', `/v1/transcriptions/${json.uuid}`, { body: { author: `user:${bob.id}` } })).status, 200);
  await transcribe(workspace, json.uuid);
  t.strictSame(await notified(json.uuid), [{ member_id: bob.id }]);
});
