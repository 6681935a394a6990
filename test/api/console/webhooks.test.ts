import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { openLog } from '../../../db/ops/log.ts';
import { announce } from '../../../db/webhooks/outbox.ts';
import type { Courier } from '../../../engine/courier/courier.ts';
import { deliver } from '../../../engine/courier/deliver.ts';
import { testApi } from '../../support/api/client.ts';
import { visit } from '../../support/console/console.ts';

const api = await testApi(t, { LONGHAND_WEBHOOK_PRIVATE: 'allow' });
const { world, db, vault, settings } = api;
const workspace = await world.workspace();
const owner = await world.member(workspace, { role: 'owner' });
const ann = await visit(api, await world.key(owner));
const foreign = await world.member(await world.workspace({ name: 'Other' }), { role: 'owner' });
const other = await visit(api, await world.key(foreign));

/** The part of a courier that the delivery task uses. */
const courier = { db, vault, log: openLog(settings, 'courier'), privateWebhooks: true } as unknown as Courier;

/** Performs the next attempt that is due; false if there is none. */
async function attempt(privateWebhooks = true): Promise<boolean> {
  const [due] = await db.query<{ id: string }>(
    '*',
    `select id from deliveries where status = 'pending' and next_at <= now() order by next_at limit 1`,
  );
  return due !== undefined && deliver({ ...courier, privateWebhooks }, due.id);
}

const wait = () =>
  db.acrossTenants((tx) =>
    tx.row<{ seconds: number }>(`select extract(epoch from next_at - now())::float8 as seconds from deliveries where status = 'pending'`),
  );
/** Number of notifications of couriers about deliveries. */
const woken = () =>
  db.acrossTenants(async (tx) => {
    await tx.rows('set local role none'); // only their owner may use the tables of the queue
    return (await tx.rows(`select 1 from graphile_worker.jobs where task_identifier = 'deliver'`)).length;
  });
const due = () => db.acrossTenants((tx) => tx.rows(`update deliveries set next_at = now() where status = 'pending'`));

interface Call {
  headers: IncomingHttpHeaders;
  body: string;
}

/** A receiver that handles requests in these ways in turn, and then responds 204. */
async function receiver(t: Test, ...deeds: ((response: ServerResponse) => void)[]): Promise<{ url: string; calls: Call[] }> {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    calls.push({ headers: request.headers, body: await text(request) });
    const deed = deeds[calls.length - 1];
    if (deed) deed(response);
    else response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, calls };
}

async function tell(externalId: string): Promise<string> {
  const id = await world.transcription(owner, { externalId });
  const event = {
    event: 'transcription.completed',
    transcription_id: id,
    status: 'completed',
    error_code: null,
    external_id: externalId,
  } as const;
  await db.workspace(workspace, (tx) => announce(tx, workspace, event));
  return id;
}

t.test('a webhook to an address to which deliveries would be refused is refused when created, and the setting is named', async (t) => {
  const strict = await testApi(t);
  const visitor = await visit(strict, await strict.world.key(await strict.world.member(await strict.world.workspace(), { role: 'owner' })));
  for (const url of [
    'http://127.0.0.1:9/x',
    'http://localhost/x',
    'https://10.1.2.3/',
    'http://169.254.169.254/latest',
    'http://[::1]/',
    'http://0x7f.1/',
  ])
    t.match(
      await visitor.ask('POST', '/webhooks', { url }),
      {
        status: 422,
        json: { code: 'validation_error', detail: { errors: [{ field: 'url', message: /LONGHAND_WEBHOOK_PRIVATE=allow/ }] } },
      },
      url,
    );
  t.notOk((await visitor.ask('GET', '/webhooks')).json.items.length, 'no webhook was created');
  t.equal((await visitor.ask('POST', '/webhooks', { url: 'https://93.184.215.14/hook' })).status, 201);
});

t.test('webhooks are created with a secret that is shown once, switched off and removed', async (t) => {
  const made = await ann.ask('POST', '/webhooks', { url: 'https://crm.example/hook' });
  t.match(made, { status: 201, json: { url: 'https://crm.example/hook', secret: /^whsec_[\w+/]{43}=$/, active: true } });
  const path = `/webhooks/${made.json.id}`;
  const listed = await ann.ask('GET', '/webhooks');
  t.match(listed.json.items, [{ id: made.json.id, active: true }]);
  t.notOk(listed.text.includes(made.json.secret));
  const [row] = await db.query<{ line: string }>('*', 'select w::text as line from webhooks w');
  t.notOk(row!.line.includes(made.json.secret), 'sealed');
  t.match(await ann.ask('PATCH', path, { active: false }), { status: 200, json: { active: false } });
  for (const url of ['ftp://a.example/', 'file:///etc/passwd', 'https://user:pass@a.example/', 'nowhere', '']) {
    t.match(await ann.ask('POST', '/webhooks', { url }), { status: 422, json: { code: 'validation_error' } }, url);
  }
  for (const [method, at, body] of [
    ['PATCH', path, { active: true }],
    ['DELETE', path],
    ['GET', `${path}/deliveries`],
  ] as const) {
    t.equal((await other.ask(method, at, body)).status, 404, `${method} from another workspace`);
  }
  t.strictSame((await other.ask('GET', '/webhooks')).json.items, []);
  t.equal((await ann.ask('DELETE', path)).status, 204);
  t.equal((await ann.ask('DELETE', path)).status, 404);
});

t.test('a receiver that responds 500, disconnects and stalls still gets the delivery, and can recognise it as the same', async (t) => {
  const { url, calls } = await receiver(
    t,
    (response) => response.writeHead(500).end('x'.repeat(1_000_000)),
    (response) => response.destroy(),
    () => {},
  );
  const { json: hook } = await ann.ask('POST', '/webhooks', { url });
  const id = await tell('deal-7');
  const log = async () => (await ann.ask('GET', `/webhooks/${hook.id}/deliveries`)).json.items;
  const waits: number[] = [];
  for (const told of [
    { last_status: 500, last_error: null },
    { last_status: null, last_error: String },
    { last_status: null, last_error: /no response within 10 s/ },
  ]) {
    t.ok(await attempt());
    t.notOk(await attempt(), 'not retried immediately');
    waits.push(Math.round((await wait())!.seconds));
    t.match(await log(), [{ status: 'pending', attempt: waits.length, ...told, transcription_id: id, event: 'transcription.completed' }]);
    await due();
  }
  t.ok(
    waits.every((seconds, index) => Math.abs(seconds - [10, 30, 120][index]!) <= 2),
    `waits of ${waits} seconds`,
  );
  t.ok(await attempt());
  t.match(await log(), [{ status: 'delivered', attempt: 4, last_status: 204, delivered_at: String }]);
  t.notOk(await attempt());
  t.equal(calls.length, 4);
  for (const { headers, body } of calls) {
    const { 'longhand-timestamp': time, 'longhand-signature': signature } = headers;
    t.equal(signature, createHmac('sha256', hook.secret).update(`${time}.${body}`).digest('hex'));
    t.match(JSON.parse(body), { event: 'transcription.completed', transcription_id: id, external_id: 'deal-7' });
    t.equal(body, calls[0]!.body);
    t.equal(headers['longhand-delivery'], calls[0]!.headers['longhand-delivery']);
  }
  const [{ id: delivery }] = await log();
  t.equal((await other.ask('POST', `/deliveries/${delivery}/replay`)).status, 404);
  t.equal((await ann.ask('POST', `/deliveries/${delivery}/replay`)).status, 202);
  t.ok(await attempt());
  t.equal(calls.at(-1)!.headers['longhand-delivery'], calls[0]!.headers['longhand-delivery'], 'a replay is the same delivery');
  t.equal((await ann.ask('DELETE', `/webhooks/${hook.id}`)).status, 204);
});

t.test('a paused webhook is sent nothing and loses nothing: what was pending and what is new is sent when it is resumed', async (t) => {
  const { url, calls } = await receiver(t, (response) => response.writeHead(302, { location: '/' }).end());
  const { json: hook } = await ann.ask('POST', '/webhooks', { url });
  const path = `/webhooks/${hook.id}`;
  const ids = [await tell('before')];
  t.ok(await attempt(), 'the first attempt fails, because redirects are not followed, so the delivery is pending');
  t.match(await ann.ask('PATCH', path, { active: false }), { status: 200, json: { active: false } });
  ids.push(await tell('meanwhile'));
  await due();
  t.notOk(await attempt(), 'nothing is sent');
  t.equal(calls.length, 1);
  t.match((await ann.ask('GET', `${path}/deliveries`)).json.items, [
    { status: 'pending', attempt: 0, transcription_id: ids[1] },
    { status: 'pending', attempt: 1, transcription_id: ids[0] },
  ]);
  const told = await woken();
  t.match(await ann.ask('PATCH', path, { active: true }), { status: 200, json: { active: true } });
  t.equal(await woken(), told + 1, 'couriers are notified immediately');
  while (await attempt()) {}
  t.strictSame(calls.map(({ body }) => JSON.parse(body).transcription_id).sort(), [ids[0], ...ids].sort());
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
});

t.test('deliveries are sent in the order of their events; one failing webhook does not delay another', async (t) => {
  const [bad, good] = [
    await receiver(t, ...Array.from({ length: 3 }, () => (response: ServerResponse) => void response.writeHead(503).end())),
    await receiver(t),
  ];
  for (const { url } of [bad, good]) await ann.ask('POST', '/webhooks', { url });
  const ids = [await tell('1'), await tell('2'), await tell('3')];
  while (await attempt()) {}
  const told = (calls: Call[]) => calls.map(({ body }) => JSON.parse(body).transcription_id);
  t.strictSame(told(good.calls), ids);
  t.strictSame(told(bad.calls), ids);
  await due();
  while (await attempt()) {}
  t.strictSame(told(bad.calls).slice(3).sort(), [...ids].sort());
  t.equal(good.calls.length, 3);
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
});

t.test('a delivery that is never accepted is abandoned after eleven attempts, and can still be replayed', async (t) => {
  const { url, calls } = await receiver(
    t,
    ...Array.from({ length: 11 }, () => (response: ServerResponse) => void response.writeHead(410).end()),
  );
  const { json: hook } = await ann.ask('POST', '/webhooks', { url });
  await tell('never');
  for (let attempts = 0; attempts < 11; attempts++, await due()) t.ok(await attempt());
  const [delivery] = (await ann.ask('GET', `/webhooks/${hook.id}/deliveries`)).json.items;
  t.match(delivery, { status: 'dead', attempt: 11, last_status: 410 });
  t.notOk(await attempt());
  t.equal((await ann.ask('POST', `/deliveries/${delivery.id}/replay`)).status, 202);
  t.ok(await attempt());
  t.equal(calls.length, 12);
  t.match((await ann.ask('GET', `/webhooks/${hook.id}/deliveries`)).json.items, [{ status: 'delivered' }]);
  await db.acrossTenants((tx) => tx.rows('delete from webhooks'));
});

t.test('private addresses are refused unless the operator allows them, and the log contains the reason', async (t) => {
  const { url, calls } = await receiver(t);
  const { json: hook } = await ann.ask('POST', '/webhooks', { url });
  await tell('private');
  t.ok(await attempt(false));
  t.equal(calls.length, 0);
  t.match((await ann.ask('GET', `/webhooks/${hook.id}/deliveries`)).json.items, [{ status: 'pending', last_error: /private network/ }]);
});
