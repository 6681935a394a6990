import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { eventually } from '../../support/processes/service.ts';

const api = await testApi(t);
const owner = await api.world.member(await api.world.workspace(), { role: 'owner' });
const { key } = await api.world.key(owner);
const get = (id: string, query: string) => api.call(key, 'GET', `/v1/transcriptions/${id}${query}`);
const become = (id: string, status: string) =>
  api.db.acrossTenants((tx) => tx.rows('update transcriptions set status = ?, updated_at = clock_timestamp() where id = ?', [status, id]));

/**
 * Response to a request that waits while the status changes. A busy machine may look at the status only after the change, and then wait in
 * vain: the change comes later then. Rejects if it is never noticed.
 */
async function changing(id: string, query: string, from: string, to: string) {
  for (const pause of [300, 3_000, 15_000]) {
    await become(id, from);
    const begun = performance.now();
    const waiting = get(id, `?wait=30${query}`);
    await sleep(pause);
    await become(id, to);
    const answer = await waiting;
    if (performance.now() - begun < 25_000) return answer; // long before the wait times out
  }
  throw new Error(`a change from ${from} to ${to} did not end the wait`);
}

t.test('wait returns when the status changes, and when the transcription ends', async (t) => {
  const id = await api.world.transcription(owner, { status: 'queued' });
  t.match(await changing(id, '', 'queued', 'processing'), { status: 200, json: { status: 'processing' } });
  t.match(await changing(id.toUpperCase(), '&words=true', 'processing', 'failed'), { status: 200, json: { status: 'failed' } });
  t.match(await get(id, '?wait=60'), { status: 200, json: { status: 'failed' } }, 'a finished one is returned immediately');
});

t.test('wait returns the current state after the given seconds, and is clamped or refused like other numbers', async (t) => {
  const id = await api.world.transcription(owner, { status: 'queued' });
  const begun = performance.now();
  t.match(await get(id, '?wait=1'), { status: 200, json: { status: 'queued' } });
  t.ok(performance.now() - begun >= 950);
  t.equal((await get(id, '?wait=-5')).status, 200);
  for (const wait of ['x', '1.5', '']) t.match(await get(id, `?wait=${wait}`), { status: 422, json: { code: 'validation_error' } }, wait);
  t.equal((await get('7f2c1c9e-5d0b-4f1e-9a53-0d6f1b2c3d4e', '?wait=30')).status, 404, 'an absent id is not waited for');
  const gone = get(id, '?wait=30');
  await sleep(200);
  await api.call(key, 'DELETE', `/v1/transcriptions/${id}`);
  t.equal((await gone).status, 404, 'deletion ends the wait');
});

t.test('wait can last longer than the HTTP library keeps idle connections open', async (t) => {
  const id = await api.world.transcription(owner, { status: 'queued' });
  t.match(await get(id, '?wait=16'), { status: 200, json: { status: 'queued' } });
});

t.test('300 waiting requests hold no connection of the pool, and every one is answered', async (t) => {
  const id = await api.world.transcription(owner, { status: 'processing' });
  const agent = new http.Agent({ keepAlive: true });
  const ask = () =>
    new Promise<string>((resolve, reject) => {
      const path = `/v1/transcriptions/${id}?wait=60`;
      http
        .get(api.url + path, { agent, headers: { authorization: `Bearer ${key}` } }, async (answer) => {
          resolve(JSON.parse(Buffer.concat(await answer.toArray()).toString()).status);
        })
        .on('error', reject);
    });
  const waiting = Array.from({ length: 300 }, ask);
  await sleep(1_500);
  const busy = async () => {
    const [row] = await api.db.direct(
      `select count(*)::int as held from pg_stat_activity where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`,
    );
    return Number(row!.held);
  };
  await t.resolves(
    eventually(async () => (await busy()) <= 2, 'connections to be free while 300 requests wait', 40),
    'a slow machine reads the requests for longer',
  );
  t.equal((await get(id, '')).status, 200, 'other requests are served meanwhile');
  await become(id, 'completed');
  t.strictSame(new Set(await Promise.all(waiting)), new Set(['completed']));
  agent.destroy();
});
