import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Decoder } from '../../../../../engine/asr/whisper/decoding/decode.ts';
import type { DecodeRequest, DecodeResult, DecodingOptions } from '../../../../../engine/asr/whisper/decoding/decode-job.ts';
import { encode, unencoded } from '../../../../../engine/asr/whisper/encode.ts';
import { type AnyWhisper, openLoop, openWhisper, type WhisperLoop } from '../../../../../engine/asr/whisper/model.ts';
import { build } from '../../../../../models/build/whisper/build.ts';
import { readWhisper, rowsOf } from '../../../../../models/descriptor.ts';
import { SHAPES, type Shape, TALKING, writeCheckpoint } from '../../../../models/checkpoint.ts';

const home = mkdtempSync(join(tmpdir(), 'longhand-loop-'));
t.teardown(() => rmSync(home, { recursive: true }));

const SECONDS = 4;
const NEVER = { suppress_tokens: [11, 12, 13], begin_suppress_tokens: [32, 256] };
const LANGUAGES = { lang_to_id: { '<|en|>': 258, '<|de|>': 259 }, task_to_id: { translate: 260, transcribe: 261 } };
const GREEDY: DecodingOptions = { timestamps: true, speechAware: false, beamSize: 1, temperature: 0 };
const PLAIN: DecodingOptions = { ...GREEDY, timestamps: false };

/** A tiny float16 model, opened on the CPU as on other devices and as on CUDA. */
async function openBoth(name: string, shape: Shape, generation: object): Promise<{ steps: AnyWhisper; loop: WhisperLoop }> {
  const from = join(home, `${name}-checkpoint`);
  writeCheckpoint(from, shape, 'F16');
  const path = join(from, 'generation_config.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...generation }));
  await build(from, join(home, name), { variant: 'float16' });
  const descriptor = readWhisper(join(home, name));
  const [steps, loop] = [await openWhisper(join(home, name), descriptor), await openLoop(join(home, name), descriptor, 'cpu')];
  t.teardown(() => Promise.all([steps.close(), loop.close()]));
  return { steps, loop };
}

let talking: ReturnType<typeof openBoth> | undefined;

/** The tiny model that returns the same text for any input, opened once. */
function openTalking() {
  talking ??= openBoth('talking', TALKING, { ...NEVER, ...LANGUAGES });
  return talking;
}

function sound(seed: number): Float32Array {
  return Float32Array.from({ length: SECONDS * 16000 }, (_, i) => Math.sin((i / 10) * (1 + seed / 3) + Math.sin(i / 700)) / 3);
}

type Job = Partial<DecodeRequest> & { seed: number; options: DecodingOptions };

/** Decodes windows concurrently in a batch of three. */
function decoded(model: AnyWhisper, jobs: readonly Job[]): Promise<DecodeResult[]> {
  return Promise.all(started(model, jobs));
}

function started(model: AnyWhisper, jobs: readonly Job[]): Promise<DecodeResult>[] {
  const decoder = new Decoder(model, 3);
  const request = { file: 1, language: null, expected: null, prompt: [], speech: [{ start: 0, end: SECONDS }], check() {} };
  return jobs.map(({ seed, ...job }) => {
    const window = { samples: sound(seed), speech: request.speech };
    return decoder.decode({
      ...request,
      ...job,
      source: async () => ('loop' in model ? unencoded(window, model) : encode(window, model)),
    });
  });
}

/** The same model, which counts its calls. */
function counting(model: WhisperLoop): { model: WhisperLoop; calls: () => number } {
  let calls = 0;
  const run: typeof model.loop.run = (...given) => {
    calls++;
    return model.loop.run(...given);
  };
  return { model: { ...model, loop: { ...model.loop, run } }, calls: () => calls };
}

const JOBS: Record<string, Job[]> = {
  'with and without timestamps': [0, 1, 2, 3].map((seed) => ({ seed, options: seed % 2 ? PLAIN : GREEDY })),
  'corrected by speech detection': [0, 1].map((seed) => ({ seed, options: { ...GREEDY, speechAware: true } })),
  'past loops': [0, 1].map((seed) => ({ seed, options: { ...GREEDY, pastLoops: true } })),
  'by beam search, beside a greedy row': [
    { seed: 1, options: { ...GREEDY, beamSize: 2 } },
    { seed: 2, options: GREEDY },
  ],
  'by sampling': [{ seed: 3, options: { ...PLAIN, temperature: 0.8 } }],
  'behind a prompt': [{ seed: 2, options: GREEDY, prompt: [40, 41, 42] }],
  'in a given language': [{ seed: 2, options: GREEDY, language: 'de' }],
};

for (const [name, generation, most] of [
  ['multilingual', { ...NEVER, ...LANGUAGES }, Number.POSITIVE_INFINITY],
  ['English-only', NEVER, 2],
] as const) {
  t.test(`A ${name} model that encodes and decodes in one call returns what one that is called for every token does`, async (t) => {
    const { steps, loop } = await openBoth(name, SHAPES.plain!, generation);
    for (const [how, jobs] of Object.entries(JOBS).slice(0, most)) {
      const [wanted, found] = [await decoded(steps, jobs), await decoded(loop, jobs)];
      for (const [i, result] of found.entries()) {
        const own = wanted[i]!;
        t.strictSame(result.tokens, own.tokens, `${how}, window ${i}`);
        t.ok(result.tokens.length > 0);
        t.strictSame([result.language, result.resumed, result.loops], [own.language, own.resumed, own.loops]);
        t.ok(Math.abs(result.meanLogProb - own.meanLogProb) < 1e-3);
        t.equal(result.attention.length, own.attention.length);
        t.equal(result.attention[0]!.length, own.attention[0]!.length);
      }
    }
  });
}

t.test('Windows decoded greedily take one call for the detection of their languages and one for all their text', async (t) => {
  const { loop } = await openTalking();
  const { model, calls } = counting(loop);
  const results = await decoded(
    model,
    [1, 2, 3].map((seed) => ({ seed, options: GREEDY })),
  );
  for (const { tokens } of results) t.ok(tokens.length > 50);
  t.equal(calls(), 2);
  await decoded(model, [{ seed: 1, options: PLAIN }]);
  t.equal(calls(), 5, 'without timestamps the first token is chosen among all logits, in a call of its own');
});

t.test('Windows whose first call fails are decoded one by one', async (t) => {
  const { loop } = await openTalking();
  const jobs = [1, 2, 3].map((seed) => ({ seed, options: GREEDY }));
  const wanted = await decoded(loop, jobs);
  let failed = 0;
  const run: typeof loop.loop.run = (feeds, fetches) => {
    if (feeds.of!.dims[0]! === 1) return loop.loop.run(feeds, fetches);
    failed++;
    return Promise.reject(new Error('out of memory'));
  };
  const found = await decoded({ ...loop, loop: { ...loop.loop, run } }, jobs);
  t.equal(failed, 1);
  t.strictSame(
    found.map(({ tokens }) => tokens),
    wanted.map(({ tokens }) => tokens),
  );
  await t.rejects(
    decoded({ ...loop, loop: { ...loop.loop, run: () => Promise.reject(new Error('out of memory')) } }, jobs),
    /out of memory/,
  );
});

t.test('Windows left to other models leave the batch, and those beside them are decoded as without them', async (t) => {
  const { loop } = await openTalking();
  const [alone] = await decoded(loop, [{ seed: 2, options: GREEDY }]);
  const leave = ['en', 'de'];
  for (const seeds of [
    [1, 2, 3],
    [2, 1, 3],
    [1, 3, 2],
  ]) {
    const results = await decoded(
      loop,
      seeds.map((seed) => ({ seed, options: GREEDY, ...(seed !== 2 && { leave }) })),
    );
    for (const [i, seed] of seeds.entries()) {
      if (seed === 2) t.strictSame(results[i]!.tokens, alone!.tokens, `among ${seeds.join()}`);
      else t.strictSame([results[i]!.left, results[i]!.tokens], [true, []]);
    }
  }
});

t.test('A file that is cancelled while windows enter leaves before others enter', async (t) => {
  const { loop } = await openTalking();
  const [alone] = await decoded(loop, [{ seed: 2, options: GREEDY }]);
  const events: string[] = [];
  let checks = 0;
  const check = () => {
    if (++checks > 1) throw new Error('cancelled');
  };
  const jobs = [
    { seed: 2, options: GREEDY },
    { seed: 1, options: GREEDY, check },
    { seed: 3, options: GREEDY, check: () => void events.push('the next window') },
  ];
  const going = started(loop, jobs);
  going[1]!.catch(({ message }) => events.push(message));
  const [before, , after] = await Promise.allSettled(going);
  t.strictSame(before!.status === 'fulfilled' && before!.value.tokens, alone!.tokens);
  t.strictSame(events.slice(0, 2), ['cancelled', 'the next window']);
  t.equal(after!.status, 'fulfilled');
});

t.test('The graph chooses timestamps as the decoder does', async (t) => {
  const { loop } = await openBoth('timestamps', SHAPES.plain!, { ...NEVER, ...LANGUAGES });
  const { model, calls } = counting(loop);
  const [result] = await decoded(model, [{ seed: 2, options: GREEDY }]);
  const times = result!.tokens.filter((token) => token >= model.facts.firstTimestamp);
  t.equal(times.length, 3, 'a segment, and the start of another one');
  t.equal(calls(), 2, 'one for the language, one for all tokens');
  await decoded(model, [{ seed: 2, options: PLAIN }]);
  t.equal(calls(), 5, 'and none where none are wanted');
});

t.test('rowsOf() is that of the GPU only for models that decode in one call: others keep their rows in host memory', async (t) => {
  await openBoth('rows', SHAPES.plain!, LANGUAGES);
  const written = readWhisper(join(home, 'rows'));
  const rows = 6; // medium's
  const descriptor = { ...written, recipe: { ...written.recipe, rows } };
  t.equal(rowsOf(descriptor, 'cuda'), 16);
  t.equal(rowsOf(descriptor, 'webgpu'), rows);
  t.equal(rowsOf({ ...descriptor, variant: 'float32' }, 'cuda'), rows);
});
