/* Models by language: a CTC model of English digits beside Whisper base. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openPool, type Pool, type PoolOptions } from '../../engine/runtime/pool.ts';
import { transcribe } from '../../engine/transcribe.ts';
import type { HeardStretch, Options, Transcript } from '../../engine/types.ts';
import { readDescriptor, writeDescriptor } from '../../models/descriptor.ts';
import { shippedModels } from '../support/engine/models.ts';
import { addDigits, DIGITS, join16k, recordings, SAID } from '../support/engine/recordings.ts';

const home = t.testdir({ models: {} });
const models = await shippedModels(home);
const digits = await addDigits(home);
const byLanguage = new Map([['en', DIGITS]]);
const routed: PoolOptions = {
  models,
  others: { [DIGITS]: digits },
  routes: { resident: 'whisper-base', byLanguage, least: new Map() },
  threads: 1,
};
const SPANISH = ['es_fleurs-test_000.ogg', 'es_fleurs-test_003.ogg', 'es_fleurs-test_006.ogg', 'es_fleurs-test_009.ogg'];
const DIGITS_SAID = `${SAID['m5.ogg']} ${SAID['f4.ogg']}`;

interface Found extends Transcript {
  text: string;
  stretches: HeardStretch[];
}

async function heardBy(pool: Pool, path: string, options: Partial<Options> = {}): Promise<Found> {
  let stretches: HeardStretch[] = [];
  const run = { signal: new AbortController().signal, progress() {}, heard: (all: HeardStretch[]) => void (stretches = all) };
  const all = { language: 'auto', diarize: false, speakers: null, vocabulary: '', accurate: false, ...options };
  const found = await transcribe(path, all, run, pool);
  return { ...found, text: found.segments.map(({ text }) => text).join(' '), stretches };
}

t.test('transcribe() lets two models recognise a recording in two languages, in order, with one timeline', async (t) => {
  const pool = await openPool(routed);
  t.teardown(() => pool.close());
  const stop = new AbortController();
  const read = async (room: Float32Array) => room.subarray(0, 16_000);
  const about = { speech: [{ start: 0, end: 1 }], peak: 1, language: 'en', expected: null, vocabulary: '', accurate: false };
  const loading = pool.job(stop.signal).recognise({ read, ...about, model: DIGITS });
  stop.abort(new Error('deleted'));
  await t.rejects(loading, { message: 'deleted' }, 'a deleted file does not wait for its model to load');
  const path = await join16k(recordings(...SPANISH, 'm5.ogg', 'f4.ogg', 'm5.ogg', 'f4.ogg'), join(t.testdir(), 'two.wav'));
  const { text, language, segments, stretches } = await heardBy(pool, path);
  t.match(text, /^Se recomienda .*civilización.* three one four/, 'Spanish first');
  t.ok(text.endsWith(`${DIGITS_SAID} ${DIGITS_SAID}`), text);
  t.equal(language, 'es', 'the main language');
  t.match(stretches, [
    { model: 'whisper-base', language: 'es' },
    { model: DIGITS, language: 'en' },
  ]);
  t.ok(stretches[0]!.end <= stretches[1]!.start && stretches[1]!.end > 60);
  const words = segments.flatMap((segment) => segment.words);
  t.ok(
    words.every(({ start, end }, i) => end >= start && start >= (words[i - 1]?.start ?? 0)),
    'times never run backwards',
  );
  const at = (said: string) => words.find((word) => word.text.trim() === said)!.start;
  t.ok(Math.abs(at('three') - stretches[1]!.start) < 1.5, 'at the time of the speech');

  t.test('transcribe() asks the model of the requested language alone', async (t) => {
    const [m5] = recordings('m5.ogg');
    const english = await heardBy(pool, m5!, { language: 'en' });
    t.equal(english.text, SAID['m5.ogg']);
    t.match(english.stretches, [{ model: DIGITS, language: 'en' }]);
    const spanish = await heardBy(pool, m5!, { language: 'es' });
    t.match(spanish.stretches, [{ model: 'whisper-base', language: 'es', fallback: undefined }], 'a language without its own model');
  });
});

t.test('transcribe() takes the resident model where the other one is unsure', async (t) => {
  const least = new Map([[DIGITS, 0.98]]); // digits have 1.00, other speech at most 0.97
  const pool = await openPool({ ...routed, routes: { resident: 'whisper-base', byLanguage, least } });
  t.teardown(() => pool.close());
  const [m5, speech] = recordings('m5.ogg', 'en_jfk.mp3');
  t.match(await heardBy(pool, m5!), { text: SAID['m5.ogg'], language: 'en' });
  const { text, language, stretches } = await heardBy(pool, speech!);
  t.match(text, /ask not what your country can do for you/i);
  t.equal(language, 'en');
  t.match(stretches, [{ model: 'whisper-base', language: 'en', fallback: { model: DIGITS, why: 'unsure' } }]);
});

t.test('transcribe() takes the resident model where the other one cannot be loaded', async (t) => {
  const damaged = t.testdir();
  cpSync(digits, damaged, { recursive: true });
  writeFileSync(join(damaged, 'model.onnx'), 'not a model');
  const pool = await openPool({ ...routed, others: { [DIGITS]: damaged } });
  t.teardown(() => pool.close());
  const [speech] = recordings('en_jfk.mp3');
  for (const language of ['auto', 'en']) {
    const { text, stretches } = await heardBy(pool, speech!, { language });
    t.match(text, /ask not what your country can do for you/i, language);
    t.match(stretches, [{ model: 'whisper-base', fallback: { model: DIGITS, why: 'failed', message: /model\.onnx/ } }]);
  }
});

t.test('transcribe() reads the description of a model that was replaced under its name while the engine runs', async (t) => {
  const folder = t.testdir();
  cpSync(digits, folder, { recursive: true });
  const pool = await openPool({ ...routed, others: { [DIGITS]: folder } });
  t.teardown(() => pool.close());
  const descriptor = readDescriptor(folder);
  writeDescriptor(folder, { ...descriptor, delay: 10 } as typeof descriptor); // frames of 40 ms by which its tokens come late
  const [m5] = recordings('m5.ogg');
  const { segments } = await heardBy(pool, m5!, { language: 'en' });
  const start = segments[0]!.words[0]!.start;
  t.ok(start < 0.3, `${start}, and with the description of its predecessor 0.51`);
});

t.test('transcribe() without models by language reports nothing of them', async (t) => {
  const pool = await openPool({ models, threads: 1 });
  t.teardown(() => pool.close());
  const [m5] = recordings('m5.ogg');
  const { stretches, text } = await heardBy(pool, m5!);
  t.strictSame(stretches, []);
  t.notMatch(text, SAID['m5.ogg'], 'Whisper writes figures');
});
