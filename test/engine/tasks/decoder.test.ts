/*
 * ffmpeg is killed while it probes and while it decodes recordings, as by the OOM killer or a service that stops. The recording is not at fault:
 * a later attempt decodes all of it, or the last one fails with ENGINE_ERROR; it is never reported as damaged, and never truncated.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { decode, probe } from '../../../engine/audio/decode.ts';
import { MediaError } from '../../../engine/types.ts';
import { aftermath } from '../../support/databases/aftermath.ts';
import { conversation, engineBench, type TranscriptionRow } from '../../support/engine/engine.ts';
import { TINY } from '../../support/engine/models.ts';
import { hunt, mediaPrograms } from '../../support/processes/hunt.ts';
import { impatient } from '../../support/processes/service.ts';
import { SEED, seeded } from '../../support/seeded.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const SECONDS = 60;
const { random } = seeded();
t.comment(`SEED=${SEED} repeats the random moments`);

await t.test('probe() and decode() distinguish a killed program from a damaged file, at any moment', async (t) => {
  const path = join(t.testdir(), 'long.wav');
  writeFileSync(path, await conversation(SECONDS / 20));
  const whole = async () => {
    await probe(path);
    const recording = await decode(path);
    try {
      return (await recording.decoded) / 16_000;
    } finally {
      await recording.close();
    }
  };
  const began = performance.now();
  const seconds = await whole();
  const took = performance.now() - began;
  let [killed, done] = [0, 0];
  for (let round = 0; round < 15 * ROUNDS; round++) {
    const hunter = hunt(process.pid, () => random() * took * 0.7);
    const outcome = await whole().catch((error: Error) => error);
    hunter.stop();
    if (outcome instanceof Error) {
      killed++;
      t.notOk(outcome instanceof MediaError, `${outcome}`);
      t.match(outcome.message, /killed by SIGKILL|could not be started/);
    } else {
      done++;
      t.equal(outcome, seconds, 'the decoded audio is complete');
    }
  }
  t.comment(`${killed} killed, ${done} done`);
  t.ok(killed > 0, 'some kills hit a running program');
  t.strictSame(mediaPrograms(process.pid), []);
});

await t.test('engine whose decoder is killed retries: the transcript is complete, or it fails with ENGINE_ERROR', async (t) => {
  const bench = await engineBench(t, { model: TINY });
  const engine = await bench.engine();
  const workspace = await bench.workspace({ minutes: 100 });
  const wav = await conversation(1);
  impatient(t, bench);
  /** Uploads a file while decoders are being killed. */
  const suffer = async (delayMs: () => number, most: number) => {
    const hunter = hunt(engine.child.pid!, delayMs, most);
    const id = await bench.upload(workspace, wav);
    try {
      const row = await bench.until<TranscriptionRow & { duration_seconds: number }>(
        id,
        ({ status }) => !['queued', 'processing'].includes(status),
        180,
      );
      const charges = await bench.db.query('*', 'select 1 from ledger where transcription_id = ?', [id]);
      return { kills: hunter.kills, ...row, charges: charges.length };
    } finally {
      hunter.stop();
    }
  };
  for (let round = 0; round < 3 * ROUNDS; round++) {
    const { kills, status, duration_seconds, charges } = await suffer(() => random() * 60, 3);
    t.match(
      { status, duration_seconds, charges },
      { status: 'completed', duration_seconds: /^(19|20)/, charges: 1 },
      `after ${kills} kills`,
    );
  }
  const { kills, status, error_code, charges } = await suffer(() => 0, Number.POSITIVE_INFINITY);
  t.match({ status, error_code, charges }, { status: 'failed', error_code: 'ENGINE_ERROR', charges: 0 });
  t.ok(kills >= 4, 'every attempt was killed');
  await aftermath(t, bench);
  t.strictSame(mediaPrograms(engine.child.pid!), []);
  t.equal(await engine.stop(), 0, 'the engine is still running');
});
