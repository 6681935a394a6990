import t from 'tap';
import { testApi } from '../support/api/client.ts';
import { visit } from '../support/console/console.ts';

/* Values that JavaScript or a schema accepts, and PostgreSQL does not. */

const api = await testApi(t);
const owner = await api.world.member(await api.world.workspace(), { role: 'owner' });
const { key } = await api.world.key(owner);
const ann = await visit(api, { key });
const list = async (query: string) => (await api.call(key, 'GET', `/v1/transcriptions?${query}`)).status;
const cursorOf = (text: string) => Buffer.from(text).toString('base64url');

t.test('listTranscriptions() refuses cursors, times and days that PostgreSQL cannot read', async (t) => {
  for (const bad of [
    `cursor=${cursorOf(`0/${'-'.repeat(36)}`)}`,
    `cursor=${cursorOf(`0/${'a'.repeat(36)}`)}`,
    'updated_since=0000-01-01T00:00:00Z',
    'updated_since=0001-01-01T00:00:00%2B00:01',
    'updated_since=9999-12-31T23:59:59-00:01',
    'date_from=0000-01-01',
    'confidence_below=1.00000001',
    'external_id=%00',
  ])
    t.equal(await list(bad), 422, bad);
});

t.test('listTranscriptions() takes every offset, precision and size that its schema allows', async (t) => {
  const id = await api.world.transcription(owner);
  const since = async (time: string) => {
    const { status, json } = await api.call(key, 'GET', `/v1/transcriptions?updated_since=${encodeURIComponent(time)}`);
    t.equal(status, 200, time.slice(0, 40));
    return json.items.map((item: { id: string }) => item.id);
  };
  const hour = new Date(Date.now() - 3_600_000).toISOString().slice(0, 19); // an hour ago
  const west = new Date(Date.now() - 3_600_000 - 23 * 3_600_000).toISOString().slice(0, 19);
  for (const time of [`${hour}Z`, `${hour}.${'1'.repeat(3_000)}Z`, `${west}-23:00`, '0001-01-01T00:00:00Z'])
    t.strictSame(await since(time), [id], time.slice(0, 40));
  const later = new Date(Date.now() + 3_600_000).toISOString().slice(0, 19);
  t.strictSame(await since(`${later}Z`), []);
  t.strictSame(await since(`${hour}-16:00`), []);
  t.strictSame(await since(`${hour}+16:00`), [id]);
  for (const good of [
    `confidence_below=0.${'0'.repeat(60)}1`,
    'confidence_below=0.00000000000000000000000000000000000000000001',
    `offset=${'9'.repeat(30)}`,
    `limit=-${'9'.repeat(30)}`,
    'date_from=0001-01-01&date_to=9999-12-31',
  ])
    t.equal(await list(good), 200, good);
});

t.test('pages of the console refuse days and numbers that PostgreSQL cannot read, and take the others', async (t) => {
  const ask = async (path: string) => (await ann.ask('GET', path)).status;
  for (const day of ['0000-01-01', '2026-02-30', '10000-01-01']) {
    t.equal(await ask(`/usage?from=${day}`), 422, day);
    t.equal(await ask(`/usage?to=${day}`), 422, day);
    t.equal(await ask(`/listing?date_to=${day}`), 422, day);
  }
  t.equal(await ask('/usage?from=0001-01-01&to=9999-12-31'), 200);
  t.equal(await ask(`/listing?confidence_below=0.${'0'.repeat(60)}1`), 200);
  const numbers = { ids: [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER] };
  t.equal((await ann.ask('POST', '/notifications/read', numbers)).status, 204);
});
