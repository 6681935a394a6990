/*
 * PostgreSQL is killed and restarted during work, at random moments, while clients upload and poll; its address stays the same, as behind
 * a service name. The worst response to clients is 503 with Retry-After.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startEmbedded } from '../../db/postgres/embedded.ts';
import { send } from '../support/api/uploads.ts';
import { aftermath } from '../support/databases/aftermath.ts';
import { movingDatabase } from '../support/databases/moving-database.ts';
import { conversation, excerpt, type TranscriptionRow } from '../support/engine/engine.ts';
import { TINY } from '../support/engine/models.ts';
import { eventually, openService } from '../support/processes/service.ts';
import { SEED, seeded } from '../support/seeded.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const BRIEF = 30; // seconds after PostgreSQL is up within which the API must serve requests again
const { random, pick } = seeded();
t.comment(`SEED=${SEED} repeats the random moments`);

const folder = join(t.testdir(), 'postgres');
const database = await movingDatabase(t, folder);

/** A longer outage. */
async function interrupt(signal: NodeJS.Signals): Promise<void> {
  const ended = once(database.server.process, 'exit');
  database.server.process.kill(signal);
  await ended;
  await sleep(1000 + random() * 2000);
  database.server = await startEmbedded(folder);
}

t.test('PostgreSQL may be killed and restarted: clients briefly get 503, nothing is lost and nothing is done twice', async (t) => {
  const service = await openService(t, { database, model: TINY });
  const { key } = service;
  const [api, engine] = [await service.api(), await service.engine()];
  const [long, short] = [await conversation(10), await excerpt()];
  const wrong: string[] = []; // unexpected responses
  let refusals = 0;
  let going = true;

  /** Uploads one file, repeating the request with its key until it is accepted. */
  const upload = async (name: string, bytes: Buffer): Promise<string> => {
    const headers = { 'Idempotency-Key': name, 'Content-Disposition': 'attachment; filename="call.wav"' };
    for (;;) {
      const { status, body, json, headers: answered } = await send(api.url, key, headers, '?diarize=0', bytes);
      if (status === 200 || status === 201) return json.uuid;
      if (!/^(409|503)$/.test(String(status)) || !/^[1-9]\d*$/.test(answered.get('retry-after') ?? '')) wrong.push(`${status} ${body}`);
      await sleep(500);
    }
  };
  const poll = async (path: string) => {
    for (; going; await sleep(400)) {
      const answer = await fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
      const body = await answer.text();
      const refused = answer.status === 503 && /^[1-9]\d*$/.test(answer.headers.get('retry-after') ?? '');
      if (refused) refusals++;
      else if (answer.status !== 200) wrong.push(`${path}: ${answer.status} ${body}`);
    }
  };

  const first = await upload('first', long);
  const polling = [poll(`/v1/transcriptions/${first}`), poll('/v1/transcriptions'), poll('/v1/workspace')];
  const uuids = [first];
  await service.until<TranscriptionRow>(first, (row) => row.fraction > 0.1, 240);
  for (let round = 0; round < 2 * ROUNDS; round++) {
    const sending = Promise.all([0, 1, 2].map(async (i) => sleep(random() * 1500).then(() => upload(`${round}-${i}`, short))));
    await sleep(random() * 2000);
    await interrupt(pick(['SIGKILL', 'SIGINT'] as const)!); // SIGINT: PostgreSQL's fast shutdown
    const serves = async () => (await fetch(`${api.url}/readyz`)).status === 200;
    await eventually(serves, 'the API to serve requests again', BRIEF);
    uuids.push(...(await sending));
  }
  for (const uuid of uuids) await service.until<TranscriptionRow>(uuid, ({ status }) => status === 'completed', 240);
  going = false;
  await Promise.all(polling);
  t.strictSame(wrong, [], 'every response was the expected one, or 503 with Retry-After');
  t.ok(refusals > 0, 'the outages caused some 503 responses');
  t.equal((await database.db.query('*', 'select 1 from transcriptions')).length, uuids.length, 'one transcription per key');
  await aftermath(t, service);
  t.equal(await engine.stop(), 0);
  t.equal(await api.stop(), 0);
});
