/**
 * Many long-polling clients (`?wait=60`), who connect within `--arrival` seconds, and others that poll every 5 s, on one API process:
 * `node --import tsx bench/load/waits.ts [--waiting 2000] [--arrival 10] [--pollers 1000] [--rate 200] [--seconds 20] [--json]`. No request may
 * fail, waiting requests may hold no database connection, and all get a response when their transcriptions change.
 */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { readNumbers } from '../numbers.ts';
import { poll } from './pollers.ts';
import { writeCall } from './record.ts';
import { type Service, withService } from './service.ts';

const TRANSCRIPTIONS = 50; // number of transcriptions being waited for

const { waiting, arrival, pollers, rate, seconds, json } = readNumbers({
  waiting: 2000,
  arrival: 10,
  pollers: 1000,
  rate: 200,
  seconds: 20,
});

const result = await withService(async (service) => {
  const headers = { authorization: `Bearer ${service.key}` };
  const ids: string[] = [];
  while (ids.length < TRANSCRIPTIONS) ids.push(await queue(service, headers));
  const finished = await writeCall(service, 600);
  const agent = new http.Agent({ keepAlive: true, maxSockets: waiting });
  const answers = Array.from({ length: waiting }, (_, i) =>
    sleep((i * arrival * 1000) / waiting).then(() =>
      ask(`${service.url}/v1/transcriptions/${ids[i % ids.length]}?wait=60`, headers, agent),
    ),
  );
  await sleep(arrival * 1000 + 3_000); // until all are connected
  const idle = await connections(service);
  const polling = poll(`${service.url}/v1/transcriptions/${finished}`, headers, pollers, rate, seconds);
  const busy: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(500)) {
    busy.push((await connections(service)).busy);
  }
  const polled = await polling;
  const changed = performance.now();
  await service.db.acrossTenants((tx) =>
    tx.rows(`update transcriptions set status = 'processing', updated_at = clock_timestamp() where status = 'queued'`),
  );
  const seen = await Promise.all(answers);
  agent.destroy();
  const failed = seen.filter(({ text }) => !text.includes('"status":"processing"'));
  const delays = seen.map(({ at }) => at - changed).sort((a, b) => a - b);
  return {
    waiting: {
      clients: waiting,
      failed: failed.length,
      first_failure: failed[0]?.text.slice(0, 200),
      answered_early: delays.filter((ms) => ms < 0).length,
      ms_after_the_change: { p50: Math.round(delays[waiting >> 1]!), max: Math.round(delays.at(-1)!) },
    },
    polling: { clients: pollers, rate, seconds, ...polled },
    database_connections: { open: idle.open, busy_while_only_waiting: idle.busy, busy_while_polling_at_most: Math.max(...busy) },
    memory_mb: service.memory(),
  };
});
process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${inspect(result, { depth: 3, colors: false, breakLength: 120 })}\n`);

/** Uploads a recording, which stays queued because there is no engine. Returns its id. */
async function queue({ url }: Service, headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`${url}/v1/transcriptions`, {
    method: 'POST',
    headers: { ...headers, 'content-disposition': 'attachment; filename="call.mp3"' },
    body: new Uint8Array(4096),
  });
  if (answer.status !== 201) throw new Error(`The upload got the response ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { uuid: string }).uuid;
}

function ask(url: string, headers: Record<string, string>, agent: http.Agent): Promise<{ text: string; at: number }> {
  return new Promise((resolve) => {
    const done = (text: string) => resolve({ text, at: performance.now() });
    const request = http.get(url, { headers, agent }, async (answer) => done(Buffer.concat(await answer.toArray()).toString()));
    request.on('error', (error) => done(String(error)));
  });
}

/** Connections of the API to the database, and how many of them are in a query or a transaction. */
async function connections({ db }: Service): Promise<{ open: number; busy: number }> {
  const [row] = await db.direct(
    `select count(*)::int as open, count(*) filter (where state <> 'idle')::int as busy from pg_stat_activity
     where datname = current_database() and application_name not like '%bench%' and pid <> pg_backend_pid()`,
  );
  return row as unknown as { open: number; busy: number };
}
