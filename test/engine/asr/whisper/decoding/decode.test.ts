import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { allowed } from '../../../../../engine/asr/whisper/decoding/constraints.ts';
import { Decoder } from '../../../../../engine/asr/whisper/decoding/decode.ts';
import { type DecodeResult, type DecodingOptions, instructions } from '../../../../../engine/asr/whisper/decoding/decode-job.ts';
import { logitsOf, lseOf } from '../../../../../engine/asr/whisper/decoding/sampling.ts';
import { StepBatch } from '../../../../../engine/asr/whisper/decoding/step-batch.ts';
import { encode } from '../../../../../engine/asr/whisper/encode.ts';
import { loop } from '../../../../../engine/asr/whisper/guards/quality.ts';
import { openWhisper, type Whisper } from '../../../../../engine/asr/whisper/model.ts';
import { build } from '../../../../../models/build/whisper/build.ts';
import { readWhisper } from '../../../../../models/descriptor.ts';
import { SHAPES, writeCheckpoint } from '../../../../models/checkpoint.ts';

const home = mkdtempSync(join(tmpdir(), 'longhand-decode-'));
t.teardown(() => rmSync(home, { recursive: true }));

/** A tiny float32 model with random weights; `generation` is added to the generation_config.json of its checkpoint. */
async function openTiny(t: { teardown(after: () => unknown): void }, name: string, generation: object): Promise<Whisper> {
  const from = join(home, `${name}-checkpoint`);
  writeCheckpoint(from, SHAPES.plain!, 'F16');
  const path = join(from, 'generation_config.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...generation }));
  await build(from, join(home, name), { variant: 'float32' });
  const model = await openWhisper(join(home, name), readWhisper(join(home, name)));
  t.teardown(() => model.close());
  return model;
}

const NEVER = { suppress_tokens: [11, 12, 13], begin_suppress_tokens: [32, 256] };
const LANGUAGES = { lang_to_id: { '<|en|>': 258, '<|de|>': 259 }, task_to_id: { translate: 260, transcribe: 261 } };
const SECONDS = 4;
const STEPS = 40;
const GREEDY: DecodingOptions = { timestamps: true, speechAware: false, beamSize: 1, temperature: 0 };

function sound(seed: number): Float32Array {
  return Float32Array.from({ length: SECONDS * 16000 }, (_, i) => Math.sin((i / 10) * (1 + seed / 3) + Math.sin(i / 700)) / 3);
}

function source(model: Whisper, seed: number) {
  return () => encode({ samples: sound(seed), speech: [{ start: 0, end: SECONDS }] }, model);
}

/** Decodes several windows concurrently. */
function decoded(
  decoder: Decoder,
  model: Whisper,
  jobs: { seed: number; options: DecodingOptions }[],
  end = SECONDS,
): Promise<DecodeResult[]> {
  const request = { file: 1, language: 'de', expected: null, prompt: [], speech: [{ start: 0, end }], check() {} };
  return Promise.all(jobs.map(({ seed, options }) => decoder.decode({ ...request, options, source: source(model, seed) })));
}

/** Reference implementation for one window: greedy search over all logits, with the prompt in one prefill and the constraints applied to each logit. */
async function plainly(model: Whisper, seed: number, { timestamps }: DecodingOptions): Promise<{ tokens: number[]; logProbs: number[] }> {
  const { facts } = model;
  const batch = new StepBatch(model, 1);
  await batch.add(source(model, seed));
  const tokens: number[] = [];
  const logProbs: number[] = [];
  const [first] = await batch.prefill(0, [[facts.startOfTranscript, ...instructions(facts, 'de', timestamps)]], 'logits');
  let prediction = first!;
  while (tokens.length < STEPS) {
    const logits = [...logitsOf(prediction, 0, allowed(tokens, facts, timestamps), facts)];
    const [text, times] = [logits.slice(0, facts.firstTimestamp), logits.slice(facts.firstTimestamp)];
    const highest = Math.max(...(lseOf(times) > Math.max(...text) ? times : text));
    const token = logits.indexOf(highest);
    if (token === facts.endOfText) break;
    tokens.push(token);
    logProbs.push(highest - lseOf(logits));
    if (tokens.length % 8 === 0 && loop(tokens.slice(-64))) break;
    prediction = await batch.step([token], ['logits']);
  }
  return { tokens, logProbs };
}

for (const [name, generation] of [
  ['multilingual', { ...NEVER, ...LANGUAGES }],
  ['English-only', NEVER],
] as const) {
  t.test(`Decoder of a ${name} model returns for windows in a batch what a search over all logits returns for each alone`, async (t) => {
    const model = await openTiny(t, name, generation);
    t.equal(model.facts.languages.size, name === 'multilingual' ? 2 : 0);
    const jobs = [0, 1, 2, 3, 4].map((seed) => ({ seed, options: { ...GREEDY, timestamps: seed % 2 === 0 } }));
    const results = await decoded(new Decoder(model, 2), model, jobs);
    for (const [i, { seed, options }] of jobs.entries()) {
      const wanted = await plainly(model, seed, options);
      const { tokens, logProbs, attention } = results[i]!;
      t.strictSame(tokens.slice(0, STEPS), wanted.tokens, `window ${seed}`);
      t.ok(
        wanted.logProbs.every((logProb, k) => Math.abs(logProb - logProbs[k]!) < 1e-3),
        `log-probabilities of window ${seed}`,
      );
      t.ok(attention.length - tokens.length <= 1);
    }
  });
}

t.test('Decoder runs beam search and sampling beside a greedy row, and emits no suppressed token', async (t) => {
  const model = await openTiny(t, 'beams', { ...NEVER, ...LANGUAGES });
  const decoder = new Decoder(model, 4);
  const [alone] = await decoded(decoder, model, [{ seed: 1, options: GREEDY }]);
  const [beside, wide, drawn] = await decoded(decoder, model, [
    { seed: 1, options: GREEDY },
    { seed: 1, options: { ...GREEDY, beamSize: 2 } },
    { seed: 1, options: { ...GREEDY, temperature: 0.8 } },
  ]);
  t.strictSame(beside!.tokens, alone!.tokens);
  t.ok(wide!.tokens.length > 0);
  const { firstTimestamp, endOfText, suppressed } = model.facts;
  for (const { tokens } of [wide!, drawn!])
    t.ok(tokens.every((token) => token >= firstTimestamp || (token < endOfText && !suppressed.includes(token))));
});

t.test('Decoder decodes windows one by one when a step of all of them fails, and rejects only the one that fails alone', async (t) => {
  const model = await openTiny(t, 'failing', { ...NEVER, ...LANGUAGES });
  const wanted = await decoded(new Decoder(model, 3), model, [{ seed: 1, options: GREEDY }]);
  let together = 0;
  const decoder = {
    ...model.decoder,
    run: (...[feeds, fetches]: Parameters<Whisper['decoder']['run']>) => {
      const rows = feeds.tokens!.dims[0]!;
      if (rows > 1 && ++together) throw new Error('Cannot allocate');
      return model.decoder.run(feeds, fetches);
    },
  };
  const failing = { ...model, decoder };
  const broken = new Decoder(failing, 3);
  const alone = await decoded(
    broken,
    failing,
    [1, 1, 1].map((seed) => ({ seed, options: GREEDY })),
  );
  t.equal(together, 1, 'the batch failed once');
  for (const { tokens } of alone) t.strictSame(tokens, wanted[0]!.tokens);
  const fallen = { ...model, decoder: { ...model.decoder, run: () => Promise.reject(new Error('Cannot allocate')) } };
  await t.rejects(decoded(new Decoder(fallen, 3), fallen, [{ seed: 1, options: GREEDY }]), { message: 'Cannot allocate' });
});

t.test('Decoder cuts off a loop and continues with what the model predicts after it', async (t) => {
  const model = await openTiny(t, 'loops', { ...NEVER, ...LANGUAGES });
  const { firstTimestamp, endOfText } = model.facts;
  const looping = { ...model, decoder: { ...model.decoder, run: alwaysPredicts(model, 40) } };
  const options = { ...GREEDY, pastLoops: true };
  const [through] = await decoded(new Decoder(looping, 1), looping, [{ seed: 1, options }], 1000);
  const text = through!.tokens.filter((token) => token < endOfText);
  const times = through!.tokens.filter((token) => token >= firstTimestamp);
  t.ok(through!.loops! > 1, 'several loops were cut');
  t.ok(loop(through!.tokens) === null && text.length > 1);
  t.strictSame(
    times,
    [...times].sort((a, b) => a - b),
    'segments follow each other',
  );
  t.equal(through!.logProbs.length, through!.tokens.length);
  t.ok(through!.attention.length - through!.tokens.length <= 1);
  const [ended] = await decoded(new Decoder(looping, 1), looping, [{ seed: 1, options: GREEDY }]);
  t.ok(loop(ended!.tokens), 'without pastLoops, the row ends with the loop');
});

/** A decoder model whose most probable text token is always the same one. */
function alwaysPredicts(model: Whisper, token: number): Whisper['decoder']['run'] {
  return async (feeds, fetches) => {
    const output = await model.decoder.run(feeds, fetches);
    if ('textId' in output) {
      (output.textId!.data as BigInt64Array).fill(BigInt(token));
      (output.textMax!.data as Float32Array).fill(50);
      (output.textLse!.data as Float32Array).fill(50);
    }
    return output;
  };
}
