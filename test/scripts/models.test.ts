import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { readWhisper } from '../../models/descriptor.ts';
import { SHAPES, writeCheckpoint } from '../models/checkpoint.ts';
import { finish, LONGHAND, longhand, start } from '../support/processes.ts';
import { eventually } from '../support/service.ts';

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
  t.strictSame(asked, ['Bearer secret']);
});
