/* An hour of recordings whose packets are lost, damaged, late or missing: every sound stays where a player shows it. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { quantile } from '../../../bench/errors/align.ts';
import { writeWav } from '../../../bench/recordings/sound.ts';
import { decode } from '../../../engine/audio/decode.ts';
import { openPool } from '../../../engine/runtime/pool.ts';
import { transcribe } from '../../../engine/transcribe.ts';
import { SAMPLE_RATE, type Word } from '../../../engine/types.ts';
import { shippedModels } from '../../support/engine/models.ts';
import { ffmpeg, random } from '../hostile/bench.ts';
import { clip, voice } from './voices.ts';

const HOUR = 3600; // seconds
const PART = 300; // seconds: the parts that are checked separately, so that a drift shows
const CLOSE = 0.1; // seconds
const folder = t.testdir();
const at = (name: string) => join(folder, name);
const ascending = (a: number, b: number) => a - b;

/** A tick of 20 ms at every whole second, in faint noise so that codecs do not pause transmission. */
const TICKS = `aevalsrc='0.5*sin(5000*t)*lt(mod(t,1),0.02)+0.002*(random(0)-0.5):s=48000:d=${HOUR}'`;
const OPUS = ['-c:a', 'libopus', '-b:a', '24k', '-frame_duration', '20'];
const PAUSES = [
  [100.4, 101.1],
  [400, 430.5],
  [1000, 1480.2],
  [2000, 2003],
  [3100, 3100.5],
];
const paused = PAUSES.map(([from, to]) => `between(pts*tb,${from},${to})`).join('+');
const dropped = (condition: string) => ['-c', 'copy', '-bsf:a', `noise=drop='${condition}'`];

/** Writes a copy of a broadcast without some of its packets of 188 bytes. */
function lose(share: number, from: string, to: string): void {
  const chance = random(5);
  const bytes = readFileSync(at(from));
  const packets = Array.from({ length: bytes.length / 188 }, (_, i) => bytes.subarray(i * 188, (i + 1) * 188));
  writeFileSync(at(to), Buffer.concat(packets.filter((_, i) => i < 20 || chance() > share)));
}

/** Distance of the ticks from whole seconds, by parts of the hour. Damaged frames may click, so not every sound is a tick. */
async function distances(t: Test, name: string): Promise<number[][]> {
  const recording = await decode(at(name));
  t.teardown(() => recording.close());
  const end = await recording.decoded;
  const parts: number[][] = [];
  let last = -1;
  for (let from = 0; from < end; from += PART * SAMPLE_RATE) {
    const samples = await recording.read('mix', from, Math.min(end, from + PART * SAMPLE_RATE));
    const found: number[] = [];
    for (let i = 0; i < samples.length; i++) {
      const second = (from + i) / SAMPLE_RATE;
      if (Math.abs(samples[i]!) <= 0.15 || second - last <= 0.3) continue;
      found.push(Math.abs(second - Math.round(second)));
      last = second;
    }
    parts.push(found);
  }
  return parts;
}

t.test('decode() keeps every sound of an hour within 0.1 s of where a player shows it', async (t) => {
  await ffmpeg('-f', 'lavfi', '-i', TICKS, ...OPUS, at('whole.mka'));
  const from = (input: string, ...rest: string[]) => ffmpeg('-i', at(input), ...rest);
  const film = ['-f', 'lavfi', '-i', `color=s=16x16:r=1:d=${HOUR}`];
  await from('whole.mka', ...dropped('gt(n,2)*lt(random(0),0.01)'), at('one in a hundred lost.webm'));
  await from('whole.mka', ...dropped('gt(n,2)*lt(random(0),0.1)'), at('one in ten lost.webm'));
  await from('whole.mka', ...dropped(paused), at('pauses.webm'));
  await from('whole.mka', ...dropped(`max(${paused},gt(n,2)*lt(random(0),0.03))`), at('pauses and losses.mka'));
  await from('whole.mka', '-c:a', 'libmp3lame', '-b:a', '64k', at('whole.mp3.mka'));
  await from('whole.mp3.mka', ...dropped('gt(n,2)*lt(random(0),0.03)'), at('lost.mp3.mka'));
  await from('whole.mka', ...film, '-map', '1:v', '-map', '0:a', '-c:v', 'mpeg4', '-c:a', 'aac', '-b:a', '48k', at('film.mp4'));
  await from('film.mp4', '-c', 'copy', '-bsf:a', "noise=amount='if(lt(random(0),0.03),1,0)'", at('damaged.mp4'));
  await from('film.mp4', '-c', 'copy', at('film.ts'));
  lose(0.01, 'film.ts', 'lost.ts');
  await from('film.mp4', '-itsoffset', '37', '-i', at('whole.mka'), '-map', '0:v', '-map', '1:a', '-c', 'copy', at('late.mkv'));
  for (const name of [
    'one in a hundred lost.webm',
    'one in ten lost.webm',
    'pauses.webm',
    'pauses and losses.mka',
    'lost.mp3.mka',
    'film.mp4',
    'damaged.mp4',
    'lost.ts',
    'late.mkv',
  ]) {
    const parts = await distances(t, name);
    t.ok(parts.length >= HOUR / PART, `${name}: all of the hour`);
    t.ok(parts.flat().length > 0.6 * HOUR, `${name}: ${parts.flat().length} ticks`);
    for (const [i, found] of parts.entries()) {
      if (found.length < 20) continue; // in the longest pause
      const most = quantile(found.toSorted(ascending), 0.95);
      t.ok(most <= CLOSE, `${name}, ${i * PART} s: off by ${most} s`);
    }
  }
});

t.test('transcribe() keeps three of four words within 0.1 s of where a player shows them, in every five minutes of an hour', async (t) => {
  const pool = await openPool({ models: await shippedModels(t.testdir()), threads: 2 });
  t.teardown(() => pool.close());
  const every = 60; // seconds between the starts of the speech
  const speech = await voice(clip('en_jfk.mp3'));
  const samples = Float32Array.from({ length: HOUR * SAMPLE_RATE }, (_, i) => speech[i % (every * SAMPLE_RATE)] ?? 0);
  await writeWav(at('talk.wav'), samples);
  await ffmpeg('-i', at('talk.wav'), ...OPUS, at('talk.mka'));
  await ffmpeg('-i', at('talk.mka'), ...dropped(`max(${paused},gt(n,2)*lt(random(0),0.05))`), at('talk.webm'));
  const words = async (name: string): Promise<Word[]> => {
    const options = { language: 'en', diarize: false, speakers: null, vocabulary: '', accurate: false };
    const found = await transcribe(at(name), options, { signal: new AbortController().signal, progress() {} }, pool);
    return found.segments.flatMap(({ words }) => words);
  };
  const plain = (text: string) => text.toLowerCase().replace(/\P{L}/gu, '');
  const [told, heard] = [await words('talk.wav'), await words('talk.webm')];
  const off = heard.flatMap(({ text, start }) => {
    const same = told.filter((word) => plain(word.text) === plain(text)).map((word) => Math.abs(word.start - start));
    const near = Math.min(...same);
    return near < every / 4 ? [{ start, near }] : [];
  });
  t.ok(off.length > 0.7 * told.length, `${off.length} of ${told.length} words`);
  for (let from = 0; from < HOUR; from += PART) {
    const part = off.flatMap(({ start, near }) => (start >= from && start < from + PART ? near : [])).toSorted(ascending);
    if (part.length < 20) continue; // in the longest pause
    t.ok(quantile(part, 0.75) <= CLOSE, `${from} s: off by ${quantile(part, 0.75)} s`); // words beside a loss are placed less exactly
  }
});
