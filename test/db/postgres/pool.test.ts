import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { openDb } from '../../../db/postgres/orm.ts';

t.test('openDb() treats a server that accepts connections but never responds as unavailable', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  t.teardown(() => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const url = `postgres://a:b@127.0.0.1:${port}/x`;
  await t.rejects(openDb({ url, pool: 1, patience: 'request' }), { code: '08006', message: /no connection within/ });
});
