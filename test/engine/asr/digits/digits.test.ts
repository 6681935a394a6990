/* A CTC model trained on ten digits only (make.py); the speakers of these recordings were held out. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { DATA } from '../../../../bench/recordings/clips.ts';
import { examine } from '../../../../engine/asr/examine.ts';
import { openRecogniser } from '../../../../engine/asr/families.ts';
import { openPool } from '../../../../engine/runtime/pool.ts';
import { transcribe } from '../../../../engine/transcribe.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';
import { readDescriptor } from '../../../../models/descriptor.ts';
import { importPublished } from '../../../../models/published/importing.ts';
import { shippedModels } from '../../../support/engine/models.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const EXPECTED = { 'm5.ogg': 'three one four one five nine two six', 'f4.ogg': 'zero eight seven five three two nine zero' };

t.test('transcribe() recognises digits with a CTC model, with times and confidence', async (t) => {
  const { diarization } = await shippedModels(t.testdir({ models: {} }));
  const { folder } = await importPublished(HERE, { home: join(t.testdirName, 'models'), name: 'digits', languages: ['en'], examine });
  const pool = await openPool({ models: { whisper: folder, diarization }, threads: 1 });
  t.teardown(() => pool.close());
  for (const [file, expected] of Object.entries(EXPECTED)) {
    const options = { language: 'auto', diarize: true, speakers: null, vocabulary: '', accurate: false };
    const run = { signal: new AbortController().signal, progress() {} };
    const found = await transcribe(join(HERE, file), options, run, pool);
    const words = found.segments.flatMap((segment) => segment.words);
    t.equal(words.map(({ text }) => text.trim()).join(' '), expected, file);
    t.equal(found.language, 'en');
    t.equal(found.speakers, 1);
    t.ok(
      words.every(({ start, end }, i) => end > start && start >= (words[i - 1]?.end ?? 0.3)),
      'words follow one another',
    );
    t.ok(
      words.every(({ probability }) => probability > 0.5 && probability <= 1),
      'confidence is over 0.5 and at most 1',
    );
  }
});

t.test('recognise() of a CTC model prefers the terms of a vocabulary, as whole words', async (t) => {
  const { folder } = await importPublished(HERE, { home: t.testdir(), name: 'digits', languages: ['en'], examine });
  const recogniser = await openRecogniser({ folder, descriptor: readDescriptor(folder), device: 'cpu', rows: 1 });
  t.teardown(() => recogniser.close());
  const command = ['-v', 'error', '-i', join(DATA, 'clips', 'en_uberi-english.wav'), '-ac', '1', '-ar', '16000', '-f', 'f32le', '-'];
  const samples = new Float32Array(new Uint8Array(execFileSync('ffmpeg', command)).buffer);
  const text = async (vocabulary: string) => {
    const about = { job: 1, speech: [{ start: 0, end: samples.length / SAMPLE_RATE }], peak: 1, language: 'en', expected: null };
    const { words } = await recogniser.recognise({ ...about, samples, vocabulary, accurate: false }, () => {});
    return words.map((word) => word.text).join('');
  };
  t.match(await text(''), /^ oine /, 'what a foreign speaker says as "one two three"');
  t.match(await text('zero, one, two, three'), /^ one /);
  t.match(await text('On, Oin'), /^ oine /, 'neither "on" nor "oin" is the whole word');
});
