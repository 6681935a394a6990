import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { readWhisper } from '../../models/descriptor.ts';
import { SHAPES, writeCheckpoint } from '../models/checkpoint.ts';
import { finish, LONGHAND, longhand, start } from '../support/processes/processes.ts';
import { eventually } from '../support/processes/service.ts';

const folder = t.testdir();
const checkpoint = path.join(folder, 'checkpoint');
writeCheckpoint(checkpoint, SHAPES.plain!, 'F16');

t.test('models import removes what it has written when it is stopped during the self-check', async (t) => {
  const home = path.join(folder, 'stopped');
  const importing = start(t, LONGHAND, ['models', 'import', checkpoint], { LONGHAND_HOME: home, LONGHAND_THREADS: '1', NODE_OPTIONS: '' }); // as shipped
  const models = path.join(home, 'models');
  const partial = () => existsSync(models) && readdirSync(models).find((name) => existsSync(path.join(models, name, 'model.json')));
  await eventually(partial, 'the model that is being checked');
  t.equal(await importing.stop('SIGINT'), 1);
  t.match(importing.output.stderr, /Stopped\.\n$/);
  t.strictSame(readdirSync(models), []);
});

t.test('models build does not describe another checkpoint as the included model', async (t) => {
  const made = path.join(folder, 'mine');
  const { code } = await longhand(['models', 'build', checkpoint, made]);
  t.equal(code, 0);
  t.match(readWhisper(made), { name: 'mine', licence: 'unknown', source: checkpoint });
});

t.test('models check goes on after a model that cannot be measured', async (t) => {
  const { code, stdout, stderr } = await longhand(['models', 'check', 'lost', 'diarization', '--json'], { LONGHAND_HOME: folder });
  t.equal(code, 1);
  t.match(stderr, /^checking lost\nCannot check lost: .*find.*\nchecking diarization\nCannot check diarization: /);
  t.strictSame(JSON.parse(stdout), []);
});

t.test('models pull takes the hub and the token from .env, too', async (t) => {
  const asked: (string | undefined)[] = [];
  const hub = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.writeHead(404).end();
  });
  hub.listen(0, '127.0.0.1');
  await once(hub, 'listening');
  t.teardown(() => hub.close());
  const url = `http://127.0.0.1:${(hub.address() as AddressInfo).port}`;
  const here = t.testdir({ '.env': `HF_ENDPOINT=${url}\nHF_TOKEN=secret\n` });
  const { stderr } = await finish(LONGHAND, ['models', 'pull', 'owner/name'], { LONGHAND_HOME: folder }, here);
  t.match(stderr, `Cannot find a model owner/name on ${url}`);
  t.strictSame([...new Set(asked)], ['Bearer secret']);
});

t.test('models pull goes through the proxy that the environment names, except to hosts in NO_PROXY', async (t) => {
  const hub = createServer((_, response) => void response.writeHead(404).end());
  const asked: string[] = [];
  let status = '200 OK';
  const proxy = createServer().on('connect', (request, client) => {
    asked.push(request.url!);
    client.on('error', () => {}).write(`HTTP/1.1 ${status}\r\n\r\n`);
    const target = connect((hub.address() as AddressInfo).port, '127.0.0.1', () => target.pipe(client).pipe(target));
    target.on('error', () => client.destroy());
  });
  for (const server of [hub, proxy]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
  }
  const at = (server: typeof hub) => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pull = async (more: Record<string, string>) => {
    const given = { LONGHAND_HOME: folder, HF_ENDPOINT: 'http://hub.example', HTTP_PROXY: `http://${at(proxy)}`, ...more };
    return (await longhand(['models', 'pull', 'owner/name'], given)).stderr;
  };
  t.match(await pull({}), 'Cannot find a model owner/name on http://hub.example');
  t.strictSame([...new Set(asked.splice(0))], ['hub.example:80']);
  t.match(await pull({ HF_ENDPOINT: `http://${at(hub)}`, NO_PROXY: '127.0.0.1' }), 'Cannot find a model owner/name');
  t.strictSame(asked, []);
  status = '407 Proxy Authentication Required';
  t.match(await pull({}), /Cannot reach http:\/\/hub\.example \(.*407/);
  t.match(await pull({ HTTP_PROXY: 'proxy:3128' }), 'Cannot use HTTP_PROXY: expected the URL of a proxy');
});
