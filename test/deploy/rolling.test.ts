/* Hosts behind nginx and HAProxy with the shipped configurations are stopped and replaced without an error for any client. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openHosts } from './hosts.ts';

const DETECTED_MS = 3_000; // time within which the proxies detect that a host is up or down
const hosts = await openHosts(t);
const { fronts, one, two, ask } = hosts;
type Upload = ReturnType<typeof hosts.begin>;

/** Begins uploads through a proxy until this host receives one. */
async function uploadsTo(port: number, front: number): Promise<Upload[]> {
  const begun: Upload[] = [];
  const before = await hosts.receiving(port);
  while ((await hosts.receiving(port)) === before) {
    const receiving = async () => (await hosts.receiving(one)) + (await hosts.receiving(two));
    const all = await receiving();
    begun.push(hosts.begin(front, 'drain.wav'));
    while ((await receiving()) === all) await sleep(100);
  }
  return begun;
}

t.test('hosts are replaced one after the other: no request fails, and a stopped host finishes its uploads', async (t) => {
  let going = true;
  const failures: string[] = [];
  const clients = fronts.flatMap((front) =>
    Array.from({ length: 2 }, async () => {
      while (going) {
        const answer = await ask(front, 'GET', '/v1/workspace').catch((error: Error) => ({ status: 0, text: error.message }));
        if (answer.status !== 200) failures.push(`${answer.status} ${answer.text}`);
        await sleep(100); // each host sees dozens of requests while it stops and starts
      }
    }),
  );
  for (const [name, port] of [
    ['one', one],
    ['two', two],
  ] as const) {
    const uploads: Upload[] = [];
    for (const front of fronts) uploads.push(...(await uploadsTo(port, front)));
    const stopped = hosts.apis[name].stop();
    await sleep(DETECTED_MS);
    t.strictSame(
      await Promise.all(uploads.map((upload) => upload.end())),
      uploads.map(() => 201),
    );
    t.equal(await stopped, 0);
    await sleep(DETECTED_MS);
    await hosts.restart(name);
    await sleep(DETECTED_MS);
  }
  going = false;
  await Promise.all(clients);
  t.strictSame(failures, []);
});

t.test('the proxies respond with our error while no host responds', async (t) => {
  for (const name of ['one', 'two'] as const) await hosts.apis[name].stop();
  for (const front of fronts) {
    for (const method of ['GET', 'POST']) {
      const { status, headers, text } = await ask(front, method, '/v1/transcriptions');
      t.match({ status, headers }, { status: 503, headers: { 'retry-after': '5', 'content-type': /^application\/json/ } });
      t.match(JSON.parse(text), { code: 'service_unavailable', message: String, detail: null, request_id: headers['x-request-id'] });
    }
  }
  await hosts.restart('one');
  await sleep(DETECTED_MS);
  for (const front of fronts) t.equal((await ask(front, 'GET', '/v1/workspace')).status, 200);
});
