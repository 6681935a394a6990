import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openVault } from '../../db/vault.ts';
import { testDatabase } from '../support/database.ts';
import { environment, freePort, LONGHAND, ROOT, type Running, start } from '../support/processes.ts';
import { needPrograms } from '../support/programs.ts';
import { openWorld } from '../support/world.ts';

// Two API and two engine processes on one database and one spool, behind the proxies that are shipped, with their shipped configurations.
const programs = needPrograms(t, 'nginx', 'haproxy');
const folder = mkdtempSync(path.join(tmpdir(), 'longhand-hosts-'));
const { url: database, db } = await testDatabase(t);
const master = randomBytes(32);
const world = openWorld(db, await openVault(db, [master]));
const workspace = await world.workspace({ minutes: 1000 });
const owner = await world.member(workspace, { role: 'owner' });
const { key } = await world.key(owner);
const [front, one, two, three] = (await Promise.all(Array.from({ length: 4 }, freePort))) as [number, number, number, number];
const RECORDING = readFileSync(path.join(ROOT, 'bench', 'data', 'two-speakers.wav'));
const authorization = { authorization: `Bearer ${key}` };

const host = (name: string) => ({
  DATABASE_URL: database,
  LONGHAND_HOME: path.join(folder, name),
  LONGHAND_MEDIA: path.join(folder, 'spool'),
  LONGHAND_MASTER_KEY: master.toString('base64'),
  LONGHAND_RATE_LIMIT: '0',
  LONGHAND_THREADS: '1',
  LONGHAND_TRUST_PROXY: '127.0.0.1',
  LOG_FORMAT: 'json',
});
const startApi = async (name: string, port: number): Promise<Running> => {
  const running = start(t, LONGHAND, ['api'], { ...host(name), PORT: String(port) });
  await running.said(/listening on/);
  return running;
};
const apis = { one: await startApi('one', one), two: await startApi('two', two) };
await startApi('three', three); // behind no proxy
for (const name of ['four', 'five']) start(t, LONGHAND, ['engine'], host(name));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

const proxies = [
  {
    name: 'nginx',
    file: 'nginx.conf',
    run: (config: string) => [programs.nginx, '-p', folder, '-c', config, '-g', `daemon off; pid ${folder}/nginx.pid; error_log stderr;`],
  },
  { name: 'HAProxy', file: 'haproxy.cfg', run: (config: string) => [programs.haproxy, '-q', '-f', config] },
];

for (const proxy of proxies) {
  t.test(`Longhand behind ${proxy.name}`, async (t) => {
    const config = path.join(folder, proxy.file);
    const shipped = readFileSync(path.join(ROOT, 'scripts', 'deploy', proxy.file), 'utf8');
    writeFileSync(config, shipped.replaceAll('8080', String(front)).replaceAll('8081', String(one)).replaceAll('8082', String(two)));
    const [program, ...args] = proxy.run(config);
    const child: ChildProcess = spawn(program!, args, { env: environment(), stdio: ['ignore', 'ignore', 'inherit'] });
    t.teardown(async () => {
      child.kill();
      await new Promise((resolve) => child.once('exit', resolve));
    });
    for (let i = 0; i < 100 && (await status(front, '/readyz').catch(() => 0)) !== 200; i++) await sleep(100);

    t.test('a recording uploaded through it is worked on, read from one host and deleted from another', async (t) => {
      const { uuid } = JSON.parse((await upload(front, RECORDING, 'call.wav')).text);
      let record = { status: 'queued', segments: [] as { text: string }[] };
      for (let i = 0; i < 240 && record.status !== 'completed'; i++) {
        await sleep(500);
        record = JSON.parse((await ask(i % 2 ? one : two, 'GET', `/v1/transcriptions/${uuid}`)).text);
      }
      t.match(record.segments.map((s) => s.text).join(' '), /account of himself/i);
      t.equal((await ask(three, 'DELETE', `/v1/transcriptions/${uuid}`)).status, 204);
      for (const port of [one, two, three]) t.equal((await ask(port, 'GET', `/v1/transcriptions/${uuid}`)).status, 404, 'gone at once');
    });

    t.test('200 MB pass through it, and a file over the limit is refused in our words', async (t) => {
      const large = await upload(front, Buffer.alloc(200_000_000, randomBytes(1_000_003)), 'large.mp3');
      t.equal(large.status, 201);
      await ask(front, 'DELETE', `/v1/transcriptions/${JSON.parse(large.text).uuid}`);
      const refused = await headersOnly(front, 3_000_000_000);
      t.match(refused, /^HTTP\/1\.1 413/);
      t.match(refused, /file_size_limit_exceeded/);
    });

    t.test('an upload slower than the HTTP library likes passes', async (t) => {
      const request = http.request({
        port: front,
        method: 'POST',
        path: '/v1/transcriptions',
        headers: uploadHeaders('slow.wav', RECORDING.length),
      });
      const answer = new Promise<http.IncomingMessage>((resolve, reject) => request.once('response', resolve).once('error', reject));
      request.write(RECORDING.subarray(0, 1_000));
      await sleep(14_000);
      request.end(RECORDING.subarray(1_000));
      t.equal((await answer).statusCode, 201);
    });

    t.test('connections that idled for longer than the service keeps them are no trouble', async (t) => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
      const four = () => Promise.all([1, 2, 3, 4].map(() => ask(front, 'GET', '/v1/workspace', agent)));
      for (const answer of await four()) t.equal(answer.status, 200);
      await sleep(11_000);
      for (const answer of await four()) t.equal(answer.status, 200);
      agent.destroy();
    });

    t.test('the address of the client reaches the service, and encoded slashes stay encoded', async (t) => {
      const path = `/v1/workspace/members/${owner.id}/identities`;
      t.equal((await ask(front, 'PUT', path, undefined, { provider: 'crm', external_id: 'a/b:c' })).status, 201);
      t.equal((await ask(front, 'DELETE', `${path}/crm/a%2Fb%3Ac`)).status, 204);
    });

    t.test('caps on uploads hold over all hosts together', async (t) => {
      const slow = Array.from({ length: 10 }, (_, i) => {
        const request = http.request({
          port: i % 2 ? one : two,
          method: 'POST',
          path: '/v1/transcriptions',
          headers: uploadHeaders(`s${i}.wav`, 10_000),
        });
        request.on('error', () => {});
        request.write(Buffer.alloc(100));
        return request;
      });
      await sleep(1_500);
      for (const port of [one, two, front]) {
        const answer = await upload(port, RECORDING, 'eleventh.wav');
        t.match(answer, { status: 429, text: /too_many_concurrent_uploads/ });
        t.ok(Number(answer.headers['retry-after']) >= 1);
      }
      for (const request of slow) request.destroy();
      let answer = { status: 429, text: '' };
      for (let i = 0; i < 20 && answer.status === 429; i++) {
        await sleep(250);
        answer = await upload(front, RECORDING, 'later.wav');
      }
      t.match(answer, { status: 201 }, 'broken uploads free their places');
    });

    t.test('a host that is told to stop finishes the upload that it receives, and nobody notices', async (t) => {
      const request = http.request({
        port: front,
        method: 'POST',
        path: '/v1/transcriptions',
        headers: uploadHeaders('drain.wav', RECORDING.length),
      });
      const answer = new Promise<http.IncomingMessage>((resolve, reject) => request.once('response', resolve).once('error', reject));
      request.write(RECORDING.subarray(0, 1_000));
      const receives = async (port: number) => /^longhand_uploads_receiving 1$/m.test((await ask(port, 'GET', '/metrics')).text);
      while (!(await receives(one)) && !(await receives(two))) await sleep(100);
      const [name, port] = (await receives(one)) ? (['one', one] as const) : (['two', two] as const);
      const stopped = apis[name].stop();
      for (let i = 0; i < 40; i++) {
        t.equal((await ask(front, 'GET', '/v1/workspace')).status, 200);
        await sleep(100);
      }
      request.end(RECORDING.subarray(1_000));
      t.equal((await answer).statusCode, 201);
      t.equal(await stopped, 0);
      apis[name] = await startApi(name, port);
      await sleep(3_000); // until the proxies have seen it
    });

    t.test('one host after the other is replaced, and no request fails', async (t) => {
      let going = true;
      const failures: string[] = [];
      const clients = Array.from({ length: 4 }, async () => {
        while (going) {
          const answer = await ask(front, 'GET', '/v1/workspace').catch((error: Error) => ({ status: 0, text: error.message }));
          if (answer.status !== 200) failures.push(`${answer.status} ${answer.text}`);
          await sleep(20);
        }
      });
      for (const [name, port] of [
        ['one', one],
        ['two', two],
      ] as const) {
        await apis[name].stop();
        await sleep(3_000);
        apis[name] = await startApi(name, port);
        await sleep(3_000);
      }
      going = false;
      await Promise.all(clients);
      t.strictSame(failures, []);
    });
  });
}

interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

function ask(port: number, method: string, path: string, agent?: http.Agent, body?: unknown): Promise<Answer> {
  const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return exchange(
    {
      port,
      method,
      path,
      agent,
      headers: { ...authorization, ...(sent && { 'content-type': 'application/json', 'content-length': sent.length }) },
    },
    sent,
  );
}

function upload(port: number, bytes: Buffer, name: string): Promise<Answer> {
  return exchange({ port, method: 'POST', path: '/v1/transcriptions', headers: uploadHeaders(name, bytes.length) }, bytes);
}

function uploadHeaders(name: string, length: number) {
  return { ...authorization, 'content-disposition': `attachment; filename="${name}"`, 'content-length': length };
}

function exchange(options: http.RequestOptions, body?: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', ...options }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode!, headers: response.headers, text });
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function status(port: number, path: string): Promise<number> {
  return (await exchange({ port, method: 'GET', path })).status;
}

/** What comes back for headers that announce this many bytes, none of which are sent. */
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
