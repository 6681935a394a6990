import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { visit } from '../../support/console/console.ts';

const api = await testApi(t, { LONGHAND_KEEP_RECORDINGS_DAYS: '7' });
const { world, db } = api;
const workspace = await world.workspace();
const owner = await world.member(workspace, { role: 'owner' });
const ann = await visit(api, await world.key(owner));
const foreign = await world.member(await world.workspace({ name: 'Other' }), { role: 'owner' });
const other = await visit(api, await world.key(foreign));

t.test('settings store vocabulary, encrypted, and for how long transcripts and recordings are kept', async (t) => {
  const unset = { vocabulary: '', retention_days: null, keep_recordings_days: 0 };
  t.strictSame((await ann.ask('GET', '/settings')).json, { ...unset, keep_recordings_most: 7 });
  const wish = { vocabulary: 'Longhand, Zwolle, naïve', retention_days: 30, keep_recordings_days: 7 };
  t.strictSame((await ann.ask('PUT', '/settings', wish)).json, wish);
  t.strictSame((await ann.ask('GET', '/settings')).json, { ...wish, keep_recordings_most: 7 });
  t.strictSame((await other.ask('GET', '/settings')).json, { ...unset, keep_recordings_most: 7 });
  const [row] = await db.query<{ line: string }>('*', 'select w::text as line from workspaces w where id = ?', [workspace]);
  t.notMatch(row!.line, /Longhand|Zwolle/);
  const bad = [
    { ...unset, vocabulary: 'x'.repeat(2001) },
    { ...unset, retention_days: 0 },
    { ...unset, retention_days: 1.5 },
    { ...unset, keep_recordings_days: 8 },
    { ...unset, keep_recordings_days: -1 },
    { vocabulary: '' },
  ];
  for (const body of bad) t.equal((await ann.ask('PUT', '/settings', body)).status, 422, JSON.stringify(body).slice(0, 60));
});

t.test('times are UTC, RFC 3339 with milliseconds and Z: not every browser can read the default format of PostgreSQL', async (t) => {
  const { json: key } = await ann.ask('POST', '/keys', { scopes: ['read'], expires_at: '2090-01-01T01:00:00+01:00' });
  const { json: webhook } = await ann.ask('POST', '/webhooks', { url: 'https://example.com/' });
  const { json: template } = await ann.ask('POST', '/templates', { name: 'Mine', prompt: 'What was agreed upon?' });
  await ann.ask('POST', '/members', { email: 'new@example.com', pending: true });
  await ann.ask('DELETE', `/keys/${key.id}`);
  await db.query('*', `insert into deliveries (workspace_id, webhook_id, event, body, delivered_at) values (?, ?, 'x', '{}', now())`, [
    workspace,
    webhook.id,
  ]);
  t.equal(key.expires_at, '2090-01-01T00:00:00.000Z');
  const answers: unknown[] = [key, webhook, template, (await ann.ask('PATCH', `/webhooks/${webhook.id}`, { active: false })).json];
  for (const path of ['/keys', '/webhooks', `/webhooks/${webhook.id}/deliveries`, '/members/pending', '/templates'])
    answers.push((await ann.ask('GET', path)).json);
  const times = [...JSON.stringify(answers).matchAll(/"(\w+_at)":("[^"]*")/g)];
  t.ok(times.length > 10);
  for (const [, name, time] of times) t.match(time, /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"$/, name!);
});

t.test('overview() counts the queue, the hours and the failures of its own workspace', async (t) => {
  const empty = (await ann.ask('GET', '/activity')).json;
  t.match(empty, { queue: { queued: 0, processing: 0, oldest_seconds: 0 }, failures: [] });
  t.equal(empty.hours.length, 48);
  for (const hour of empty.hours)
    t.match(hour, { hour: /^\d{4}-\d\d-\d\dT\d\d:00:00.000Z$/, arrived: 0, minutes: 0, completed: 0, failed: 0 });
  await world.transcription(owner, { status: 'queued', createdAt: new Date(Date.now() - 90_000).toISOString() });
  await world.transcription(owner, { status: 'processing' });
  const done = await world.transcription(owner, { duration: 90 });
  await db.acrossTenants((tx) => tx.rows('update transcriptions set completed_at = now() where id = ?', [done]));
  await world.report(done, 'summary', 'queued');
  const failed = await world.transcription(owner, { status: 'failed', errorCode: 'FILE_CORRUPTED' });
  await db.acrossTenants((tx) => tx.rows('update transcriptions set completed_at = now() where id = ?', [failed]));
  await db.acrossTenants((tx) =>
    tx.rows(
      `insert into engines (id, host, pid, version, device, model, concurrency) values (gen_random_uuid(), 'a', 1, '1.0.0', 'cpu', 'whisper-base', 2)`,
    ),
  );
  const { json } = await ann.ask('GET', '/activity');
  t.match(json, {
    queue: { queued: 1, processing: 1 },
    reports: { queued: 1, processing: 0 },
    failures: [{ id: failed, error_code: 'FILE_CORRUPTED' }],
  });
  const sum = (name: string) => json.hours.reduce((total: number, hour: Record<string, number>) => total + hour[name]!, 0);
  t.strictSame(['arrived', 'minutes', 'completed', 'failed'].map(sum), [4, 1.5, 1, 1]);
  t.ok(json.queue.oldest_seconds >= 90 && json.queue.oldest_seconds < 600);
  t.match((await other.ask('GET', '/activity')).json, {
    queue: { queued: 0, processing: 0 },
    failures: [],
  });
  t.ok((await other.ask('GET', '/activity')).json.hours.every((hour: { arrived: number }) => hour.arrived === 0));
});
