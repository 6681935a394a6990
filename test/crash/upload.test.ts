/*
 * The API is killed with SIGKILL during uploads: while bytes arrive, after the last byte, and while PostgreSQL commits. The client does as
 * documented: it repeats the request with the same Idempotency-Key, to any host that responds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { connectRaw, head, type RawAnswer } from '../support/api/raw.ts';
import { send, uploadHeaders } from '../support/api/uploads.ts';
import { aftermath } from '../support/databases/aftermath.ts';
import { holdCommits, holding, waiting } from '../support/databases/gate.ts';
import { excerpt, type TranscriptionRow } from '../support/engine/engine.ts';
import { TINY } from '../support/engine/models.ts';
import { type Api, eventually, openService } from '../support/processes/service.ts';
import { SEED, seeded } from '../support/seeded.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const MOMENTS = ROUNDS > 1 ? 3 : 1; // at which bytes arrive
const { random } = seeded();
t.comment(`SEED=${SEED} repeats the random moments`);

const service = await openService(t, { model: TINY });
const { db, key } = service;
const limits = { LONGHAND_LIMIT_UPLOADS_PER_KEY: '1' }; // so that a leaked slot is detected immediately
const wav = await excerpt();
const survivor = await service.api(limits);
const sent: { name: string; uuid: string }[] = [];

const wish = (name: string) => ({
  'Idempotency-Key': name,
  'X-External-Id': name,
  'Content-Length': wav.length,
  'Content-Disposition': 'attachment; filename="call.wav"',
});

/** Sends the first bytes of an upload. */
async function begin(api: Api, name: string, bytes: number) {
  const connection = await connectRaw(api.url);
  connection.write(head('POST', '/v1/transcriptions', uploadHeaders(key, wish(name))));
  connection.write(wav.subarray(0, bytes));
  return connection;
}

/** Repeats the upload until it is accepted. Expires the leases of killed processes, as after 60 s. */
async function again(t: Test, name: string): Promise<RawAnswer> {
  for (let attempt = 0; attempt < 50; attempt++, await sleep(200)) {
    const answer = await send(survivor.url, key, wish(name), '', wav);
    if (answer.status < 300) return answer;
    t.match(String(answer.status), /^(409|429|503)$/, `${answer.status} ${answer.body}`);
    t.match(answer.headers.get('retry-after'), /^[1-9]\d*$/, 'the error response has a Retry-After header');
    await db.acrossTenants(async (tx) => {
      await tx.rows(`update idempotency_keys set lease_until = clock_timestamp() where answer is null`);
      await tx.rows('update upload_leases set lease_until = clock_timestamp()');
    });
  }
  throw new Error(`${name} was never accepted`);
}

/** One upload whose API process is killed, and the repeated request of the client. */
async function suffer(t: Test, name: string, kill: (api: Api) => Promise<void>, expected: number): Promise<void> {
  const victim = await service.api(limits);
  await kill(victim);
  const answer = await again(t, name);
  t.equal(answer.status, expected);
  t.equal((await send(survivor.url, key, wish(name), '', wav)).json.uuid, answer.json.uuid, 'the third request gets the stored response');
  const rows = await db.query<{ id: string }>('*', 'select id from transcriptions where external_id = ?', [name]);
  t.strictSame(rows, [{ id: answer.json.uuid }], 'one transcription');
  sent.push({ name, uuid: answer.json.uuid });
}

for (let round = 0; round < ROUNDS; round++) {
  for (let i = 0; i < MOMENTS; i++) {
    await t.test('API killed while receiving bytes: a client that repeats its upload gets one transcription', async (t) => {
      await suffer(
        t,
        `during-${round}-${i}`,
        async (api) => {
          await begin(api, `during-${round}-${i}`, 1 + Math.floor(random() * (wav.length - 1)));
          await eventually(() => service.spooled().length > 0, 'a file in the spool');
          await sleep(random() * 50);
          await api.stop('SIGKILL');
        },
        201,
      );
    });
  }

  await t.test('API killed after the last byte and before its transaction leaves no record', async (t) => {
    await suffer(
      t,
      `received-${round}`,
      async (api) => {
        const release = await holding(service.url, 'lock table transcriptions in share row exclusive mode');
        await begin(api, `received-${round}`, wav.length);
        await eventually(async () => (await waiting(db, 'longhand-api')) > 0, 'the API to wait for the lock');
        t.ok(
          service.spooled().some((name) => name.endsWith('.wav')),
          'the file is already durable',
        );
        await api.stop('SIGKILL');
        release();
        await eventually(async () => (await waiting(db, 'longhand-api')) === 0, 'the end of its connection');
      },
      201,
    );
  });

  await t.test('API killed while PostgreSQL commits has accepted the file, and the repeated upload gets that response', async (t) => {
    await suffer(
      t,
      `committing-${round}`,
      async (api) => {
        const release = await holdCommits(db, service.url, 'transcriptions');
        await begin(api, `committing-${round}`, wav.length);
        await eventually(async () => (await waiting(db, 'longhand-api')) > 0, 'the commit to wait');
        await api.stop('SIGKILL');
        release();
        await eventually(async () => (await waiting(db, 'longhand-api')) === 0, 'the commit to finish');
      },
      200,
    );
  });
}

await t.test('API afterwards: every upload is transcribed and charged once, with no orphan file, no slot and no key held', async (t) => {
  const engine = await service.engine();
  for (const { uuid } of sent) await service.until<TranscriptionRow>(uuid, ({ status }) => status === 'completed', 120);
  await aftermath(t, service);
  t.equal((await db.query('*', 'select 1 from transcriptions')).length, sent.length);
  t.equal((await db.query('*', 'select 1 from ledger where minutes < 0')).length, sent.length);
  t.equal(await engine.stop(), 0);
});
