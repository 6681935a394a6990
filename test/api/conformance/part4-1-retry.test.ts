import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { startApp } from '../../../api/app.ts';
import { claimNext, claimProbe, probed } from '../../../db/jobs/claim.ts';
import { complete } from '../../../db/jobs/complete.ts';
import { openLog } from '../../../db/ops/log.ts';
import { beat } from '../../../db/uploads/accept.ts';
import { claimKey, type IdempotencyClaim, keepAnswer, releaseKey } from '../../../db/uploads/idempotency.ts';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';
import { connectRaw, head } from '../../support/api/raw.ts';
import { FILE, knock, send, uploadHeaders } from '../../support/api/uploads.ts';
import { finished } from '../../support/engine/work.ts';
import { eventually } from '../../support/processes/service.ts';
import { runs } from '../../support/property.ts';

const POST = 'POST /transcriptions';
const api = await testApi(t);
const second = await startApp({ ...api, log: openLog(api.settings, 'api') }); // another host on the same database
t.teardown(() => second.stop(1));
const workspace = await api.world.workspace();
const owner = await api.world.member(workspace, { role: 'owner' });
const { key } = await api.world.key(owner);
const { key: rotated } = await api.world.key(owner);

const total = async () =>
  Number((await api.db.acrossTenants((tx) => tx.row<{ n: string }>('select count(*) as n from transcriptions')))!.n);
const age = (name: string, column: string) =>
  api.db.acrossTenants((tx) => tx.rows(`update idempotency_keys set ${column} = now() - interval '1 second' where key = ?`, [name]));

t.test('an Idempotency-Key used again gives 200 with the original body, also with another API key and on another host', async (t) => {
  const first = await send(api.url, key, { 'Idempotency-Key': 'again' }, '?reports=tasks,summary');
  t.equal(first.status, 201);
  t.notOk(first.headers.has('idempotency-replayed'));
  const [kept] = await api.db.query<{ hours: number }>(
    '*',
    `select extract(epoch from expires_at - now())::float8 / 3600 as hours from idempotency_keys where key = 'again'`,
  );
  t.ok(Math.abs(kept!.hours - 24) < 0.1, `kept for ${kept!.hours} hours`);
  for (const [url, caller] of [
    [api.url, key],
    [second.url, key],
    [api.url, rotated],
  ] as const) {
    const replay = await knock(url, caller, { 'Idempotency-Key': 'again', 'Content-Disposition': 'attachment; filename="other.wav"' });
    t.equal(replay.status, 200);
    t.equal(replay.headers.get('idempotency-replayed'), 'true');
    t.equal(replay.body.trim(), first.body);
  }
});

t.test('an Idempotency-Key of one workspace has no meaning in another', async (t) => {
  const { key: stranger } = await api.world.key(await api.world.member(await api.world.workspace(), { role: 'owner' }));
  const mine = await send(api.url, key, { 'Idempotency-Key': 'shared' });
  const theirs = await send(api.url, stranger, { 'Idempotency-Key': 'shared' });
  t.equal(theirs.status, 201);
  t.not(theirs.json.uuid, mine.json.uuid);
});

t.test('an Idempotency-Key in flight gives 409 with Retry-After, and 200 once the first upload is complete', async (t) => {
  const first = await connectRaw(api.url);
  first.write(head('POST', '/v1/transcriptions', uploadHeaders(key, { 'Idempotency-Key': 'flying' })));
  first.write(FILE.subarray(0, 100));
  await eventually(() => api.db.acrossTenants((tx) => tx.row(`select 1 from idempotency_keys where key = 'flying'`)), 'its claim');
  const answer = await knock(second.url, key, { 'Idempotency-Key': 'flying' });
  t.match(answer, provokes(POST, 409, 'idempotency_conflict'));
  t.equal(answer.headers.get('retry-after'), '5');
  first.write(FILE.subarray(100));
  t.equal((await first.answer()).status, 201);
  t.equal((await knock(second.url, key, { 'Idempotency-Key': 'flying' })).status, 200);
  first.end();
});

t.test('replay and conflict are answered before minutes and limits are checked', async (t) => {
  const spent = await api.world.workspace();
  const { key: spender } = await api.world.key(await api.world.member(spent, { role: 'owner' }));
  t.equal((await send(api.url, spender, { 'Idempotency-Key': 'early' })).status, 201);
  const first = await connectRaw(api.url);
  first.write(head('POST', '/v1/transcriptions', uploadHeaders(spender, { 'Idempotency-Key': 'slow' })));
  first.write(FILE.subarray(0, 100));
  await eventually(() => api.db.acrossTenants((tx) => tx.row('select 1 from upload_leases where workspace_id = ?', [spent])), 'its slot');
  await api.db.acrossTenants((tx) => tx.rows('update workspaces set balance_minutes = 0 where id = ?', [spent]));
  t.match(await knock(api.url, spender, { 'Idempotency-Key': 'early' }), { status: 200 });
  t.match(await knock(api.url, spender, { 'Idempotency-Key': 'slow' }), { status: 409, json: { code: 'idempotency_conflict' } });
  t.match(await knock(api.url, spender, { 'Idempotency-Key': 'new' }), { status: 402 });
  first.write(FILE.subarray(100));
  t.equal((await first.answer()).status, 201, 'uploads accepted before the minutes were used up continue');
  first.end();
});

t.test('a refused attempt releases its Idempotency-Key at once', async (t) => {
  const { key: poor } = await api.world.key(await api.world.member(await api.world.workspace({ minutes: 0 }), { role: 'owner' }));
  for (let tries = 0; tries < 2; tries++)
    t.match(await knock(api.url, poor, { 'Idempotency-Key': 'poor' }), provokes(POST, 402, 'insufficient_balance'));
});

t.test('an Idempotency-Key is free again after 24 hours, and after its transcription is deleted', async (t) => {
  const first = await send(api.url, key, { 'Idempotency-Key': 'day' });
  await age('day', 'expires_at');
  const next = await send(api.url, key, { 'Idempotency-Key': 'day' });
  t.equal(next.status, 201);
  t.not(next.json.uuid, first.json.uuid);
  t.equal((await api.call(key, 'DELETE', `/v1/transcriptions/${next.json.uuid}`)).status, 204);
  t.equal((await send(api.url, key, { 'Idempotency-Key': 'day' })).status, 201);
});

/** Lets an engine transcribe everything that is queued. Returns the number of charges afterwards. */
async function transcribeAll(): Promise<number> {
  const engineId = randomUUID();
  for (let claim = await claimProbe(api.db, engineId); claim; claim = await claimProbe(api.db, engineId))
    await probed(api.db, claim.lease, { durationSeconds: 1, mediaType: 'audio' });
  const next = () => claimNext(api.db, { engineId, shortOnly: false });
  for (let claim = await next(); claim; claim = await next()) if ('lease' in claim) await complete(api.db, claim.lease, finished(1));
  return Number((await api.db.acrossTenants((tx) => tx.row<{ n: string }>('select count(*) as n from ledger')))!.n);
}

t.test('N parallel uploads with one Idempotency-Key, on two hosts, give one transcription and one charge (property)', async () => {
  let charges = await transcribeAll();
  await fc.assert(
    fc.asyncProperty(fc.uuid(), fc.integer({ min: 2, max: 8 }), async (name, n) => {
      const before = await total();
      const answers = await Promise.all(
        Array.from({ length: n }, (_, i) => send(i % 2 ? second.url : api.url, key, { 'Idempotency-Key': name })),
      );
      const accepted = answers.filter(({ status }) => status === 201);
      const ids = new Set(answers.filter(({ status }) => status < 300).map(({ json }) => json.uuid));
      return (
        accepted.length === 1 &&
        ids.size === 1 &&
        answers.every(({ status }) => [200, 201, 409].includes(status)) &&
        (await total()) === before + 1 &&
        (await transcribeAll()) === ++charges
      );
    }),
    runs(8),
  );
});

t.test('claimKey() passes a key without heartbeats to the next attempt, and the loser cannot finish', async (t) => {
  const claims: IdempotencyClaim[] = [1, 2].map(() => ({ workspaceId: workspace, key: 'fenced', token: randomUUID() }));
  const claim = (i: number) => api.db.workspace(workspace, (tx) => claimKey(tx, claims[i]!, randomUUID(), randomUUID(), null));
  t.strictSame(await claim(0), { state: 'mine' });
  t.strictSame(await claim(1), { state: 'busy' });
  await age('fenced', 'lease_until');
  t.strictSame(await claim(1), { state: 'mine' });
  const answer = { uuid: randomUUID(), status: 'queued' as const, reports: [] };
  t.equal(await api.db.workspace(workspace, (tx) => keepAnswer(tx, claims[0]!, answer)), false);
  await api.db.workspace(workspace, (tx) => releaseKey(tx, claims[0]!));
  t.strictSame(await claim(0), { state: 'busy' });
  t.equal(await api.db.workspace(workspace, (tx) => keepAnswer(tx, claims[1]!, answer)), true);
  t.strictSame(await claim(0), { state: 'done', answer });
});

t.test('beat() keeps an Idempotency-Key and an upload slot alive', async (t) => {
  const node = randomUUID();
  const id = randomUUID();
  const claim: IdempotencyClaim = { workspaceId: workspace, key: 'beaten', token: randomUUID() };
  await api.db.workspace(workspace, (tx) => claimKey(tx, claim, id, node, null));
  await age('beaten', 'lease_until');
  await beat(api.db, node, [id]);
  t.strictSame(await api.db.workspace(workspace, (tx) => claimKey(tx, { ...claim, token: randomUUID() }, randomUUID(), node, null)), {
    state: 'busy',
  });
});
