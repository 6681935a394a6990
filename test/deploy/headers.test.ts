/* Header handling of the shipped nginx and HAProxy configurations, in front of an API in this process. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { testApi } from '../support/api/client.ts';
import { connectRaw, head } from '../support/api/raw.ts';
import { environment, freePort, ROOT } from '../support/processes/processes.ts';
import { needPrograms } from '../support/processes/programs.ts';
import { eventually } from '../support/processes/service.ts';

const programs = needPrograms(t, 'nginx', 'haproxy');
const api = await testApi(t);
const owner = await api.world.member(await api.world.workspace(), { role: 'owner' });
const { key } = await api.world.key(owner);
const behind = new URL(api.url).port;
const folder = mkdtempSync(path.join(tmpdir(), 'longhand-headers-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a shipped configuration in front of the API until the test ends. Returns its port. */
async function front(name: 'nginx' | 'haproxy'): Promise<number> {
  const port = await freePort();
  const file = name === 'nginx' ? 'nginx.conf' : 'haproxy.cfg';
  const shipped = readFileSync(path.join(ROOT, 'scripts', 'deploy', file), 'utf8');
  const config = path.join(folder, file);
  writeFileSync(config, shipped.replaceAll('8080', String(port)).replaceAll(/808[12]/g, behind));
  const args =
    name === 'nginx' ? ['-p', folder, '-c', config, '-g', `daemon off; pid ${folder}/pid; error_log stderr;`] : ['-q', '-f', config];
  const child = spawn(programs[name], args, { env: environment(), stdio: ['ignore', 'ignore', 'inherit'] });
  t.teardown(() => void child.kill());
  const ready = () =>
    new Promise<boolean>((resolve) => {
      http
        .get({ port, path: '/readyz', agent: false }, (answer) => resolve(answer.resume().statusCode === 200))
        .on('error', () => resolve(false));
    });
  await eventually(ready, name);
  return port;
}

const upload = (more: Record<string, string>) =>
  head('POST', '/v1/transcriptions', {
    Authorization: `Bearer ${key}`,
    'Content-Disposition': 'attachment; filename="a.mp3"',
    'Content-Length': 2048,
    ...more,
  });

for (const name of ['nginx', 'haproxy'] as const) {
  const port = await front(name);
  t.test(`${name}: values that would be truncated are rejected; other values and unusual names pass`, async (t) => {
    const send = async (more: Record<string, string>) => {
      const connection = await connectRaw(`http://127.0.0.1:${port}`);
      connection.write(Buffer.concat([Buffer.from(upload(more)), Buffer.alloc(2048)]));
      const answer = await connection.answer();
      connection.end();
      return answer;
    };
    const cut: [string, string, string][] = [
      ['X-External-Id', 'Сделка-17', 'external_id_invalid'],
      ['X-External-Id', '17-Сделка', 'external_id_invalid'],
      ['Idempotency-Key', 'ключ-1', 'idempotency_key_invalid'],
      ['X-Author', 'email:anna@пример', 'invalid_author'],
    ];
    for (const [header, value, code] of cut) {
      const answer = await send({ [header]: value });
      t.match(answer, { status: 422, json: { code, message: String, detail: null, request_id: /.+/ } }, `${header}: ${value}`);
      t.equal(answer.headers.get('x-request-id'), answer.json.request_id);
    }
    const odd = await send({ X_Deal: '17', 'X-External-Id': 'deal-17', 'X-Metadata': '{"имя":"Анна"}' });
    t.equal(odd.status, 201, 'an unusual header name is ignored');
    const { json } = await api.call(key, 'GET', `/v1/transcriptions/${odd.json.uuid}`);
    t.match(json, { external_id: 'deal-17', metadata: { имя: 'Анна' } });
    t.match(
      await send({ 'X-External-Id': 'x'.repeat(200) }),
      { status: 422, json: { code: 'external_id_too_long' } },
      'headers of the contract pass unchanged',
    );
  });

  t.test(`${name}: the console can be signed in to without LONGHAND_PUBLIC_URL, on any port`, async (t) => {
    const origin = `http://127.0.0.1:${port}`;
    const headers = { 'content-type': 'application/json', origin };
    t.match(await fetch(`${origin}/v1/app/session`, { method: 'POST', headers, body: JSON.stringify({ key }) }), { status: 201 });
  });
}
