/* Hosts behind nginx and HAProxy with the shipped configurations are stopped and replaced without an error for any client. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openHosts, PROXIES } from './hosts.ts';

const DETECTED_MS = 3_000; // time within which the proxies detect that a host is up or down
const hosts = await openHosts(t);
const { front, one, two, ask } = hosts;

for (const proxy of PROXIES) {
  t.test(`Longhand behind ${proxy}`, async (t) => {
    await hosts.proxy(t, proxy);

    t.test('a host that is stopped finishes the upload in progress, without an error for the client', async (t) => {
      const upload = hosts.begin(front, 'drain.wav');
      while (!(await hosts.receiving(one)) && !(await hosts.receiving(two))) await sleep(100);
      const name = (await hosts.receiving(one)) ? 'one' : 'two';
      const stopped = hosts.apis[name].stop();
      for (let i = 0; i < 40; i++) {
        t.equal((await ask(front, 'GET', '/v1/workspace')).status, 200);
        await sleep(100);
      }
      t.equal(await upload.end(), 201);
      t.equal(await stopped, 0);
      await hosts.restart(name);
      await sleep(DETECTED_MS);
    });

    t.test('hosts are replaced one after the other, and no request fails', async (t) => {
      let going = true;
      const failures: string[] = [];
      const clients = Array.from({ length: 4 }, async () => {
        while (going) {
          const answer = await ask(front, 'GET', '/v1/workspace').catch((error: Error) => ({ status: 0, text: error.message }));
          if (answer.status !== 200) failures.push(`${answer.status} ${answer.text}`);
          await sleep(100); // each host sees dozens of requests while it stops and starts
        }
      });
      for (const name of ['one', 'two'] as const) {
        await hosts.apis[name].stop();
        await sleep(DETECTED_MS);
        await hosts.restart(name);
        await sleep(DETECTED_MS);
      }
      going = false;
      await Promise.all(clients);
      t.strictSame(failures, []);
    });

    t.test('the proxy responds with our error while no host responds', async (t) => {
      for (const name of ['one', 'two'] as const) await hosts.apis[name].stop();
      for (const method of ['GET', 'POST']) {
        const { status, headers, text } = await ask(front, method, '/v1/transcriptions');
        t.match({ status, headers }, { status: 503, headers: { 'retry-after': '5', 'content-type': /^application\/json/ } });
        t.match(JSON.parse(text), { code: 'service_unavailable', message: String, detail: null, request_id: headers['x-request-id'] });
      }
      for (const name of ['one', 'two'] as const) await hosts.restart(name);
      await sleep(DETECTED_MS);
      t.equal((await ask(front, 'GET', '/v1/workspace')).status, 200);
    });
  });
}
