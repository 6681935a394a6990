import { join } from 'node:path';
import t from 'tap';
import { level, scaled, writeWav } from '../../../../../bench/recordings/sound.ts';
import { AttentionStore } from '../../../../../engine/asr/whisper/timing/attention-store.ts';
import { attendedRun } from '../../../../../engine/asr/whisper/timing/attended-run.ts';
import { openPool } from '../../../../../engine/runtime/pool.ts';
import { transcribe } from '../../../../../engine/transcribe.ts';
import { shippedModels } from '../../../../support/engine/models.ts';
import { clip, voice } from '../../../audio/voices.ts';

const RATE = 16_000;
const TICK = 0.02;
const HEADS = 2;
const FRAMES = 200;

/** Attention of a token: `given` at each of the frames [first, end), little elsewhere. */
function row(...given: [first: number, end: number, value: number][]): Uint8Array {
  const attention = new Float32Array(HEADS * FRAMES).fill(1e-6);
  for (const [first, end, value] of given)
    for (let head = 0; head < HEADS; head++) attention.fill(value, head * FRAMES + first, head * FRAMES + end);
  return new AttentionStore().keep(attention);
}

/** Harmonics of a frequency that changes with time. */
function sounding(seconds: number, hertz: (t: number) => number, strengths: number[], loudness = (_t: number) => 1): Float32Array {
  let phase = 0;
  return Float32Array.from({ length: seconds * RATE }, (_, i) => {
    phase += (2 * Math.PI * hertz(i / RATE)) / RATE;
    return loudness(i / RATE) * strengths.reduce((sum, strength, k) => sum + strength * Math.sin((k + 1) * phase), 0);
  });
}

const NOTES = [392, 440, 494, 523, 587, 523, 494, 440];
const FALLING = [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6];
const attack = (t: number) => Math.min(1, (t % 0.45) / 0.06, (0.45 - (t % 0.45)) / 0.1);
const SOUNDS = {
  'a yelping siren': sounding(8, (t) => 600 + 900 * ((t / 0.3) % 1), FALLING),
  'a wailing siren': sounding(9, (t) => 500 + 900 * (1 - Math.abs(2 * ((t / 4) % 1) - 1)), FALLING),
  'a flute': sounding(8, (t) => NOTES[Math.floor(t / 0.45) % 8]! * (1 + 0.006 * Math.sin(10 * Math.PI * t)), [1, 0.2, 0.1, 0.05], attack),
};

t.test('attendedRun() leaves a longer run for the one that the word clearly attends to', async (t) => {
  const frames = Int32Array.from({ length: FRAMES }, (_, i) => i);
  const runs = [
    { first: 0, end: 50 },
    { first: 60, end: 160 },
    { first: 170, end: 180 },
  ];
  const chosen = (...rows: Uint8Array[]) => runs.indexOf(attendedRun(runs, rows, HEADS, frames, TICK));
  t.equal(chosen(row([60, 160, 0.001], [170, 180, 0.01])), 2);
  t.equal(chosen(row([60, 160, 0.001]), row([170, 180, 0.02])), 2, 'the mean of its tokens counts');
  t.equal(chosen(row([60, 160, 0.001], [170, 180, 0.0015])), 1);
  t.equal(chosen(row([0, 50, 0.01], [60, 160, 0.001])), 0);
  const [, longest] = runs;
  t.equal(attendedRun(runs, [row([170, 180, 0.01])], HEADS, frames, TICK, 2), longest, 'a word may be that long');
  const edge = [runs[1]!, { first: 170, end: 174 }];
  t.equal(attendedRun(edge, [row([170, 174, 0.02])], HEADS, frames, TICK), edge[0], 'the first frames of the next word are no run');
});

t.test('transcribe() places words where they are said, beside sound that detection takes for a voice', async (t) => {
  const pool = await openPool({ models: await shippedModels(t.testdir()), threads: 1 });
  t.teardown(() => pool.close());
  const run = { signal: new AbortController().signal, progress() {} };
  const options = { language: 'auto', diarize: false, speakers: null, vocabulary: '', accurate: false };
  const path = join(t.testdir(), 'recording.wav');
  const at = (decibels: number, samples: Float32Array) => scaled(samples, 10 ** (decibels / 20) / level(samples));
  const heard = async (samples: Float32Array) => {
    await writeWav(path, samples);
    return (await transcribe(path, options, run, pool)).segments.flatMap(({ words }) => words);
  };
  const spoken = at(-20, (await voice(clip('en_jfk.mp3'))).slice(0, 5 * RATE));
  const alone = await heard(spoken);
  const [opening] = alone;
  for (const [name, sound] of Object.entries(SOUNDS)) {
    for (const pause of [0.4, 1.2]) {
      const silence = new Float32Array(pause * RATE);
      const noise = at(-22, sound);
      const [word] = await heard(Float32Array.from([...noise, ...silence, ...spoken]));
      const expected = noise.length / RATE + pause + opening!.start;
      t.match(word!.text, opening!.text.trim().slice(0, 3), name);
      t.ok(
        Math.abs(word!.start - expected) < 0.2,
        `${name}, ${pause} s before: ${word!.start.toFixed(2)}, expected ${expected.toFixed(2)}`,
      );
    }
  }
});
