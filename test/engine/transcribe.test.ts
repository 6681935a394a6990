import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { changing } from '../../bench/accuracy/changes.ts';
import { countErrors, longestGap } from '../../bench/errors/align.ts';
import { unitsOf } from '../../bench/errors/normalise.ts';
import { englishClips } from '../../bench/recordings/clips.ts';
import { telephoneBuzz } from '../../bench/recordings/noises.ts';
import { level, samplesOf, writeWav } from '../../bench/recordings/sound.ts';
import { openPool, type Pool } from '../../engine/runtime/pool.ts';
import { transcribe } from '../../engine/transcribe.ts';
import { type Options, type Run, SAMPLE_RATE, type Transcript } from '../../engine/types.ts';
import { shippedModels } from '../support/engine/models.ts';
import { ffmpeg } from './hostile/bench.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const recording = (name: string) => at(`../fixtures/audio/${name}`);
const OPTIONS: Options = { language: 'auto', diarize: true, speakers: null, vocabulary: '', accurate: false };

function quiet(): Run {
  return { signal: new AbortController().signal, progress() {} };
}

function words(transcript: Transcript): string {
  return transcript.segments
    .map(({ text }) => text)
    .join(' ')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} ]/gu, '');
}

t.test('transcribe()', async (t) => {
  const pool = await openPool({ models: await shippedModels(t.testdir()), threads: 1 });
  t.teardown(() => pool.close());

  t.test('transcribe() returns words with speakers and times', async (t) => {
    const progress: [string, number][] = [];
    const run: Run = { ...quiet(), progress: (stage, fraction) => progress.push([stage, fraction]) };
    const transcript = await transcribe(recording('en_falcon_3spk.wav'), OPTIONS, run, pool);
    t.match(transcript, { language: 'en', mediaType: 'audio', diarized: true, diarizationError: null, speakers: 3 });
    t.equal(Math.round(transcript.durationSeconds * 100), 1858);
    t.strictSame(
      transcript.segments.map(({ speaker }) => speaker),
      [0, 1, 2],
    );
    t.match(transcript.segments[1]!.text, /what a crocodile sounds like/i);
    t.match(transcript.segments[2]!.text, /fasten your seat ?belts/i);
    for (const [i, bound] of [1.7, 6.2, 12.8].entries()) {
      const { start } = transcript.segments[i]!;
      t.ok(Math.abs(start - bound) < 0.5, `segment ${i + 1} starts at ${start}, ${bound} is true`);
    }
    const times = transcript.segments.flatMap(({ words }) => words.flatMap(({ start, end }) => [start, end]));
    t.ok(
      times.every((time, i) => i === 0 || time >= times[i - 1]!),
      'word timestamps never decrease',
    );
    t.ok(times.at(-1)! <= transcript.durationSeconds);
    t.ok(
      progress.every(([, fraction], i) => i === 0 || fraction >= progress[i - 1]![1]),
      'progress never decreases',
    );
    t.equal(progress[0]![0], 'probing');
    t.equal(progress.at(-1)![0], 'finishing');
  });

  t.test('transcribe() finds the language of a very quiet recording', async (t) => {
    const transcript = await transcribe(recording('fr_fleurs-test_000.ogg'), { ...OPTIONS, diarize: false }, quiet(), pool);
    t.match(transcript, { language: 'fr', diarized: false, speakers: 0 });
    t.match(words(transcript), /laccident a eu lieu en terrain montagneux/);
    t.ok(transcript.segments.every(({ speaker }) => speaker === null));
  });

  t.test('transcribe() keeps each language of a recording in which it changes', async (t) => {
    const file = join(t.testdir(), 'changing.wav');
    for (const order of [
      ['es', 'en'],
      ['pt', 'es'], // one window, whose text is Spanish and probable throughout
    ]) {
      const { samples, said } = await changing(order, 5, { split: 'test' });
      await writeWav(file, samples);
      const recognised = words(await transcribe(file, { ...OPTIONS, diarize: false }, quiet(), pool)).split(/\s+/);
      for (const { language, transcript } of said) {
        const wanted = new Set(unitsOf(transcript, 'es'));
        const right = recognised.filter((word) => wanted.has(word)).length;
        t.ok(right > 0.6 * unitsOf(transcript, 'es').length, `${language}: ${recognised.join(' ')}`);
      }
    }
  });

  t.test('transcribe() omits no sentence where one language follows another', { timeout: 600_000 }, async (t) => {
    const cases = [
      { order: ['en', 'de'], seconds: [36.4, 65.7], words: ['it seems probable', 'kowloon fahren'] }, // a window in both, improbable in either
      { order: ['fr', 'en'], seconds: [0, 60], words: ['par exemple', 'heard him hard by'] }, // a window whose best text ends at the change
    ];
    for (const {
      order,
      seconds,
      words: [first, last],
    } of cases) {
      const file = join(t.testdir(), 'omitted.wav');
      const { samples, said } = await changing(order, 40, { split: 'tuning' });
      await writeWav(file, samples.subarray(...seconds.map((second) => second * SAMPLE_RATE)));
      const recognised = unitsOf(words(await transcribe(file, { ...OPTIONS, diarize: false }, quiet(), pool)), 'de');
      const all = said.flatMap(({ transcript }) => unitsOf(transcript, 'de')).join(' ');
      const spoken = all.slice(all.indexOf(first!), all.indexOf(last!) + last!.length).split(' ');
      t.ok(spoken.length > 40, `${spoken.length} words in this part`);
      const kept = spoken.filter((word) => recognised.includes(word)).length;
      t.ok(kept > 0.6 * spoken.length, `${order}: ${kept} of ${spoken.length} words are in their own language`);
      const gap = longestGap(spoken, recognised);
      t.ok(gap <= 3, `${order}: ${gap} words in a row are missing`);
    }
  });

  t.test('transcribe() separates the parties of a stereo call by channel', async (t) => {
    const transcript = await transcribe(recording('en_faster-whisper_stereo_one-speaker-per-channel.wav'), OPTIONS, quiet(), pool);
    t.equal(transcript.speakers, 2);
    const spoken = (channel: number) =>
      transcript.segments
        .filter(({ words }) => words[0]!.channel === channel)
        .map(({ text }) => text)
        .join(' ');
    t.match(spoken(0), /complaint against the wizard/i);
    t.match(spoken(1), /horizon seems extremely distant/i);
    t.notMatch(spoken(0), /horizon/i);
  });

  t.test('transcribe() finds one stream if the other channel of a call is silent', async (t) => {
    const file = join(t.testdir(), 'silent.wav');
    await ffmpeg('-i', recording('en_jfk.mp3'), '-af', 'pan=stereo|c0=0*c0|c1=c0', file);
    const { speakers, segments } = await transcribe(file, { ...OPTIONS, language: 'en', speakers: 2 }, quiet(), pool);
    t.equal(speakers, 1);
    t.match(segments[0]!.text, /fellow Americans/);
  });

  t.test('transcribe() mixes only the channels with speech if it does not separate them', async (t) => {
    const file = join(t.testdir(), 'code.wav');
    const code = ['-f', 'lavfi', '-i', "aevalsrc='0.7*sgn(sin(2*PI*1200*t+3*sin(2*PI*200*t)))':s=16000:d=11"]; // like a time code
    await ffmpeg(...code, '-i', recording('en_jfk.mp3'), '-filter_complex', '[1:a]volume=-14dB[voice];[voice][0:a]amerge', file);
    const transcript = await transcribe(file, { ...OPTIONS, diarize: false, language: 'en' }, quiet(), pool);
    t.match(words(transcript), /fellow americans.* what your country can do for you/);
  });

  t.test('transcribe() hears a voice 45 dB below a time code on the other channel', async (t) => {
    const file = join(t.testdir(), 'faint.wav');
    const code = ['-f', 'lavfi', '-i', "aevalsrc='0.7*sgn(sin(2*PI*1200*t+3*sin(2*PI*200*t)))':s=16000:d=11"];
    await ffmpeg(...code, '-i', recording('en_jfk.mp3'), '-filter_complex', '[1:a]volume=-30dB[voice];[voice][0:a]amerge', file);
    for (const diarize of [true, false]) {
      const transcript = await transcribe(file, { ...OPTIONS, diarize, language: 'en' }, quiet(), pool);
      t.match(words(transcript), /fellow americans.* what your country can do for you/);
    }
  });

  t.test('transcribe() hears a voice under a buzz that is twice as strong, and under a whistle', async (t) => {
    const folder = t.testdir();
    const clip = englishClips().find(({ file }) => file.includes('1272-128104-0000'))!;
    const voice = await samplesOf(clip.path);
    const buzz = (time: number) => Array.from({ length: 30 }, (_, k) => Math.sin(2 * Math.PI * 120.4 * (k + 1) * time + k * k));
    const sounds = {
      buzz: (time: number) => buzz(time).reduce((a, b) => a + b),
      whistle: (time: number) => Math.sin(2 * Math.PI * 1733 * time),
    };
    for (const [name, at] of Object.entries(sounds)) {
      const noise = voice.map((_, i) => at(i / SAMPLE_RATE));
      const gain = (2 * level(voice)) / level(noise);
      const path = join(folder, `${name}.wav`);
      await writeWav(
        path,
        voice.map((x, i) => 0.3 * (x + gain * noise[i]!)),
      );
      const found = countErrors(unitsOf(clip.transcript, 'en'), unitsOf(words(await transcribe(path, OPTIONS, quiet(), pool)), 'en'));
      t.ok(found.substituted + found.deleted + found.inserted <= 3, `${name}: ${JSON.stringify(found)}`);
    }
  });

  t.test('transcribe() writes no words for the bursts of a mobile telephone', async (t) => {
    const file = join(t.testdir(), 'telephone.wav');
    const at = (time: number) => (time % 0.4 < 0.12 ? telephoneBuzz(time) : 0);
    await writeWav(
      file,
      Float32Array.from({ length: 20 * SAMPLE_RATE }, (_, i) => at(i / SAMPLE_RATE)),
    );
    t.equal(words(await transcribe(file, OPTIONS, quiet(), pool)), '');
  });

  t.test('transcribe() treats a microphone on the second track as a party, and masks the ringing before it', async (t) => {
    const file = join(t.testdir(), 'two.mov');
    const ring = ['-f', 'lavfi', '-i', "aevalsrc='0.2*sin(2*PI*425*t)*lt(mod(t,5),1):s=16000:d=11'"];
    const late = '[1:a]adelay=11500,aresample=16000[voice]';
    const maps = ['-filter_complex', late, '-map', '0:a', '-map', '[voice]', '-c:a', 'pcm_s16le'];
    await ffmpeg(...ring, '-i', recording('en_jfk.mp3'), ...maps, file);
    const { speakers, segments } = await transcribe(file, { ...OPTIONS, language: 'en' }, quiet(), pool);
    t.equal(speakers, 1);
    const [first] = segments.flatMap(({ words }) => words);
    t.match(first, { text: /And/ });
    t.ok(Math.abs(first!.start - 11.85) < 0.2, `${first!.start}`);
  });

  t.test('transcribe() with beam search and a vocabulary recognises the same address', async (t) => {
    const options = { ...OPTIONS, language: 'en', diarize: false, accurate: true, vocabulary: 'Americans, country' };
    const transcript = await transcribe(recording('en_jfk.mp3'), options, quiet(), pool);
    t.match(words(transcript), /ask not what your country can do for you ask what you can do for your country/);
  });

  t.test('transcribe() hears a quiet voice after a slam and between the words of a loud one', async (t) => {
    const voice = await samplesOf(recording('en_jfk.mp3'));
    const peak = voice.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    const at = (decibels: number) => voice.map((sample) => (sample * 10 ** (decibels / 20)) / peak);
    const slam = Float32Array.from({ length: 0.2 * SAMPLE_RATE }, (_, i) => Math.sin(i * i) * Math.exp(-i / 2000)); // broadband
    const loud = at(-3).subarray(0, 3.4 * SAMPLE_RATE);
    const pause = new Float32Array(0.5 * SAMPLE_RATE);
    const file = join(t.testdir(), 'quiet.wav');
    const options = { ...OPTIONS, language: 'en' as const, diarize: false };
    for (const [name, ...parts] of [
      ['after a slam, at -50 dB', pause, slam, pause, at(-50), pause],
      ['after a slam, at -60 dB', pause, slam, pause, at(-60), pause],
      ['a minute after a slam, at -60 dB', slam, new Float32Array(60 * SAMPLE_RATE), at(-60), pause],
      ['beside a loud voice, at -45 dB', pause, loud, pause, at(-45), pause, loud, pause],
    ] as const) {
      await writeWav(file, Float32Array.from(parts.flatMap((part) => [...part])));
      const said = words(await transcribe(file, options, quiet(), pool));
      t.match(said, /so my fellow america(ns)? ask(ed)? not what your country can do for you ask what you can do for your country/, name);
    }
  });

  t.test('transcribe() writes a term of the vocabulary that it gets wrong without', async (t) => {
    const clip = at('../../bench/data/clips/en_librispeech-test-other_2033-164914-0007.flac');
    const said = async (vocabulary: string) =>
      words(await transcribe(clip, { ...OPTIONS, language: 'en', diarize: false, vocabulary }, quiet(), pool));
    const without = await said('');
    t.notMatch(without, /distichs/, 'base does not know the word');
    t.match(await said('Okonkwo, distichs'), /the two following distichs/);
    t.equal(await said('Okonkwo, Kestrel 9'), without, 'other terms change nothing');
  });

  t.test('transcribe() resumes from finished windows', async (t) => {
    const saved = new Map<string, Uint8Array>();
    const checkpoints = { load: async () => new Map(saved), save: async (key: string, bytes: Uint8Array) => void saved.set(key, bytes) };
    const options = { ...OPTIONS, diarize: false };
    const first = await transcribe(recording('en_jfk.mp3'), options, { ...quiet(), checkpoints }, pool);
    t.equal(saved.size, 1);
    const [[key, bytes]] = [...saved] as [[string, Uint8Array]];
    saved.set(key, Buffer.from(Buffer.from(bytes).toString().replace('fellow', 'yellow')));
    const second = await transcribe(recording('en_jfk.mp3'), options, { ...quiet(), checkpoints }, pool);
    t.match(words(first), /my fellow americans/);
    t.match(words(second), /my yellow americans/, 'the saved window was not recognised again');
  });

  t.test('transcribe() stops with the reason of an abort', async (t) => {
    const stop = new AbortController();
    const run: Run = {
      signal: stop.signal,
      progress: (stage) => {
        if (stage === 'transcribing') stop.abort(new Error('deleted'));
      },
    };
    await t.rejects(transcribe(recording('en_falcon_3spk.wav'), OPTIONS, run, pool), { message: 'deleted' });
  });

  t.test('transcribe() stops the other windows when one fails, and throws its error', async (t) => {
    let jobSignal: AbortSignal | undefined;
    const failing: Pool = {
      ...pool,
      job: (signal) => {
        jobSignal = signal;
        return { ...pool.job(signal), recognise: () => Promise.reject(new Error('broken')) };
      },
    };
    const { signal } = new AbortController();
    await t.rejects(transcribe(recording('en_jfk.mp3'), OPTIONS, { ...quiet(), signal }, failing), { message: 'broken' });
    t.equal(jobSignal?.aborted, true);
    t.equal(signal.aborted, false);
  });

  t.test('transcribe() rejects a file that is not a recording', async (t) => {
    await t.rejects(transcribe(fileURLToPath(import.meta.url), OPTIONS, quiet(), pool), { name: 'MediaError' });
  });
});
