/* PostgreSQL hangs (SIGSTOP) with open connections. Every client gets a response, and work continues when PostgreSQL resumes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startEmbedded } from '../../db/postgres/embedded.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { eventually, openService } from '../support/service.ts';
import { send } from '../support/uploads.ts';

const server = await startEmbedded(join(t.testdir(), 'postgres'), { durable: false });
const db = await openDb({ url: server.url, name: 'longhand-test' });
t.teardown(async () => {
  signal('SIGCONT');
  await db.close();
  await server.stop();
});
await migrate(db);

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
  const service = await openService(t, { database: { db, url: server.url } });
  const api = await service.api();
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
  await eventually(async () => (await ask('GET', '/v1/workspace')).status === 200, 'the API to serve requests again', 30);
  t.equal((await ask('GET', `/v1/transcriptions/${id}`)).status, 200, 'no partial changes');
});
