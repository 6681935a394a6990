import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, createServer as listen } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import type { Db, Tx } from '../../../db/postgres/orm.ts';
import { isPublic } from '../../../db/webhooks/destination.ts';
import type { Courier } from '../../../engine/courier/courier.ts';
import { deliver } from '../../../engine/courier/deliver.ts';
import { post, signature, standardSignature } from '../../../engine/courier/post.ts';

interface Call {
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A receiver that responds with these statuses in turn; 0 never responds. */
async function receiver(t: Test, ...statuses: number[]): Promise<{ url: string; port: number; calls: Call[] }> {
  const calls: Call[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => (body += text));
    request.on('end', () => {
      calls.push({ url: request.url!, headers: request.headers, body });
      const status = statuses[calls.length - 1] ?? 200;
      if (status) response.writeHead(status, status === 302 ? { Location: '/elsewhere' } : {}).end('x'.repeat(100_000));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, port, calls };
}

const EXPECTED = '49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686';
const parts = { body: '{"a":1}', headers: { 'Longhand-Delivery': 'd' }, limitMs: 60_000, allowPrivate: true };

t.test('isPublic() rejects loopback, private, link-local, shared, reserved, mapped and translated addresses', (t) => {
  const closed =
    '0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.9.9.9 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.168.1.1 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1 240.0.0.1 255.255.255.255 ' +
    ':: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 fe80::1 fc00::1 fd12::1 ff02::1 2001:db8::1 2001::1 2002:7f00:1::1 3fff::1';
  for (const address of closed.split(' ')) t.equal(isPublic(address), false, address);
  for (const address of ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])
    t.equal(isPublic(address), true, address);
  t.equal(isPublic('localhost'), false);
  t.end();
});

t.test('post() sends body and headers, and returns the status', async (t) => {
  const { url, calls } = await receiver(t, 204);
  t.equal(await post({ ...parts, url }), 204);
  t.match(calls, [{ url: '/hook', body: '{"a":1}', headers: { 'longhand-delivery': 'd', 'content-length': '7' } }]);
});

t.test('post() does not follow redirects, and times out if the receiver does not respond', async (t) => {
  const { url, calls } = await receiver(t, 302, 0);
  t.equal(await post({ ...parts, url }), 302);
  t.equal(calls.length, 1);
  await t.rejects(post({ ...parts, url, limitMs: 300 }), /no response within 0.3 s/);
});

t.test('post() uses a connection of its own, and closes it without waiting for the end of the body', async (t) => {
  const closed: Promise<unknown>[] = [];
  const server = createServer((request, response) => {
    request.resume();
    if (closed.length === 1) response.end('done');
    else response.write('and so on');
  });
  server.on('connection', (socket) => closed.push(new Promise((resolve) => socket.once('close', resolve))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (const connections of [1, 2]) {
    t.equal(await post({ ...parts, url }), 200);
    t.equal(closed.length, connections);
  }
  await t.resolves(Promise.all(closed));
});

t.test('post() ends if the receiver requests another protocol', async (t) => {
  for (const goesOn of [true, false]) {
    const server = listen((socket) => {
      socket.on('error', () => {});
      const answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
      socket.once('data', () => void (goesOn ? socket.write(answer) : socket.end(answer)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const never = sleep(60_000, 'never', { ref: false });
    t.equal(await Promise.race([post({ ...parts, url: `http://127.0.0.1:${port}/` }), never]), 101);
  }
});

t.test('post() rejects private addresses, given as numbers or as names, before it connects', async (t) => {
  const { port, calls } = await receiver(t);
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '0x7f.1', '2130706433']) {
    await t.rejects(post({ ...parts, url: `http://${host}:${port}/`, allowPrivate: false }), /private network/, host);
  }
  await t.rejects(post({ ...parts, url: 'file:///etc/passwd', allowPrivate: true }), /http or https/);
  t.equal(calls.length, 0);
});

t.test('post() resolves a name once and connects to that address only', async (t) => {
  const { port, calls } = await receiver(t);
  const lookups: string[] = [];
  const rebinding = async (name: string) => {
    lookups.push(name);
    return { address: lookups.length === 1 ? '2001:4860::1' : '127.0.0.1', family: lookups.length === 1 ? 6 : 4 }; // then loopback
  };
  const url = `http://rebinding.example:${port}/`;
  await t.rejects(post({ ...parts, url, limitMs: 500, allowPrivate: false, lookUp: rebinding }));
  t.strictSame(lookups, ['rebinding.example']);
  await t.rejects(post({ ...parts, url, allowPrivate: false, lookUp: rebinding }), /private network/, 'the second address is refused');
  t.equal(calls.length, 0);
  t.equal(await post({ ...parts, url, lookUp: rebinding }), 200);
  t.equal(calls[0]!.headers.host, `rebinding.example:${port}`, 'the receiver sees the name');
});

t.test('standardSignature() is accepted by the Standard Webhooks library, and a changed body is not', (t) => {
  const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
  const now = Math.floor(Date.now() / 1000);
  const headers = {
    'webhook-id': 'd-1',
    'webhook-timestamp': String(now),
    'webhook-signature': standardSignature(secret, 'd-1', now, '{"a":1}'),
  };
  const library = new Webhook(secret);
  t.strictSame(library.verify('{"a":1}', headers), { a: 1 });
  t.throws(() => library.verify('{"a":2}', headers));
  t.throws(() => library.verify('{"a":1}', { ...headers, 'webhook-id': 'd-2' }));
  t.end();
});

t.test('standardSignature() is the HMAC-SHA256 of id, time and body under the bytes of the secret, in either base64 alphabet', (t) => {
  // printf '%s' 'd-1.1700000000.{"a":1}' | openssl dgst -sha256 -mac HMAC -macopt hexkey:30313233343536373839fbff -binary | base64
  const expected = 'v1,EVshT9Xf5NbjbM5GBki0xyfDhB3yxRslqR+1ojkW2mk=';
  t.equal(standardSignature('whsec_MDEyMzQ1Njc4Ofv/', 'd-1', 1_700_000_000, '{"a":1}'), expected);
  t.equal(standardSignature('whsec_MDEyMzQ1Njc4Ofv_', 'd-1', 1_700_000_000, '{"a":1}'), expected, 'as older secrets were written');
  t.end();
});

t.test('signature() is the HMAC-SHA256 of time and body', (t) => {
  // printf '%s' '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
  t.equal(signature('secret', 1_700_000_000, '{"a":1}'), EXPECTED);
  t.not(signature('secret', 1_700_000_001, '{"a":1}'), EXPECTED);
  t.end();
});

/** Makes one attempt of a delivery of a fake database, whose clock reads `time`. Returns what is written about the attempt. */
async function attempt(url: string, time: number, secret: () => string): Promise<unknown[]> {
  const written: unknown[][] = [];
  const tx = {
    row: async () => ({ id: 'd-1', workspace_id: 'w', webhook_id: 'h', url, secret_sealed: '', body: {}, attempt: 1, taken_at: time }),
    rows: async (_: string, values: unknown[]) => {
      written.push(values);
      return [];
    },
  } as unknown as Tx;
  const db = { acrossTenants: (work: (tx: Tx) => unknown) => work(tx), workspace: (_: string, work: (tx: Tx) => unknown) => work(tx) };
  const vault = {
    text: async (_: string, __: string, sealed: unknown) => (sealed === undefined ? null : secret()),
  } as unknown as Courier['vault'];
  const log = { info: () => {} } as unknown as Courier['log'];
  await deliver({ db: db as unknown as Db, vault, log, privateWebhooks: true } as Courier, 'd-1');
  return written[0]!;
}

t.test("deliver() signs with the database's time, also if this host's clock is wrong", async (t) => {
  const { url, calls } = await receiver(t, 204);
  t.match(await attempt(url, 1_700_000_000, () => 'whsec_MDEyMzQ1Njc4Ofv/'), ['delivered', 204, null]);
  const { headers } = calls[0]!;
  t.match(headers, { 'longhand-timestamp': '1700000000', 'webhook-timestamp': '1700000000' });
  t.equal(headers['webhook-signature'], standardSignature('whsec_MDEyMzQ1Njc4Ofv/', 'd-1', 1_700_000_000, '{}'));
});

t.test('deliver() keeps the first 500 characters of an error', async (t) => {
  const long = () => {
    throw new Error('x'.repeat(2000));
  };
  const [state, status, error] = await attempt('http://127.0.0.1:9/', 0, long);
  t.strictSame([state, status, error], ['pending', null, 'x'.repeat(500)]);
});
