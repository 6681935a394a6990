import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { poll } from '../../../bench/load/pollers.ts';

t.test('poll() counts whole requests, also at a rate that gives no whole number of them', async (t) => {
  let served = 0;
  const server = createServer((request, response) => {
    served++;
    const status = request.url === '/busy' ? 503 : 200;
    response.writeHead(status, { 'content-length': 2 }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.equal((await poll(url, {}, 3, 100 / 7, 0.5)).failed, 0);
  t.equal(served, 8);
  t.equal((await poll([url, `${url}/busy`], {}, 3, 100 / 7, 0.5)).failed, 4);
});
