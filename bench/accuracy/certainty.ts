import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findSpeech } from '../../engine/asr/speech.ts';
import { certainShare } from '../../engine/asr/whisper/guards/coverage.ts';
import { MIN_CERTAIN_SHARE } from '../../engine/asr/whisper/thresholds.ts';
import { packingFor, packWindows, quietestOf } from '../../engine/asr/windows.ts';
import { decode } from '../../engine/audio/decode.ts';
import { findTones } from '../../engine/audio/signals/tones.ts';
import { masked } from '../../engine/diarization/mask.ts';
import { FIRST_FRAME_SECONDS, FRAME_SECONDS } from '../../engine/diarization/pyannote.ts';
import { observe, speechProbability } from '../../engine/diarization/segmentation.ts';
import { openPool, type Pool } from '../../engine/runtime/pool.ts';
import { SHIPPED_FOLDER } from '../../models/manifest.ts';
import { seeded } from '../random.ts';
import { clips } from '../recordings/clips.ts';
import { NOISES, VOICELIKE } from '../recordings/noises.ts';
import { SAMPLE_RATE, writeWav } from '../recordings/sound.ts';
import { scratchFolder } from '../scratch.ts';

/* How certain speech detection is of speech and of other sounds: node --import tsx bench/accuracy/certainty.ts [tuning|test] */

const SECONDS = 40; // of each sound

/** The share of certain speech in each window of a recording. */
async function shares(path: string, pool: Pool): Promise<number[]> {
  const { signal } = new AbortController();
  const recording = await decode(path, {});
  try {
    await recording.decoded;
    const seen = await observe(recording, 'mix', pool.job(signal).segment, { signal, concurrency: pool.threads, coarse: true });
    const activity = masked(seen, await findTones(recording, 'mix', signal));
    const speech = findSpeech(speechProbability(activity), FRAME_SECONDS, FIRST_FRAME_SECONDS);
    const packing = packingFor(pool.windowSeconds);
    const windows = await packWindows(speech, 'mix', recording.length / SAMPLE_RATE, quietestOf(recording, 'mix'), packing);
    return windows.map((window) => certainShare(window.certainty!, window.speech));
  } finally {
    await recording.close();
  }
}

const split = process.argv[2] === 'test' ? 'test' : 'tuning';
const models = { whisper: join(SHIPPED_FOLDER, 'whisper-base'), diarization: join(SHIPPED_FOLDER, 'diarization') };
const pool = await openPool({ models, threads: 2 });
const folder = scratchFolder('certainty');
try {
  const sounds: number[] = [];
  for (const [name, make] of Object.entries({ ...NOISES, ...VOICELIKE })) {
    const path = join(folder, 'sound.wav');
    await writeWav(path, make(SECONDS, seeded(3)));
    const found = await shares(path, pool);
    console.log(`${name}: ${found.length ? found.map((share) => share.toFixed(2)).join(', ') : 'no speech detected'}`);
    sounds.push(...found);
  }
  const speech: number[] = [];
  for (const { path, seconds } of clips(undefined, split)) if (seconds >= 1) speech.push(...(await shares(path, pool)));
  console.log(`${sounds.length} windows of sounds without speech: at most ${Math.max(...sounds).toFixed(2)}`);
  const uncertain = speech.filter((share) => share < MIN_CERTAIN_SHARE).length;
  console.log(
    `${speech.length} windows of ${split} clips: at least ${Math.min(...speech).toFixed(2)}; ${uncertain} below ${MIN_CERTAIN_SHARE}`,
  );
} finally {
  await pool.close();
  await rm(folder, { recursive: true });
}
