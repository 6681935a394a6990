import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { VARIANTS, type Variant } from '../../../models/build/graph/graph.ts';
import { build } from '../../../models/build/whisper/build.ts';
import { hasByteDotProduct } from '../../../models/choosing/cpu.ts';
import { readWhisper } from '../../../models/descriptor.ts';
import { recipeFor } from '../../../models/recipes/recipes.ts';
import { CHECKPOINT } from '../../../models/recipes/whisper-base.ts';
import { type Dtype, SHAPES, samples, VOCABULARY, writeCheckpoint } from '../checkpoint.ts';
import { difference, numbers, type Outputs, openNetwork, summarised } from '../network.ts';

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

t.test('build() writes the same graphs from weights that were saved within PEFT, DataParallel or torch.compile', async (t) => {
  const from = join(home, 'wrapped');
  const sums: string[] = [];
  for (const prefix of ['', 'base_model.model.', 'module.', 'module._orig_mod.']) {
    writeCheckpoint(from, SHAPES.plain!, 'F16');
    const file = join(from, 'model.safetensors');
    const bytes = readFileSync(file);
    const end = 8 + Number(bytes.readBigUInt64LE());
    const header = Object.entries(JSON.parse(bytes.toString('utf8', 8, end))).map(([name, tensor]) => [prefix + name, tensor]);
    const json = Buffer.from(JSON.stringify(Object.fromEntries(header)));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(json.length));
    writeFileSync(file, Buffer.concat([length, json, bytes.subarray(end)]));
    sums.push((await build(from, join(home, 'unwrapped'), { variant: 'int8' })).map(({ sha256 }) => sha256).join());
  }
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
