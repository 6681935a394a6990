/* Leases, keys and slots of killed processes are released automatically with the default settings, within the promised time. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { connectRaw, head } from '../support/api/raw.ts';
import { send, uploadHeaders } from '../support/api/uploads.ts';
import { aftermath } from '../support/databases/aftermath.ts';
import { conversation, excerpt, type TranscriptionRow } from '../support/engine/engine.ts';
import { TINY } from '../support/engine/models.ts';
import type { Running } from '../support/processes/processes.ts';
import { eventually, openService } from '../support/processes/service.ts';
import { SEED, seeded } from '../support/seeded.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const { random } = seeded();
t.comment(`SEED=${SEED} repeats the random moments`);
const PROMISED = 120; // seconds until another engine takes over
const KEY_HELD = 60; // maximum seconds for which a crashed node blocks a key
const LEEWAY = 30; // seconds of tolerance for a busy machine

const service = await openService(t, { model: TINY });
const { db, key, workspaceId } = service;
const engines = new Map<number, Running>();
const begin = async () => {
  const engine = await service.engine();
  engines.set(engine.child.pid!, engine);
};

/** Kills the engine that holds a transcription. False if there is none, because it has finished. */
async function killHolder(id: string): Promise<boolean> {
  const [row] = await db.query<{ pid: number }>(
    '*',
    'select e.pid from engines e join transcriptions t on t.engine_id = e.id where t.id = ?',
    [id],
  );
  if (!row) return false;
  await engines.get(row.pid)!.stop('SIGKILL');
  engines.delete(row.pid);
  const held = await db.query('*', 'select 1 from transcriptions where id = ? and lease_token is not null', [id]);
  return held.length > 0;
}

/** Returns a function: whole seconds since this call. */
function stopwatch(): () => number {
  const began = performance.now();
  return () => Math.round((performance.now() - began) / 1000);
}

for (let round = 0; round < ROUNDS; round++) {
  await t.test(
    'engines take over the work of a killed engine within two minutes, and the key and slot of a killed API are released',
    async (t) => {
      while (engines.size < 2) await begin();
      const [victim, survivor] = [await service.api(), await service.api({ LONGHAND_LIMIT_UPLOADS_PER_KEY: '1' })];
      const wav = await excerpt();
      const connection = await connectRaw(victim.url);
      const wish = { 'Idempotency-Key': `held ${round}`, 'Content-Disposition': 'attachment; filename="call.wav"' };
      connection.write(head('POST', '/v1/transcriptions', uploadHeaders(key, { ...wish, 'Content-Length': wav.length })));
      connection.write(wav.subarray(0, Math.ceil(random() * (wav.length - 1))));
      await eventually(async () => (await db.query('*', 'select 1 from upload_leases')).length > 0, 'an upload in flight');
      const since = stopwatch();
      await victim.stop('SIGKILL');
      const accepted = eventually(
        async () => {
          const answer = await send(survivor.url, key, wish, '', wav);
          if (answer.status < 300) return { ...answer, seconds: since() };
          t.ok([409, 429].includes(answer.status), `${answer.status}: the key, then the slot of the killed process is still held`);
          await sleep(2_000); // a realistic interval: more requests would exceed the rate limit
          return null;
        },
        'the repeated upload to be accepted',
        PROMISED,
      );
      let [id, before, taken] = ['', null as TranscriptionRow | null, since];
      for (let killed = false; !killed; ) {
        if (engines.size < 2) await begin();
        id = await service.upload(workspaceId, await conversation(10), { diarize: false });
        const chance = random();
        before = await service.until<TranscriptionRow>(id, ({ fraction }) => fraction > 0.1 + chance * 0.6, 300);
        taken = stopwatch();
        killed = await killHolder(id);
      }
      const next = await service.until<TranscriptionRow>(
        id,
        ({ engine_id }) => engine_id !== null && engine_id !== before!.engine_id,
        PROMISED,
      );
      const takenOver = taken();
      const { status, seconds: keyFree } = await accepted;
      t.comment(`taken over after ${takenOver} s, key and slot released after ${keyFree} s`);
      t.ok(takenOver < PROMISED);
      t.equal(status, 201);
      t.ok(keyFree < KEY_HELD + LEEWAY);
      t.ok(next.fraction >= before!.fraction, 'it resumes from the finished chunks');
      await service.until<TranscriptionRow>(id, (row) => row.status === 'completed', 300);
      t.match(await service.row('transcriptions', id), { deaths: 1, attempt: 2 });
      await aftermath(t, service);
    },
  );

  await t.test('engines fail a recording that three of them died on with ENGINE_ERROR, free of charge, and leave no files', async (t) => {
    const id = await service.upload(workspaceId, await conversation(20), { diarize: false }); // not done before it is killed
    for (let death = 1; death <= 3; death++) {
      if (!engines.size) await begin();
      await service.due();
      await service.until<TranscriptionRow>(id, ({ status, engine_id }) => status === 'processing' && engine_id !== null, 120);
      await sleep(random() * 300);
      await killHolder(id);
      await service.expire('transcriptions', id); // as after 60 s
      await begin();
      await service.until<TranscriptionRow>(id, ({ deaths }) => deaths === death, 120);
    }
    t.match(await service.row('transcriptions', id), { status: 'failed', error_code: 'ENGINE_ERROR', lease_token: null });
    t.equal((await db.query('*', 'select 1 from ledger where transcription_id = ?', [id])).length, 0);
    t.equal((await db.query('*', 'select 1 from reservations')).length, 0);
    await eventually(() => !service.spooled().some((name) => name.startsWith(id)), 'the removal of its media');
  });
}
