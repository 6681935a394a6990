import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { lseOf } from '../../../engine/asr/whisper/decoding/sampling.ts';
import { float32 } from '../../../engine/runtime/session.ts';
import { VARIANTS, type Variant } from '../../../models/build/graph/graph.ts';
import { build } from '../../../models/build/whisper/build.ts';
import { hasByteDotProduct } from '../../../models/choosing/cpu.ts';
import { readWhisper } from '../../../models/descriptor.ts';
import { recipeFor } from '../../../models/recipes/recipes.ts';
import { CHECKPOINT } from '../../../models/recipes/whisper-base.ts';
import { type Dtype, END_OF_TEXT, FIRST_TIMESTAMP, HEADS, SHAPES, samples, VOCABULARY, WIDTH, writeCheckpoint } from '../checkpoint.ts';
import { byChannel, cacheNames, difference, ids, numbers, type Outputs, openNetwork, summarised } from '../network.ts';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures');
const listing = JSON.parse(readFileSync(join(FIXTURES, 'tiny.json'), 'utf8')) as Record<string, { shape: number[]; at: number }>;
const blob = readFileSync(join(FIXTURES, 'tiny.bin'));
/** Outputs of the numpy implementation (fixtures/make.py). */
function wanted(name: string): Float32Array {
  const { shape, at } = listing[name]!;
  const bytes = new Uint8Array(blob.subarray(at)); // aligned
  return new Float32Array(
    bytes.buffer,
    0,
    shape.reduce((a, b) => a * b),
  );
}

const home = mkdtempSync(join(tmpdir(), 'longhand-build-'));
t.teardown(() => rmSync(home, { recursive: true }));
const PROMPTS = [
  [257, 258, 261],
  [257, 259, 261],
];
const NEXT = [[10], [270]];

async function built(
  name: string,
  shape: string,
  dtype: Dtype,
  variant: Variant,
  options: { shards?: number; inlineLimit?: number } = {},
): Promise<string> {
  const from = join(home, `${name}-checkpoint`);
  writeCheckpoint(from, SHAPES[shape]!, dtype, options.shards);
  await build(from, join(home, name), { variant, inlineLimit: options.inlineLimit });
  return join(home, name);
}

/** The encoder's outputs as `encoder.*`, the decoder's of two steps as `step0.*` and `step1.*`. */
async function outputs(t: { teardown(after: () => unknown): void }, folder: string): Promise<Record<string, number[]>> {
  const network = await openNetwork(t, folder);
  const cross = await network.encode(samples(), 2);
  const steps = [await network.step(cross, PROMPTS), await network.step(cross, NEXT)];
  const parts: [string, Outputs][] = [
    ['encoder', cross],
    ...steps.flatMap((step, i): [string, Outputs][] => [
      [`step${i}`, step],
      [`step${i}`, summarised(step)],
    ]),
  ];
  return Object.fromEntries(
    parts.flatMap(([part, tensors]) => Object.entries(tensors).map(([name, tensor]) => [`${part}.${name}`, numbers(tensor)])),
  );
}

/** Largest difference from the fixtures with this prefix. */
function worst(
  found: Record<string, number[]>,
  prefix: string,
  only: (name: string) => boolean = () => true,
): { name: string; by: number } {
  const names = Object.keys(listing).filter((name) => name.startsWith(prefix) && only(name));
  const by = names.map((name) => ({ name, by: difference(found[name.slice(prefix.length)] ?? [], wanted(name)) }));
  return by.find((entry) => Number.isNaN(entry.by)) ?? by.reduce((a, b) => (b.by > a.by ? b : a));
}

const saturates = hasByteDotProduct() ? false : 'products of 8-bit numbers saturate on this processor';
const CASES: [name: string, shape: string, dtype: Dtype, shards: number][] = [
  ['f16', 'plain', 'F16', 1],
  ['bf16', 'plain', 'BF16', 1],
  ['f32-sharded', 'plain', 'F32', 3],
  ['other', 'other', 'F16', 2],
];

for (const [name, shape, dtype, shards] of CASES) {
  t.test(`build() in float32 equals the numpy reference on ${shape} weights in ${dtype}, ${shards} file(s)`, async (t) => {
    const found = await outputs(t, await built(name, shape, dtype, 'float32', { shards }));
    const { name: furthest, by } = worst(found, `${shape}.`);
    t.ok(by < 1e-4, `${furthest}: ${by}`);
  });
}

t.test('build() writes the same graphs from the same values in any data type', async (t) => {
  const sums = await Promise.all(
    (['F16', 'BF16', 'F32', 'F64'] as const).map(async (dtype) => {
      writeCheckpoint(join(home, `same-${dtype}`), SHAPES.plain!, dtype);
      const files = await build(join(home, `same-${dtype}`), join(home, `same-${dtype}-out`), { variant: 'int8' });
      return files.map(({ sha256 }) => sha256).join();
    }),
  );
  t.equal(new Set(sums).size, 1);
});

const TOLERANCE: Record<Variant, number> = { int8: 0.3, 'int8-7bit': 0.6, float32: 1e-4, float16: 0.02 };
for (const shape of Object.keys(SHAPES)) {
  for (const variant of VARIANTS) {
    const skip = variant === 'int8' && saturates;
    t.test(
      `build() in ${variant} predicts the same as the numpy reference on ${shape} weights, within ${TOLERANCE[variant]}`,
      { skip },
      async (t) => {
        const found = await outputs(t, await built(`variant-${shape}-${variant}`, shape, 'F16', variant));
        const { name, by } = worst(found, `${shape}.`, (key) => /special|Max|[lL]se|align/.test(key));
        t.ok(by < TOLERANCE[variant], `${name}: ${by}`);
      },
    );
  }
}

t.test('build() leaves out the rows of a padded token embedding, and writes the graphs of the checkpoint without them', async (t) => {
  const plain = join(home, 'unpadded');
  writeCheckpoint(plain, SHAPES.plain!, 'F16');
  for (const variant of ['int8', 'float16'] as const) {
    const wanted = (await build(plain, join(home, `unpadded-${variant}`), { variant })).map(({ sha256 }) => sha256);
    for (const multiple of [8, 64]) {
      const padded = join(home, `padded-${multiple}`);
      writeCheckpoint(padded, { ...SHAPES.plain!, padding: multiple - (VOCABULARY % multiple) }, 'F16');
      const files = await build(padded, join(home, `padded-${multiple}-${variant}`), { variant });
      t.strictSame(
        files.map(({ sha256 }) => sha256),
        wanted,
      );
      t.equal(readWhisper(join(home, `padded-${multiple}-${variant}`)).dimensions.vocabulary, VOCABULARY);
    }
  }
});

t.test('recipeFor() applies settings measured on one checkpoint to that checkpoint only, in int8', async (t) => {
  t.strictSame(
    VARIANTS.map((variant) => [variant, recipeFor(CHECKPOINT, variant).hop, recipeFor('0'.repeat(64), variant).hop]),
    [
      ['int8', 176, 160],
      ['int8-7bit', 176, 160],
      ['float32', 160, 160],
      ['float16', 160, 160],
    ],
  );
});

t.test('build() keeps keys and values within ±63 where products saturate', async (t) => {
  const found = await outputs(t, await built('seven', 'plain', 'F16', 'int8-7bit'));
  for (const name of ['encoder.ck0', 'encoder.cv1'])
    t.equal(
      found[name]!.reduce((most, byte) => Math.max(most, Math.abs(byte)), 0),
      63,
    );
});

t.test('build() writes large weights to a separate file, and the graph is the same', async (t) => {
  const inside = await built('inside', 'plain', 'F16', 'float32');
  const outside = await built('outside', 'plain', 'F16', 'float32', { inlineLimit: 1000 });
  t.ok(existsSync(join(outside, 'decoder.onnx.data')));
  t.ok(readFileSync(join(outside, 'decoder.onnx')).length < readFileSync(join(inside, 'decoder.onnx')).length / 5);
  t.strictSame(await outputs(t, outside), await outputs(t, inside));
});

t.test('addDecoder() returns for rows at different positions what it returns for each alone', async (t) => {
  const network = await openNetwork(t, await built('rows', 'plain', 'F16', 'float32'));
  const cross = await network.encode(samples(), 2);
  const alone = await Promise.all([0, 1].map((row) => network.encode(samples().subarray(row * 32000, (row + 1) * 32000), 1)));
  const long = await network.step(alone[0]!, [[257, 258, 261]]);
  const longNext = await network.step(alone[0]!, [[10]]);
  network.forget();
  const short = await network.step(alone[1]!, [[257]]);
  const shortNext = await network.step(alone[1]!, [[11]]);
  const wide = (width: number, values: Float32Array[]) => {
    const size = 3 * width; // each row's cache has three positions; the second row uses one of them
    const data = new Float32Array(2 * HEADS * size);
    for (const [row, part] of values.entries()) {
      const each = part.length / HEADS;
      for (let h = 0; h < HEADS; h++) data.set(part.subarray(h * each, (h + 1) * each), (row * HEADS + h) * size);
    }
    return float32(data, [2, HEADS, 3, width]);
  };
  const feeds: Outputs = {
    tokens: ids([10, 11], [2, 1]),
    pos: ids([3, 1], [2, 1]),
    asked: ids([0, 1], [2]),
    mask: float32(Float32Array.of(0, 0, 0, 0, 0, -1e9, -1e9, 0), [2, 1, 1, 4]),
    ...cross,
  };
  for (const name of cacheNames(2)) {
    const cache = wide(
      WIDTH / HEADS,
      [long, short].map((step) => step[`n${name}`]!.data as Float32Array),
    );
    feeds[`p${name}`] = name.startsWith('k') ? byChannel(cache) : cache;
  }
  const together = await network.decode(feeds);
  for (const name of ['textMax', 'textLse', 'special', 'align', 'text']) {
    const apart = [...numbers(longNext[name]!), ...numbers(shortNext[name]!)];
    t.ok(difference(numbers(together[name]!), apart) < 1e-3, name);
  }
});

for (const variant of VARIANTS) {
  const skip = variant === 'int8' && saturates;
  t.test(`addDecoder() in ${variant} returns text outputs that agree with its logits, without special tokens`, { skip }, async (t) => {
    const from = join(home, `never-${variant}-checkpoint`);
    writeCheckpoint(from, SHAPES.plain!, 'F16');
    const plain = await build(from, join(home, `never-${variant}-not`), { variant }).then(() => firstStep(t, `never-${variant}-not`));
    const path = join(from, 'generation_config.json');
    const never = numbers(plain.textId!); // the most probable token of each row
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), suppress_tokens: [...never, FIRST_TIMESTAMP - 1] }));
    await build(from, join(home, `never-${variant}`), { variant });
    const { text, textId, textMax, textLse, special } = await firstStep(t, `never-${variant}`);
    for (const row of [0, 1]) {
      const logits = numbers(text!).slice(row * END_OF_TEXT, (row + 1) * END_OF_TEXT);
      const max = Math.max(...logits);
      t.equal(numbers(textMax!)[row], max);
      t.equal(numbers(textId!)[row], logits.indexOf(max));
      t.ok(Math.abs(numbers(textLse!)[row]! - lseOf(logits)) < 1e-4, 'textLse');
      t.notOk(never.includes(logits.indexOf(max)));
      t.ok(never.every((id) => logits[id]! < -50_000));
    }
    t.strictSame(numbers(special!), numbers(plain.special!), 'special tokens are unchanged');
  });
}

/** Decoder outputs of a built model for the prompts. */
async function firstStep(t: { teardown(after: () => unknown): void }, name: string): Promise<Outputs> {
  const network = await openNetwork(t, join(home, name));
  return network.step(await network.encode(samples(), 2), PROMPTS);
}

for (const variant of VARIANTS) {
  t.test(`addDecoder() in ${variant} omits text outputs if not requested, without changing the others`, async (t) => {
    const network = await openNetwork(t, await built(`nobody-${variant}`, 'plain', 'F16', variant));
    const cross = await network.encode(samples(), 2);
    const whole = await network.step(cross, PROMPTS);
    network.forget();
    const less = await network.step(cross, PROMPTS, []);
    t.equal(less.textMax!.data.length, 0);
    for (const name of ['special', 'align', 'nk1', 'nv0']) t.strictSame(numbers(less[name]!), numbers(whole[name]!), name);
  });
}

t.test('build() rejects folders that are not a Whisper checkpoint, and states what it expected', async (t) => {
  await t.rejects(
    build(join(home, 'nowhere'), join(home, 'x'), { variant: 'int8' }),
    /Cannot read .*config\.json.*expected a Whisper checkpoint/,
  );
  const from = join(home, 'mixed');
  writeCheckpoint(from, SHAPES.plain!, 'F16');
  rmSync(join(from, 'model.safetensors'));
  await t.rejects(build(from, join(home, 'x'), { variant: 'int8' }), /Cannot find weights in .*wanted model\.safetensors/);
  writeCheckpoint(from, { ...SHAPES.plain!, encoderLayers: 1 }, 'F16');
  writeCheckpoint(join(home, 'two'), SHAPES.plain!, 'F16');
  copyFileSync(join(home, 'two', 'config.json'), join(from, 'config.json'));
  await t.rejects(build(from, join(home, 'x'), { variant: 'int8' }), /no tensor model\.encoder\.layers\.1/);
});

t.test('build() rejects weights whose size differs from config.json', async (t) => {
  const from = join(home, 'other-size');
  for (const change of [{ vocab_size: VOCABULARY + 1 }, { d_model: 2 * WIDTH }, { num_mel_bins: 128 }]) {
    writeCheckpoint(from, SHAPES.plain!, 'F16');
    const config = JSON.parse(readFileSync(join(from, 'config.json'), 'utf8'));
    writeFileSync(join(from, 'config.json'), JSON.stringify({ ...config, ...change }));
    await t.rejects(build(from, join(home, 'x'), { variant: 'int8' }), /does not match its config\.json/, JSON.stringify(change));
  }
});

t.test('build() rejects weights with a damaged header or of another type, with a message about it', async (t) => {
  const from = join(home, 'damaged');
  writeCheckpoint(from, SHAPES.plain!, 'F16');
  const path = join(from, 'model.safetensors');
  const bytes = readFileSync(path);
  const length = Number(bytes.readBigUInt64LE());
  const header = bytes.subarray(8, 8 + length).toString();
  const first = Object.keys(JSON.parse(header))[0]!;
  const changed = (entry: object | null) => JSON.stringify({ ...JSON.parse(header), [first]: entry });
  const tensor = JSON.parse(header)[first];
  for (const [text, message] of [
    [header.replace('{', '}'), /is not a safetensors file/],
    [changed(null), /is not a safetensors file/],
    [changed({ ...tensor, data_offsets: [100, 50] }), /is not a safetensors file/],
    [changed({ ...tensor, data_offsets: undefined }), /is not a safetensors file/],
    [changed({ ...tensor, data_offsets: [0, 1e15] }), /ends early/],
    [changed({ ...tensor, dtype: 'I8' }), /the tensor \S+ is I8, wanted F32, F16, BF16, F64; use the checkpoint before it was quantised/],
  ] as const) {
    const head = Buffer.alloc(8);
    head.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
    writeFileSync(path, Buffer.concat([head, Buffer.from(text), bytes.subarray(8 + length)]));
    await t.rejects(build(from, join(home, 'x'), { variant: 'int8' }), message);
  }
});

t.test('build() reports progress up to 1 and stops when aborted', async (t) => {
  const from = join(home, 'progress');
  writeCheckpoint(from, SHAPES.plain!, 'F16');
  const seen: number[] = [];
  await build(from, join(home, 'progress-out'), { variant: 'int8', onProgress: (fraction) => seen.push(fraction) });
  t.equal(seen.at(-1), 1);
  t.strictSame(
    seen,
    [...seen].sort((a, b) => a - b),
  );
  await t.rejects(build(from, join(home, 'stopped'), { variant: 'int8', signal: AbortSignal.abort() }), { name: 'AbortError' });
});
