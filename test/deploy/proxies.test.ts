/* Two hosts behind nginx and HAProxy with the shipped configurations behave as one service. */
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openHosts, PROXIES, RECORDING } from './hosts.ts';

const hosts = await openHosts(t, { alone: true });
const { fronts, one, two, three, owner, ask, upload, uploadHeaders } = hosts;

/** Runs `work` behind each proxy, at the same time. */
const behindEach = (work: (front: number, proxy: string) => Promise<void>) =>
  Promise.all(PROXIES.map((proxy, i) => work(fronts[i]!, proxy)));

t.test('an upload is transcribed, read through one host and deleted through another', (t) =>
  behindEach(async (front, proxy) => {
    const { uuid } = JSON.parse((await upload(front, RECORDING, 'call.wav')).text);
    let record = { status: 'queued', segments: [] as { text: string }[] };
    for (let i = 0; i < 240 && record.status !== 'completed'; i++) {
      await sleep(500);
      record = JSON.parse((await ask(i % 2 ? one : two, 'GET', `/v1/transcriptions/${uuid}`)).text);
    }
    t.match(record.segments.map((s) => s.text).join(' '), /quick brown fox/, proxy);
    t.equal((await ask(three, 'DELETE', `/v1/transcriptions/${uuid}`)).status, 204);
    for (const port of [one, two, three])
      t.equal((await ask(port, 'GET', `/v1/transcriptions/${uuid}`)).status, 404, 'deleted on all hosts immediately');
  }),
);

t.test('an upload of 50 MB passes, and a file over the limit gets our error', async (t) => {
  const bytes = Buffer.alloc(50_000_000, randomBytes(1_000_003));
  await behindEach(async (front, proxy) => {
    const large = await upload(front, bytes, 'large.mp3');
    t.match(large, { status: 201 }, proxy);
    await ask(front, 'DELETE', `/v1/transcriptions/${JSON.parse(large.text).uuid}`);
    const refused = await headersOnly(front, 3_000_000_000);
    t.match(refused, /^HTTP\/1\.1 413/, proxy);
    t.match(refused, /file_size_limit_exceeded/, proxy);
  });
});

t.test('an upload slower than the timeouts of the HTTP library passes', (t) =>
  behindEach(async (front, proxy) => {
    const slow = hosts.begin(front, 'slow.wav');
    await sleep(14_000);
    t.equal(await slow.end(), 201, proxy);
  }),
);

t.test('connections idle for longer than the keep-alive of the service cause no error', (t) =>
  behindEach(async (front, proxy) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
    const four = () => Promise.all([1, 2, 3, 4].map(() => ask(front, 'GET', '/v1/workspace', { agent })));
    for (const answer of await four()) t.equal(answer.status, 200, proxy);
    await sleep(11_000);
    for (const answer of await four()) t.equal(answer.status, 200, proxy);
    agent.destroy();
  }),
);

t.test('encoded slashes stay encoded', async (t) => {
  const path = `/v1/workspace/members/${owner.id}/identities`;
  for (const front of fronts) {
    t.equal((await ask(front, 'PUT', path, { body: { provider: 'crm', external_id: 'a/b:c' } })).status, 201);
    t.equal((await ask(front, 'DELETE', `${path}/crm/a%2Fb%3Ac`)).status, 204);
  }
});

t.test('upload limits apply across all hosts', async (t) => {
  const slow = Array.from({ length: 10 }, (_, i) => {
    const headers = uploadHeaders(`s${i}.wav`, 10_000);
    const request = http.request({ host: '127.0.0.1', port: i % 2 ? one : two, method: 'POST', path: '/v1/transcriptions', headers });
    request.on('error', () => {});
    request.write(Buffer.alloc(100));
    return request;
  });
  while ((await hosts.places()) < slow.length) await sleep(100);
  for (const port of [one, two, ...fronts]) {
    const answer = await upload(port, RECORDING, 'eleventh.wav');
    t.match(answer, { status: 429, text: /too_many_concurrent_uploads/ });
    t.ok(Number(answer.headers['retry-after']) >= 1);
  }
  for (const request of slow) request.destroy();
  for (const front of fronts) {
    let answer = { status: 429, text: '' };
    for (let i = 0; i < 240 && answer.status === 429; i++) {
      await sleep(250);
      answer = await upload(front, RECORDING, 'later.wav');
    }
    t.match(answer, { status: 201 }, 'aborted uploads release their slots');
  }
});

/** The raw response to a request with this Content-Length and no body. */
function headersOnly(port: number, length: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.on('data', (chunk) => (text += chunk)).on('close', () => resolve(text));
    socket.setTimeout(8_000, () => socket.destroy());
    const headers = Object.entries(uploadHeaders('huge.wav', length)).map(([name, value]) => `${name}: ${value}`);
    socket.write(`POST /v1/transcriptions HTTP/1.1\r\nHost: x\r\n${headers.join('\r\n')}\r\n\r\n`);
  });
}
