import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { findTools } from '../../../engine/audio/decode.ts';
import { FRAMES_PER_WINDOW, LOCAL_SPEAKERS } from '../../../engine/diarization/pyannote.ts';
import type { Job } from '../../../engine/runtime/pool.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import { type Holding, openHoldings } from '../../../engine/tasks/holdings.ts';
import { abortIfStuck, nextTranscription } from '../../../engine/tasks/transcribe.ts';
import type { TranscriptionRow } from '../../support/engine/engine.ts';
import { NO_WORDS, poolOf } from '../../support/engine/pools.ts';
import { silent, taskBench } from '../../support/engine/tasks.ts';

const bench = await taskBench(t);

const MINUTE = 60_000; // milliseconds
const SECONDS = 150; // of the recordings: ten batches of VAD per channel
const noise = (seed: number, amplitude: number) => ['-f', 'lavfi', '-i', `anoisesrc=d=${SECONDS}:r=16000:seed=${seed}:a=${amplitude}`];
const TWO_TRACKS = [...noise(1, 0.5), ...noise(2, 0.5), '-map', '0', '-map', '1'];
const ONE_SPEAKS = [...noise(1, 0.5), ...noise(2, 0.05), '-filter_complex', 'amerge'];

/** Transcribes a recording on a machine so slow that each batch of VAD takes six minutes. `decoding`: reports of progress before the first. */
async function slowly(name: string, ...args: string[]) {
  const path = join(bench.home, name);
  await promisify(execFile)((await findTools()).ffmpeg, ['-v', 'error', '-y', ...args, '-c:a', 'flac', path]);
  let now = 0;
  const holdings = openHoldings(bench.db, silent, () => now);
  const found = { idleMinutes: 0, batches: 0, fractions: [] as number[], decoding: 0 };
  let holding: Holding | undefined;
  const local = (samples: Float32Array) => ({
    speakers: new Uint8Array(FRAMES_PER_WINDOW * LOCAL_SPEAKERS),
    speech: new Uint8Array(FRAMES_PER_WINDOW).fill(samples.some((sample) => Math.abs(sample) > 0.2) ? 255 : 0),
  });
  const job = {
    segment: async (windows) => {
      now += 6 * MINUTE;
      found.decoding ||= found.fractions.length;
      found.batches++;
      found.idleMinutes = Math.max(found.idleMinutes, holding!.idleMs / MINUTE);
      abortIfStuck(holding!);
      return windows.map(local);
    },
    recognise: async () => NO_WORDS,
  } satisfies Partial<Job>;
  const engine = bench.engineHere({
    pool: poolOf(job),
    holdings: {
      take(lease: Holding['lease']) {
        holding = holdings.take(lease);
        const { progress } = holding;
        holding.progress = (stage, fraction) => {
          found.fractions.push(fraction);
          progress(stage, fraction);
        };
        return holding;
      },
    } as Engine['holdings'],
  });
  try {
    const id = await bench.upload(await bench.workspace(), await readFile(path), { extension: 'mkv', seconds: SECONDS });
    await (await nextTranscription(engine, { capacity: 2, long: 0 }))!();
    return { ...found, status: (await bench.row<TranscriptionRow>('transcriptions', id))!.status };
  } finally {
    holdings.close();
  }
}

for (const [what, args] of [
  ['tracks', TWO_TRACKS],
  ['channels of which one speaks', ONE_SPEAKS],
] as const)
  t.test(`abortIfStuck() lets a slow machine finish a recording with two ${what}, whose progress never falls`, async (t) => {
    const { status, batches, idleMinutes, fractions, decoding } = await slowly('two.mkv', ...args);
    t.equal(status, 'completed');
    t.ok(batches > 27, `${batches} batches: one look at each of two channels, and a second one`);
    t.ok(idleMinutes <= 12, `two batches at once: at most ${idleMinutes} minutes without progress`);
    t.ok(decoding > 20, `${decoding} reports while it is decoded`);
    t.ok(
      fractions.every((fraction, i) => i === 0 || fraction >= fractions[i - 1]!),
      'progress never falls',
    );
  });

t.test('abortIfStuck() aborts work that has finished nothing for more than 20 minutes', (t) => {
  const reasons: string[] = [];
  const abort = ({ message }: Error) => void reasons.push(message);
  abortIfStuck({ idleMs: 20 * MINUTE, abort });
  t.strictSame(reasons, []);
  abortIfStuck({ idleMs: 20 * MINUTE + 1, abort });
  t.strictSame(reasons, ['no progress for 20 minutes']);
  t.end();
});
