import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { SCOPES } from '../../../api/contract/workspace.ts';
import { openLog } from '../../../db/ops/log.ts';
import { announce } from '../../../db/webhooks/outbox.ts';
import type { Courier } from '../../../engine/courier/courier.ts';
import { deliver } from '../../../engine/courier/deliver.ts';
import { testApi } from '../../support/api/client.ts';

const api = await testApi(t, { LONGHAND_WEBHOOK_PRIVATE: 'allow' });
const { world, db, vault, settings } = api;
const workspace = await world.workspace();
const [owner, user] = [await world.member(workspace, { role: 'owner' }), await world.member(workspace)];
const [{ key }, { key: userKey }] = [await world.key(owner), await world.key(user)];
const ask = (method: string, path: string, body?: unknown, as = key) => api.call(as, method, `/v1/webhooks${path}`, { body });
const engine = { db, vault, log: openLog(settings, 'engine'), privateWebhooks: true } as unknown as Courier;

const calls: { headers: IncomingHttpHeaders; body: string }[] = [];
const server = createServer(async (request, response) => {
  calls.push({ headers: request.headers, body: await text(request) });
  response.writeHead(204).end();
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => server.close());
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;

/** Sends all deliveries that are due. Returns the received requests. */
async function sent() {
  calls.length = 0;
  const due = () =>
    db.query<{ id: string }>(
      '*',
      `select d.id from deliveries d join webhooks w on w.id = d.webhook_id and w.active
    where d.status = 'pending' and d.next_at <= now() order by d.next_at limit 1`,
    );
  for (let [next] = await due(); next; [next] = await due()) await deliver(engine, next.id);
  return calls.map(({ body }) => JSON.parse(body));
}
const tell = (event: 'transcription.completed' | 'report.failed') =>
  db.workspace(workspace, (tx) =>
    announce(tx, workspace, { event, transcription_id: workspace, status: 'completed', error_code: null, external_id: null }),
  );
const verified = (secret: string) => new Webhook(secret).verify(calls[0]!.body, calls[0]!.headers as Record<string, string>);

t.test('webhooks are created, read, changed and deleted through the API', async (t) => {
  const made = await ask('POST', '', { url, events: ['report.failed'] });
  t.match(made, { status: 201, json: { url, events: ['report.failed'], active: true, secret: /^whsec_/ } });
  const { id, secret: _, ...rest } = made.json;
  t.strictSame((await ask('GET', `/${id}`)).json, { id, ...rest }, 'the secret is shown once');
  t.strictSame((await ask('GET', '')).json, { items: [{ id, ...rest }], total: 1 });
  t.match(await ask('PATCH', `/${id}`, { events: null, active: false }), { status: 200, json: { id, url, events: null, active: false } });
  t.match(await ask('PATCH', `/${id}`, { url: `${url}/other` }), { status: 200, json: { url: `${url}/other`, active: false } });
  t.equal((await ask('DELETE', `/${id}`)).status, 204);
  for (const [method, path, body] of [
    ['GET', `/${id}`],
    ['DELETE', `/${id}`],
    ['PATCH', `/${id}`, { active: true }],
    ['POST', `/${id}/test`],
    ['POST', `/${id}/secret`],
    ['GET', '/none'],
  ] as const)
    t.match(await ask(method, path, body), { status: 404, json: { code: null } }, `${method} ${path}`);
});

t.test('webhooks need their own scope, which only keys of owners have', async (t) => {
  const lacking = await world.key(
    owner,
    SCOPES.filter((scope) => scope !== 'webhooks:write'),
  );
  for (const as of [lacking.key, userKey, (await world.token(owner, ['read'])).key])
    for (const [method, path, body] of [
      ['GET', ''],
      ['POST', '', { url }],
      ['DELETE', '/none'],
    ] as const)
      t.match(await ask(method, path, body, as), { status: 403, json: { code: null } }, `${method} ${path}`);
});

t.test('invalid addresses and changes of webhooks are refused immediately', async (t) => {
  for (const body of [
    {},
    { url: 'ftp://example.com' },
    { url: 'https://a:b@example.com' },
    { url: 'example.com' },
    { url, events: [] },
    { url, events: ['call.ended'] },
    { url, more: 1 },
  ])
    t.match(await ask('POST', '', body), { status: 422, json: { code: 'validation_error' } }, JSON.stringify(body));
  const { id } = (await ask('POST', '', { url })).json;
  for (const body of [{}, { secret: 'x' }, { url: 'x' }, { active: 'yes' }])
    t.match(await ask('PATCH', `/${id}`, body), { status: 422, json: { code: 'validation_error' } }, JSON.stringify(body));
  await ask('DELETE', `/${id}`);
});

t.test('private webhook addresses are refused where deliveries to them are', async (t) => {
  const strict = await testApi(t);
  const person = await strict.world.member(await strict.world.workspace(), { role: 'owner' });
  const { key: other } = await strict.world.key(person);
  for (const address of ['http://127.0.0.1/', 'http://169.254.169.254/latest', 'http://[::1]:9/', 'http://localhost/'])
    t.match(
      await strict.call(other, 'POST', '/v1/webhooks', { body: { url: address } }),
      { status: 422, json: { code: 'validation_error' } },
      address,
    );
  const made = await strict.call(other, 'POST', '/v1/webhooks', { body: { url: 'https://192.0.32.10/' } });
  t.equal(made.status, 201);
  const moved = await strict.call(other, 'PATCH', `/v1/webhooks/${made.json.id}`, { body: { url: 'http://10.0.0.1/' } });
  t.match(moved, { status: 422, json: { code: 'validation_error' } });
});

t.test('a webhook receives the events it subscribes to, and test events', async (t) => {
  const { id, secret } = (await ask('POST', '', { url, events: ['report.failed'] })).json;
  await tell('transcription.completed');
  await tell('report.failed');
  t.match(await sent(), [{ event: 'report.failed' }]);
  t.ok(verified(secret));
  const { status, json } = await ask('POST', `/${id}/test`);
  t.equal(status, 202);
  t.strictSame(await sent(), [{ event: 'webhook.test', webhook_id: id }]);
  t.equal(calls[0]!.headers['webhook-id'], json.delivery_id);
  await ask('DELETE', `/${id}`);
});

t.test('a new secret signs at once, and the previous one for another day', async (t) => {
  const made = (await ask('POST', '', { url })).json;
  const rotated = await ask('POST', `/${made.id}/secret`);
  t.match(rotated, { status: 200, json: { id: made.id, secret: /^whsec_/ } });
  t.not(rotated.json.secret, made.secret);
  await tell('report.failed');
  await sent();
  t.ok(verified(rotated.json.secret));
  t.ok(verified(made.secret));
  await db.acrossTenants((tx) => tx.rows(`update webhooks set former_until = now() - interval '1 second'`));
  await tell('report.failed');
  await sent();
  t.ok(verified(rotated.json.secret));
  t.throws(() => verified(made.secret));
  await ask('DELETE', `/${made.id}`);
});

t.test('a workspace has at most 50 webhooks, also if they are created at the same time', async (t) => {
  const crowd = await world.key(await world.member(await world.workspace(), { role: 'owner' }));
  const answers = await Promise.all(Array.from({ length: 55 }, () => ask('POST', '', { url }, crowd.key)));
  const refused = answers.filter(({ status }) => status !== 201);
  t.equal(refused.length, 5);
  for (const answer of refused)
    t.match(answer, {
      status: 422,
      json: { code: 'validation_error', detail: { errors: [{ field: 'url', message: /at most 50 webhooks/ }] } },
    });
  const { json } = await ask('GET', '', undefined, crowd.key);
  t.equal(json.total, 50);
  t.equal((await ask('DELETE', `/${json.items[0].id}`, undefined, crowd.key)).status, 204);
  t.equal((await ask('POST', '', { url }, crowd.key)).status, 201, 'after one was deleted');
});
