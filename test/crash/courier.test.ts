/* Couriers are killed at random moments while they call webhooks and a language model; everything is delivered and charged as promised. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { aftermath } from '../support/databases/aftermath.ts';
import { excerpt } from '../support/engine/engine.ts';
import { TINY } from '../support/engine/models.ts';
import type { Running } from '../support/processes/processes.ts';
import { eventually, openService, tidily } from '../support/processes/service.ts';
import { SEED, seeded } from '../support/seeded.ts';
import { startLlm } from '../support/servers/llm-server.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const { random } = seeded();
t.comment(`SEED=${SEED} repeats the random moments`);
const RECORDINGS = ROUNDS > 1 ? 4 : 2;
const REPORTS = ['summary', 'tasks'];
const KILLS = ROUNDS > 1 ? 5 : 2;
const PROMISED = 900; // seconds, on a busy machine

interface Call {
  id: string;
  body: string;
}

/** A receiver that is slow, fails now and then, and keeps every call, answered or not. */
async function receiver(t: Test): Promise<{ url: string; calls: Call[] }> {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => (body += text));
    request.on('end', async () => {
      calls.push({ id: String(request.headers['webhook-id']), body });
      await sleep(random() * 1000);
      response.writeHead(random() < 0.2 ? 503 : 200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, calls };
}

for (let round = 0; round < ROUNDS; round++) {
  t.test('couriers killed at random moments lose no delivery and no report, and nothing is charged twice or not at all', async (t) => {
    const service = await openService(t, { model: TINY });
    const { db, vault, workspaceId } = service;
    const { url, calls } = await receiver(t);
    const llm = await startLlm(() => ({ delay: random() * 1500 }));
    t.teardown(llm.close);
    const webhook = randomUUID();
    await db.query('*', 'insert into webhooks (id, workspace_id, url, secret_sealed) values (?, ?, ?, ?)', [
      ...[webhook, workspaceId, url, await vault.seal(workspaceId, `webhooks|${webhook}|secret`, 'whsec_c2VjcmV0')],
    ]);
    const begin = () => service.courier({ LONGHAND_WEBHOOK_PRIVATE: 'allow', LLM_BASE_URL: llm.url });
    await service.engine();
    const couriers: Running[] = [await begin(), await begin()];
    const dead: number[] = [];
    const wav = await excerpt();
    const upload = async () => {
      for (let i = 0; i < RECORDINGS; i++) {
        await service.upload(workspaceId, wav, { reports: REPORTS, diarize: false });
        await sleep(random() * 3000);
      }
    };
    const kill = async () => {
      await eventually(() => calls.length > 0, 'the first call');
      for (let n = 0; n < KILLS; n++) {
        await sleep(random() * 3000);
        const [victim] = couriers.splice(Math.floor(random() * couriers.length), 1);
        await victim!.stop('SIGKILL');
        dead.push(victim!.child.pid!);
        couriers.push(await begin());
      }
    };
    await Promise.all([upload(), kill()]);

    const open = `select 1 from deliveries where status = 'pending' union all select 1 from reports where status in ('queued', 'processing')
      union all select 1 from transcriptions where status in ('queued', 'processing')`;
    await db.query(
      '*',
      `update leases set until = clock_timestamp() - interval '1 second' where kind = 'reports'
         and subject in (select r.id from reports r join engines e on e.id = r.engine_id where e.pid = any (?::int[]))`,
      [dead],
    ); // as after 60 s
    tidily(t, service);
    // not those in flight, whose next attempt is 2 minutes after the beginning of one of at most 10 s
    const soon = `update deliveries set next_at = now() - interval '2 minutes'
      where status = 'pending' and next_at between now() - interval '1 minute' and now() + interval '108 seconds'`;
    const over = async () => {
      await db.query('*', soon);
      return !(await db.query('*', open)).length;
    };
    await eventually(over, 'the end of all work', PROMISED);
    const events = await db.query<{ id: string; event: string; subject: string; status: string; body: unknown }>(
      '*',
      `select id, event, coalesce(body ->> 'report_id', body ->> 'transcription_id') as subject, status, body from deliveries`,
    );
    const named = (event: string) => events.filter((each) => each.event === event).map(({ subject }) => subject);
    const ids = async (table: string) =>
      (await db.query<{ id: string }>('*', `select id from ${table} where status = 'completed'`)).map(({ id }) => id);
    const [done, written] = [await ids('transcriptions'), await ids('reports')];
    t.equal(done.length, RECORDINGS);
    t.equal(written.length, RECORDINGS * REPORTS.length);
    t.strictSame(named('transcription.completed').sort(), done.sort(), 'one event for each transcription');
    t.strictSame(named('report.completed').sort(), written.sort(), 'and for each report');
    t.strictSame(
      events.filter(({ status }) => status !== 'delivered'),
      [],
    );
    for (const { id, body } of events) {
      const own = calls.filter((call) => call.id === id);
      t.ok(own.length >= 1, `${own.length} calls`);
      for (const call of own) t.strictSame(JSON.parse(call.body), body, 'each call has the same id and body');
    }
    t.ok(calls.every(({ id }) => events.some((event) => event.id === id)));
    t.comment(`${calls.length} calls for ${events.length} deliveries, ${llm.calls.length} calls of the model, ${llm.left} interrupted`);
    await aftermath(t, service);
    for (const courier of couriers) t.equal(await courier.stop(), 0);
  });
}
