/* PostgreSQL hangs (SIGSTOP) with open connections. Every client gets a response, and work continues when PostgreSQL resumes. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { consoleRoutes } from '../../api/console/routes.ts';
import { ROUTES } from '../../api/v1/routes.ts';
import { startEmbedded } from '../../db/postgres/embedded.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { send } from '../support/api/uploads.ts';
import { migratedCluster } from '../support/databases/cluster.ts';
import { eventually, openService } from '../support/processes/service.ts';

const folder = t.testdir({ postgres: {}, service: {} });
await migratedCluster(join(folder, 'postgres'));
const server = await startEmbedded(join(folder, 'postgres'), { durable: false });
const db = await openDb({ url: server.url, name: 'longhand-test' });
t.teardown(async () => {
  signal('SIGCONT');
  await db.close();
  await server.stop();
});
const own = { teardown: (after: () => unknown) => t.teardown(after), testdir: () => join(folder, 'service') };
const service = await openService(own, { database: { db, url: server.url } });
const api = await service.api();

/** Sends a signal to PostgreSQL and all its processes. */
function signal(name: NodeJS.Signals): void {
  const parent = (pid: string) => {
    try {
      return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]);
    } catch {
      return 0; // the process has just exited
    }
  };
  const children = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && parent(pid) === server.process.pid);
  for (const pid of [server.process.pid!, ...children.map(Number)]) process.kill(pid, name);
}

t.test('API responds to every request while the database hangs: 503 with Retry-After within 8 s, /readyz within 3 s', async (t) => {
  const headers = { authorization: `Bearer ${service.key}` };
  const ask = async (method: string, path: string, body?: string) => {
    const start = performance.now();
    const answer = await fetch(api.url + path, { method, headers: { ...headers, 'content-type': 'application/json' }, body });
    return { status: answer.status, wait: answer.headers.get('retry-after'), ms: performance.now() - start, path: `${method} ${path}` };
  };
  const id = await service.transcription(service.workspaceId);
  const all = () => [
    ...['/v1/workspace', '/v1/transcriptions', `/v1/transcriptions/${id}`, `/v1/transcriptions/${id}/export?format=md`, '/v1/projects'].map(
      (path) => ask('GET', path),
    ),
    ask('DELETE', `/v1/transcriptions/${id}`),
    ask('PATCH', `/v1/transcriptions/${id}`, '{"author": null}'),
    ask('POST', '/v1/transcriptions/export', JSON.stringify({ ids: [id] })),
    (async () => {
      const start = performance.now();
      const { status, headers: answered } = await send(api.url, service.key, {});
      return { status, wait: answered.get('retry-after') ?? null, ms: performance.now() - start, path: 'POST /v1/transcriptions' };
    })(),
  ];
  t.equal((await ask('GET', '/v1/workspace')).status, 200);
  signal('SIGSTOP');
  const answers = await Promise.all([...all(), ask('GET', '/readyz')]);
  signal('SIGCONT');
  for (const { status, wait, ms, path } of answers) {
    t.equal(status, 503, path);
    if (path !== 'GET /readyz') t.match(wait, /^[1-9]\d*$/, `${path} has a Retry-After header`);
    t.ok(ms < (path === 'GET /readyz' ? 3000 : 8000), `${path}: ${Math.round(ms)} ms`);
  }
  await eventually(async () => (await ask('GET', '/v1/workspace')).status === 200, 'the API to serve requests again');
  t.equal((await ask('GET', `/v1/transcriptions/${id}`)).status, 200, 'no partial changes');
});

t.test('every endpoint responds while the database hangs: within 8 s, with 503 and Retry-After if it needs the database', async (t) => {
  const json = { 'content-type': 'application/json' };
  const signedIn = await fetch(`${api.url}/v1/app/session`, { method: 'POST', headers: json, body: JSON.stringify({ key: service.key }) });
  const { csrf } = (await signedIn.json()) as { csrf: string };
  const session = { cookie: signedIn.headers.getSetCookie()[0]!.split(';')[0]!, 'x-csrf-token': csrf };
  const routes = [...ROUTES, ...consoleRoutes(ROUTES)].filter(({ path }) => path !== '/readyz');
  t.ok(routes.length > 100, `${routes.length} endpoints`);
  const ask = async ({ method, path }: (typeof routes)[number]) => {
    const start = performance.now();
    const target = api.url + path.replace(/\{\w+(\.\.\.)?\}/g, randomUUID());
    const who = path.startsWith('/v1/app') ? session : { authorization: `Bearer ${service.key}` };
    const body = method === 'GET' || method === 'OPTIONS' ? undefined : '{}';
    const { status, headers } = await fetch(target, { method, headers: { ...who, ...json }, body, redirect: 'manual' });
    return { name: `${method} ${path}`, status, wait: headers.get('retry-after'), ms: performance.now() - start };
  };
  signal('SIGSTOP');
  const answers = await Promise.all(routes.map(ask)).finally(() => signal('SIGCONT'));
  const promised = ({ status, wait, ms }: (typeof answers)[number]) =>
    ms < 8000 && (status < 500 || (status === 503 && /^[1-9]\d*$/.test(wait ?? '')));
  t.strictSame(
    answers.filter((answer) => !promised(answer)),
    [],
  );
  const refused = answers.filter(({ status }) => status === 503).length;
  t.ok(refused > 80, `${refused} of ${answers.length} endpoints need the database for such a request`);
});
