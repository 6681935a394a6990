import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { openPool } from '../../engine/runtime/pool.ts';
import { transcribe } from '../../engine/transcribe.ts';
import type { Options, Transcript } from '../../engine/types.ts';
import { shippedModels } from '../support/models.ts';
import { ffmpeg } from './hostile/bench.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhand-streams-'));
t.teardown(() => rmSync(folder, { recursive: true }));
const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const pool = await openPool({ models: await shippedModels(t.testdir()), threads: 2 });
t.teardown(() => pool.close());
const JFK = at('test/fixtures/audio/en_jfk.mp3');

function transcribed(name: string, speakers: number | null = null): Promise<Transcript> {
  const options: Options = { language: 'en', diarize: true, speakers, vocabulary: '', accurate: false };
  return transcribe(join(folder, name), options, { signal: new AbortController().signal, progress: () => {} }, pool);
}

t.test('hear() finds one stream if the other channel of a call is silent', async (t) => {
  await ffmpeg('-i', JFK, '-af', 'pan=stereo|c0=0*c0|c1=c0', join(folder, 'silent.wav'));
  const { speakers, segments } = await transcribed('silent.wav', 2);
  t.equal(speakers, 1);
  t.match(segments[0]!.text, /fellow Americans/);
});

t.test('hear() treats a microphone on the second track as a party, and masks the ringing before it', async (t) => {
  const ring = ['-f', 'lavfi', '-i', "aevalsrc='0.2*sin(2*PI*425*t)*lt(mod(t,5),1):s=16000:d=11'"];
  const late = '[1:a]adelay=11500,aresample=16000[voice]';
  await ffmpeg(...ring, '-i', JFK, '-filter_complex', late, '-map', '0:a', '-map', '[voice]', '-c:a', 'pcm_s16le', join(folder, 'two.mov'));
  const { speakers, segments } = await transcribed('two.mov');
  t.equal(speakers, 1);
  const [first] = segments.flatMap(({ words }) => words);
  t.match(first, { text: /And/ });
  t.ok(Math.abs(first!.start - 11.85) < 0.2, `${first!.start}`);
});
