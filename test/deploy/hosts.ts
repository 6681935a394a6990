/* API processes, and an engine where needed, on one database and one spool; two APIs are behind nginx and HAProxy with the shipped configurations. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TAP } from 'tap';
import { openVault } from '../../db/secrets/vault.ts';
import { testDatabase } from '../support/databases/database.ts';
import { openWorld, type Person } from '../support/databases/world.ts';
import { excerpt } from '../support/engine/engine.ts';
import { addTiny, TINY } from '../support/engine/models.ts';
import { environment, freePort, program, type Running, start } from '../support/processes/processes.ts';
import { needPrograms } from '../support/processes/programs.ts';
import { eventually } from '../support/processes/service.ts';
import { writeProxyConfig } from '../support/servers/proxy.ts';

/** Agent of requests with a connection of their own: an idle one may be closed at the moment it is used again. */
const OWN_CONNECTION = false;

export const RECORDING = await excerpt();
const METRICS = { LONGHAND_METRICS: 'public', LONGHAND_METRICS_TOKEN: 'a-token-for-the-monitor' };
export const PROXIES = ['nginx', 'HAProxy'] as const;

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

/** Ports of the proxies and of the API hosts, and functions that send requests to them. */
export interface Hosts {
  /** Ports of the proxies, in the order of PROXIES. */
  fronts: number[];
  /** Ports of the two hosts behind the proxies. */
  one: number;
  two: number;
  /** Port of the host without a proxy. */
  three: number;
  owner: Person;
  apis: { one: Running; two: Running };
  /** Restarts a stopped host behind the proxies. */
  restart(name: 'one' | 'two'): Promise<void>;
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

/** @param alone whether to start an API host without a proxy, and an engine with the tiny model */
export async function openHosts(t: TAP, { alone = false } = {}): Promise<Hosts> {
  const programs = needPrograms(t, 'nginx', 'haproxy');
  const folder = mkdtempSync(path.join(tmpdir(), 'longhand-hosts-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { url: database, db } = await testDatabase(t);
  const master = randomBytes(32);
  const world = openWorld(db, await openVault(db, [master]));
  const owner = await world.member(await world.workspace({ minutes: 1000 }), { role: 'owner' });
  const authorization = { authorization: `Bearer ${(await world.key(owner)).key}` };
  const [one, two, three, ...fronts] = (await Promise.all(Array.from({ length: 3 + PROXIES.length }, freePort))) as [
    number,
    number,
    number,
  ];
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
    const running = start(t, process.execPath, program('api/main.ts'), { ...settings(name), PORT: String(port) });
    await running.said(/listening on/);
    return running;
  };
  const apis = { one: await startApi('one', one), two: await startApi('two', two) };
  if (alone) {
    await startApi('three', three);
    await addTiny(path.join(folder, 'four'));
    start(t, process.execPath, program('engine/main.ts'), settings('four'));
  }
  const proxy = async (name: (typeof PROXIES)[number], front: number) => {
    const config = writeProxyConfig(folder, name === 'nginx' ? 'nginx.conf' : 'haproxy.cfg', { front, one, two });
    const nginx = ['-p', folder, '-c', config, '-g', `daemon off; pid ${folder}/nginx.pid; error_log stderr;`];
    const [file, args] = name === 'nginx' ? [programs.nginx, nginx] : [programs.haproxy, ['-q', '-f', config]];
    const child = spawn(file, args, { env: environment(), stdio: ['ignore', 'ignore', 'inherit'] });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    t.teardown(() => {
      child.kill();
      return exited;
    });
    const status = () =>
      exchange({ port: front, path: '/readyz' }).then(
        (answer) => answer.status,
        () => 0,
      );
    await eventually(async () => (await status()) === 200, `${name} to serve the API`);
  };
  for (const [i, name] of PROXIES.entries()) await proxy(name, fronts[i]!);

  const uploadHeaders = (name: string, length: number) => ({
    ...authorization,
    'content-disposition': `attachment; filename="${name}"`,
    'content-length': length,
  });
  const post = (port: number, name: string, length: number) =>
    http.request({
      ...{ host: '127.0.0.1', port, method: 'POST', path: '/v1/transcriptions?diarize=0' },
      ...{ headers: uploadHeaders(name, length), agent: OWN_CONNECTION },
    });
  return {
    ...{ fronts, one, two, three, owner, apis, uploadHeaders },
    async restart(name) {
      apis[name] = await startApi(name, name === 'one' ? one : two);
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
  return read(http.request({ host: '127.0.0.1', ...options, agent: options.agent ?? OWN_CONNECTION }), body);
}

/** Sends a request and reads its response, which may arrive early: errors of the connection after it are ignored. */
async function read(request: http.ClientRequest, body?: Buffer): Promise<Answer> {
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => request.once('response', resolve).on('error', reject));
  request.end(body);
  const response = await answered;
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode!, headers: response.headers, text };
}
