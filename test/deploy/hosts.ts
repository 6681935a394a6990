/* Three API processes, and two engines where needed, on one database and one spool; two APIs are behind nginx or HAProxy with the shipped configuration. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TAP, Test } from 'tap';
import { openVault } from '../../db/secrets/vault.ts';
import { testDatabase } from '../support/database.ts';
import { addTiny, TINY } from '../support/models.ts';
import { environment, freePort, LONGHAND, ROOT, type Running, start } from '../support/processes.ts';
import { needPrograms } from '../support/programs.ts';
import { writeProxyConfig } from '../support/proxy.ts';
import { openWorld, type Person } from '../support/world.ts';

export const RECORDING = readFileSync(path.join(ROOT, 'bench', 'data', 'two-speakers.wav'));
const METRICS = { LONGHAND_METRICS: 'public', LONGHAND_METRICS_TOKEN: 'a-token-for-the-monitor' };
export const PROXIES = ['nginx', 'HAProxy'] as const;

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

/** Ports of the proxy and of the API hosts, and functions that send requests to them. */
export interface Hosts {
  /** Port of the proxy. */
  front: number;
  /** Ports of the two hosts behind the proxy. */
  one: number;
  two: number;
  /** Port of the host without a proxy. */
  three: number;
  owner: Person;
  apis: { one: Running; two: Running };
  /** Restarts a stopped host behind the proxy. */
  restart(name: 'one' | 'two'): Promise<void>;
  /** Runs nginx or HAProxy with its shipped configuration until the test ends. */
  proxy(t: Test, name: (typeof PROXIES)[number]): Promise<void>;
  /** Number of upload slots in use on all hosts. */
  places(): Promise<number>;
  /** Number of uploads that a host is currently receiving, according to its metrics. */
  receiving(port: number): Promise<number>;
  ask(port: number, method: string, path: string, options?: { agent?: http.Agent; body?: unknown }): Promise<Answer>;
  upload(port: number, bytes: Buffer, name: string): Promise<Answer>;
  /** Sends the first 1,000 bytes of the recording; `end` sends the rest and returns the status. */
  begin(port: number, name: string): { end(): Promise<number> };
  uploadHeaders(name: string, length: number): Record<string, string | number>;
}

/** @param engines whether to start two engines, with the tiny model */
export async function openHosts(t: TAP, { engines = false } = {}): Promise<Hosts> {
  const programs = needPrograms(t, 'nginx', 'haproxy');
  const folder = mkdtempSync(path.join(tmpdir(), 'longhand-hosts-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { url: database, db } = await testDatabase(t);
  const master = randomBytes(32);
  const world = openWorld(db, await openVault(db, [master]));
  const owner = await world.member(await world.workspace({ minutes: 1000 }), { role: 'owner' });
  const authorization = { authorization: `Bearer ${(await world.key(owner)).key}` };
  const [front, one, two, three] = (await Promise.all(Array.from({ length: 4 }, freePort))) as [number, number, number, number];
  const settings = (name: string) => ({
    DATABASE_URL: database,
    LONGHAND_HOME: path.join(folder, name),
    LONGHAND_MEDIA: path.join(folder, 'spool'),
    LONGHAND_MASTER_KEY: master.toString('base64'),
    LONGHAND_RATE_LIMIT: '0',
    LONGHAND_THREADS: '1',
    LONGHAND_MODEL: TINY,
    LONGHAND_TRUST_PROXY: '127.0.0.1',
    LOG_FORMAT: 'json',
    ...METRICS,
  });
  const startApi = async (name: string, port: number): Promise<Running> => {
    const running = start(t, LONGHAND, ['api'], { ...settings(name), PORT: String(port) });
    await running.said(/listening on/);
    return running;
  };
  const apis = { one: await startApi('one', one), two: await startApi('two', two) };
  await startApi('three', three);
  for (const name of engines ? ['four', 'five'] : []) {
    await addTiny(path.join(folder, name));
    start(t, LONGHAND, ['engine'], settings(name));
  }

  const uploadHeaders = (name: string, length: number) => ({
    ...authorization,
    'content-disposition': `attachment; filename="${name}"`,
    'content-length': length,
  });
  const post = (port: number, name: string, length: number) =>
    http.request({ host: '127.0.0.1', port, method: 'POST', path: '/v1/transcriptions', headers: uploadHeaders(name, length) });
  return {
    ...{ front, one, two, three, owner, apis, uploadHeaders },
    async restart(name) {
      apis[name] = await startApi(name, name === 'one' ? one : two);
    },
    async proxy(t, name) {
      const config = writeProxyConfig(folder, name === 'nginx' ? 'nginx.conf' : 'haproxy.cfg', { front, one, two });
      const nginx = ['-p', folder, '-c', config, '-g', `daemon off; pid ${folder}/nginx.pid; error_log stderr;`];
      const [program, args] = name === 'nginx' ? [programs.nginx, nginx] : [programs.haproxy, ['-q', '-f', config]];
      const child = spawn(program, args, { env: environment(), stdio: ['ignore', 'ignore', 'inherit'] });
      t.teardown(async () => {
        child.kill();
        await new Promise((resolve) => child.once('exit', resolve));
      });
      const status = () =>
        exchange({ port: front, path: '/readyz' }).then(
          (answer) => answer.status,
          () => 0,
        );
      for (let i = 0; i < 100 && (await status()) !== 200; i++) await sleep(100);
    },
    places: async () => (await db.query('*', 'select 1 from upload_leases')).length,
    async receiving(port) {
      const page = await fetch(`http://127.0.0.1:${port}/metrics`, {
        headers: { authorization: `Bearer ${METRICS.LONGHAND_METRICS_TOKEN}` },
      });
      return Number(/^longhand_uploads_receiving (\d+)$/m.exec(await page.text())![1]);
    },
    ask(port, method, path, { agent, body } = {}) {
      const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const headers = { ...authorization, ...(sent && { 'content-type': 'application/json', 'content-length': sent.length }) };
      return exchange({ port, method, path, agent, headers }, sent);
    },
    upload: (port, bytes, name) => read(post(port, name, bytes.length), bytes),
    begin(port, name) {
      const request = post(port, name, RECORDING.length);
      request.write(RECORDING.subarray(0, 1_000));
      return { end: async () => (await read(request, RECORDING.subarray(1_000))).status };
    },
  };
}

function exchange(options: http.RequestOptions, body?: Buffer): Promise<Answer> {
  return read(http.request({ host: '127.0.0.1', ...options }), body);
}

/** Sends a request and reads its response, which may arrive early: errors of the connection after it are ignored. */
async function read(request: http.ClientRequest, body?: Buffer): Promise<Answer> {
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => request.once('response', resolve).on('error', reject));
  request.end(body);
  const response = await answered;
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode!, headers: response.headers, text };
}
