import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import t from 'tap';
import { send } from '../../../api/console/mail.ts';
import { testApi } from '../../support/api/client.ts';
import { visit } from '../../support/console/console.ts';

/** A mail server that accepts every message: as much of SMTP as a client needs. */
async function startMail(): Promise<{ url: string; letters: string[] }> {
  const letters: string[] = [];
  const server = createServer((socket: Socket) => {
    let [letter, reading] = ['', false];
    socket.setEncoding('utf8').write('220 mail.test ESMTP\r\n');
    socket.on('data', (text: string) => {
      const unknown = /^RCPT TO:(<unknown.*>)/i.exec(text);
      if (unknown) return void socket.write(`550 5.1.1 ${unknown[1]} is no user here\r\n`);
      if (reading) letter += text;
      if (reading && letter.endsWith('\r\n.\r\n')) {
        letters.push(letter.replace(/=\r\n/g, '').replace(/=3D/g, '='));
        [letter, reading] = ['', false];
        return void socket.write('250 taken\r\n');
      }
      if (reading) return;
      reading = /^DATA/i.test(text);
      socket.write(/^DATA/i.test(text) ? '354 go on\r\n' : /^QUIT/i.test(text) ? '221 bye\r\n' : '250 ok\r\n');
    });
    socket.on('error', () => {});
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, letters };
}

const mail = await startMail();
const api = await testApi(t, { SMTP_URL: mail.url, MAIL_FROM: 'Longhand <longhand@example.com>' });
const { world, call } = api;
const workspace = await world.workspace({ name: 'Acme' });
const owner = await world.member(workspace, { role: 'owner', name: 'Ann', email: 'ann@example.com' });
const user = await world.member(workspace);
const ann = await visit(api, await world.key(owner));
const accept = (invitation: string) => call('', 'POST', '/v1/app/session', { body: { invitation } });
const secretOf = (url: string) => /#\/sign-in\?invitation=([\w-]{43})$/.exec(url)![1]!;

t.test('POST /v1/app/invitations creates a pending member, who becomes active when the link is accepted, once', async (t) => {
  const made = await ann.ask('POST', '/invitations', { email: 'cy@example.com', name: 'Cy', role: 'user' });
  t.match(made, {
    status: 201,
    json: { email: 'cy@example.com', role: 'user', status: 'pending', sent: true, url: String, expires_at: String },
  });
  t.notOk('secret' in made.json);
  t.match(await ann.ask('GET', '/invitations'), {
    json: { items: [{ id: made.json.id, email: 'cy@example.com', name: 'Cy', invited_by: { email: 'ann@example.com' } }] },
  });
  t.match((await ann.ask('GET', '/members/pending')).json.items, [{ email: 'cy@example.com' }]);
  const [letter] = mail.letters;
  t.match(letter, /^To: .*cy@example.com/m);
  t.match(letter, /^From: Longhand <longhand@example.com>/m);
  t.ok(letter!.includes(made.json.url), 'the message contains the link');
  const [first, second] = await Promise.all([1, 2].map(() => accept(secretOf(made.json.url))));
  t.strictSame([first!.status, second!.status].sort(), [201, 401]);
  t.match([first, second].find((answer) => answer!.status === 201)!.json, {
    member: { email: 'cy@example.com' },
    workspace: { name: 'Acme' },
  });
  t.strictSame((await ann.ask('GET', '/invitations')).json.items, []);
  t.strictSame((await ann.ask('GET', '/members/pending')).json.items, []);
  t.match(await ann.ask('POST', '/invitations', { email: 'CY@example.com' }), {
    status: 422,
    json: { detail: { errors: [{ field: 'email' }] } },
  });
});

t.test('an invitation ends when it is revoked, when it expires, when another replaces it and with the key that created it', async (t) => {
  const key = await world.key(owner);
  const made: { id: string; url: string }[] = [];
  for (const [visitor, email] of [
    [ann, 'd1@example.com'],
    [ann, 'd2@example.com'],
    [ann, 'd3@example.com'],
    [await visit(api, key), 'd4@example.com'],
  ] as const)
    made.push((await visitor.ask('POST', '/invitations', { email })).json);
  t.equal((await ann.ask('DELETE', `/invitations/${made[0]!.id}`)).status, 204);
  t.equal((await ann.ask('DELETE', `/invitations/${made[0]!.id}`)).status, 404);
  await api.db.acrossTenants((tx) => tx.rows('update invitations set expires_at = now() where id = ?', [made[1]!.id]));
  const again = (await ann.ask('POST', '/invitations', { email: 'd3@example.com' })).json;
  t.equal((await ann.ask('DELETE', `/keys/${key.id}`)).status, 204);
  for (const { url } of made) t.match(await accept(secretOf(url)), { status: 401, json: { message: /invitation/ } });
  t.equal((await accept(secretOf(again.url))).status, 201);
  const pending = (await ann.ask('GET', '/members/pending')).json.items.map(({ email }: { email: string }) => email);
  t.notOk(pending.includes('d1@example.com'), 'the pending membership is removed too');
});

t.test('invitations are for owners, in their own workspace', async (t) => {
  const bob = await visit(api, await world.key(user));
  const reader = await visit(api, await world.key(owner, ['read']));
  const foreign = await visit(api, await world.key(await world.member(await world.workspace(), { role: 'owner' })));
  const { id } = (await ann.ask('POST', '/invitations', { email: 'f@example.com' })).json;
  for (const visitor of [bob, reader]) {
    for (const [method, path, body] of [
      ['GET', '/invitations'],
      ['POST', '/invitations', { email: 'g@example.com' }],
      ['DELETE', `/invitations/${id}`],
    ] as const)
      t.equal((await visitor.ask(method, path, body)).status, 403, `${method} ${path}`);
  }
  t.equal((await foreign.ask('DELETE', `/invitations/${id}`)).status, 404);
  t.strictSame((await foreign.ask('GET', '/invitations')).json.items, []);
});

t.test('send() logs why the mail server rejects a message, but not to whom it was addressed', async (t) => {
  const lines: unknown[] = [];
  const log = { warn: (fields: object, message: string) => void lines.push({ ...fields, message }) };
  const letter = { to: 'unknown.person@example.com', subject: 'Hello', text: 'Hello' };
  t.equal(await send({ SMTP_URL: mail.url, MAIL_FROM: 'a@example.com' }, log, letter, 'cannot send it'), false);
  t.strictSame(lines, [{ code: 'EENVELOPE', status: 550, message: 'cannot send it' }]);
});

t.test('invitations return their link even if no mail server is configured or it is unreachable', async (t) => {
  const unreachable: Record<string, string> = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@example.com' };
  for (const settings of [{}, unreachable]) {
    const silent = await testApi(t, settings);
    const visitor = await visit(
      silent,
      await silent.world.key(await silent.world.member(await silent.world.workspace(), { role: 'owner' })),
    );
    t.match(await visitor.ask('POST', '/invitations', { email: 'h@example.com' }), {
      status: 201,
      json: { sent: false, url: /invitation=/ },
    });
  }
});
