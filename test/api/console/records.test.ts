import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { visit } from '../../support/console/console.ts';

const api = await testApi(t);
const { world, db } = api;
const workspace = await world.workspace();
const owner = await world.member(workspace, { role: 'owner', email: 'ann@example.com' });
const user = await world.member(workspace);
const { id: keyId, key } = await world.key(owner);
const ann = await visit(api, { key });
const foreign = await world.member(await world.workspace(), { role: 'owner' });
const other = await visit(api, await world.key(foreign));
const sales = await world.project(workspace, 'Sales');
const charge = async (minutes: number, at: string, by: { keyId?: string; projectId?: string } = {}) => {
  const id = await world.transcription(owner, by);
  await db.query('*', 'insert into ledger (workspace_id, minutes, transcription_id, created_at) values (?, ?, ?, ?)', [
    ...[workspace, -minutes, id, at],
  ]);
};

t.test('usageOf() sums what was charged, by day, key and project with their names, for owners of the workspace', async (t) => {
  await charge(2.5, '2026-01-01T23:59:00Z', { keyId });
  await charge(1, '2026-01-02T00:00:00Z', { projectId: sales });
  await charge(4, '2026-01-03T12:00:00Z');
  const get = async (query: string, person = ann) => (await person.ask('GET', `/usage?${query}`)).json.items;
  t.strictSame(await get('by=day&from=2026-01-01&to=2026-01-02'), [
    { name: '2026-01-01', recordings: 1, minutes: 2.5 },
    { name: '2026-01-02', recordings: 1, minutes: 1 },
  ]);
  t.match(await get('by=key'), [
    { name: 'Console and assistants', minutes: 5 },
    { name: /^lh_…/, recordings: 1, minutes: 2.5 },
  ]);
  t.match(await get('by=project'), [
    { name: 'No project', minutes: 6.5 },
    { name: 'Sales', minutes: 1 },
  ]);
  t.strictSame(await get('by=day', other), []);
  t.equal((await ann.ask('GET', '/usage?by=hour')).status, 422);
  t.equal((await ann.ask('GET', '/usage?from=yesterday')).status, 422);
  t.equal((await (await visit(api, await world.key(user))).ask('GET', '/usage')).status, 403);
});

t.test('auditLog() lists the latest actions of the own workspace with the member, for its owners', async (t) => {
  await ann.ask('PUT', '/settings', { vocabulary: 'Zwolle', retention_days: null, keep_recordings_days: 0 });
  const { json } = await ann.ask('GET', '/audit');
  t.match(json.items[0], { action: 'settings.change', actor_kind: 'session', member: 'ann@example.com', at: /Z$/ });
  t.notMatch(JSON.stringify(json), /Zwolle/);
  t.notMatch(JSON.stringify((await other.ask('GET', '/audit')).json), /settings\.change/);
  t.equal((await (await visit(api, await world.key(user))).ask('GET', '/audit')).status, 403);
});
