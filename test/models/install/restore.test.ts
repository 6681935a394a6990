import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openRecogniser } from '../../../engine/asr/families.ts';
import { Interleaver } from '../../../engine/runtime/scheduler.ts';
import type { CpuVariant } from '../../../models/build/graph/graph.ts';
import { build } from '../../../models/build/whisper/build.ts';
import { dimensionsOf, readConfig, readGeneration } from '../../../models/build/whisper/config.ts';
import { Checkpoint } from '../../../models/build/whisper/safetensors.ts';
import { equalised, smoothed } from '../../../models/build/whisper/smooth.ts';
import { type Recipe, readWhisper } from '../../../models/descriptor.ts';
import { importModel } from '../../../models/install/importing.ts';
import { restore } from '../../../models/install/restore.ts';
import { DEFAULT } from '../../../models/recipes/default.ts';
import { SHAPES, type Shape, samples, TALKING, writeCheckpoint } from '../checkpoint.ts';

const scratch = mkdtempSync(join(tmpdir(), 'longhand-restore-'));
t.teardown(() => rmSync(scratch, { recursive: true }));
let count = 0;

/** A checkpoint, and the int8 model built from it. */
async function built(shape: Shape, variant: CpuVariant = 'int8', recipe: Recipe = DEFAULT): Promise<{ checkpoint: string; model: string }> {
  const folder = join(scratch, `${++count}`);
  const [checkpoint, model] = [join(folder, 'checkpoint'), join(folder, 'eight')];
  writeCheckpoint(checkpoint, shape, 'F32');
  await build(checkpoint, model, { variant, recipe, licence: 'MIT', source: 'a test' });
  return { checkpoint, model };
}

const plain: Recipe = {
  ...DEFAULT,
  hop: 176,
  pooledLayers: [0],
  coarseHeads: [[0, 2]],
  scales: { values: 'plain', queries: 'tensor', rowwise: [] },
};
const byRow: Recipe = {
  ...DEFAULT,
  scales: { ...DEFAULT.scales, rowwise: ['model.encoder.layers.0.self_attn.q_proj', 'model.decoder.layers.1.fc1'] },
};
const cases: [what: string, shape: Shape, variant: CpuVariant, recipe: Recipe][] = [
  ['of the general recipe', SHAPES.plain!, 'int8', DEFAULT],
  ['with 128 mel bins, for CPUs whose products saturate', SHAPES.other!, 'int8-7bit', DEFAULT],
  ['with pooled layers and coarse heads, as the shipped one', SHAPES.plain!, 'int8', plain],
  ['with scales by row', SHAPES.plain!, 'int8', byRow],
];
for (const [what, shape, variant, recipe] of cases) {
  t.test(`restore() returns every weight of an int8 model ${what}, within the rounding of its channel`, async (t) => {
    const { checkpoint, model } = await built(shape, variant, recipe);
    const original = new Checkpoint(checkpoint);
    t.teardown(() => original.close());
    const config = readConfig(checkpoint);
    const dimensions = dimensionsOf(config, readGeneration(checkpoint, config).generation);
    const rounded = smoothed(recipe.scales.values === 'equalised' ? equalised(original, dimensions) : original, dimensions);
    const restored = restore(model);
    for (const name of original.names()) {
      const [wanted, found] = [rounded.float32(name), restored.float32(name)];
      t.strictSame(restored.shape(name), original.shape(name), name);
      const channel = wanted.length / original.shape(name)[0]!;
      const steps = variant === 'int8' ? 127 : 63;
      const largest = Array.from({ length: original.shape(name)[0]! }, (_, n) =>
        wanted.subarray(n * channel, (n + 1) * channel).reduce((most, each) => Math.max(most, Math.abs(each)), 0),
      );
      const off = wanted.findIndex((value, i) => Math.abs(value - found[i]!) > (0.51 * largest[Math.floor(i / channel)]!) / steps);
      t.equal(off, -1, `${name}: value ${off} of [${original.shape(name)}] is ${found[off]}, wanted ${wanted[off]}`);
    }
  });
}

t.test('importModel() converts an int8 model to float16, which says the same', async (t) => {
  const { model } = await built(TALKING);
  const home = join(scratch, 'home');
  const made = await importModel(model, { home, variant: 'float16' });
  t.match(made, { name: 'eight-float16', variant: 'float16', source: 'a test; converted from int8' });
  const descriptor = readWhisper(made.folder);
  t.match(descriptor, { licence: 'MIT', devices: ['cuda', 'webgpu', 'cpu'], checkpoint: readWhisper(model).checkpoint });
  const recogniser = await openRecogniser({ folder: made.folder, descriptor, device: 'cpu', rows: 2, interleaver: new Interleaver() });
  t.teardown(() => recogniser.close());
  const request = {
    job: 1,
    samples: samples(),
    speech: [{ start: 0, end: 4 }],
    peak: 1,
    language: 'en',
    expected: null,
    vocabulary: '',
    accurate: false,
  };
  const { words } = await recogniser.recognise(request, () => {});
  t.match(words.map(({ text }) => text).join(''), /^ the quick brown fox jumps over my lazy dog/);
});

t.test('What cannot be converted is refused with the remedy, and leaves no files behind', async (t) => {
  const { checkpoint, model } = await built(SHAPES.plain!);
  const convert = (folder: string, variant: 'int8' | 'float16' = 'float16') =>
    importModel(folder, { home: join(scratch, 'other'), name: 'made', variant });
  await t.rejects(convert(model, 'int8'), /it is a built model; choose --variant float16 for GPUs, or float32, or import its checkpoint/);
  await build(checkpoint, join(scratch, 'exact'), { variant: 'float32' });
  await t.rejects(
    convert(join(scratch, 'exact')),
    /Cannot convert exact: it is float32, wanted an int8 model; import its checkpoint with --variant/,
  );
  const path = join(model, 'model.json');
  const descriptor = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...descriptor, recipe: byRow }));
  await t.rejects(convert(model), /Cannot convert eight: another version of Longhand built it; import its checkpoint/);
  writeFileSync(path, JSON.stringify(descriptor));
  const decoder = join(model, 'decoder.onnx');
  const bytes = readFileSync(decoder);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(decoder, bytes);
  await t.rejects(convert(model), /decoder\.onnx is damaged: its checksum differs.*remove the model and import its checkpoint again/);
  truncateSync(decoder, 100_000);
  await t.rejects(convert(model), /decoder\.onnx has 100000 bytes/);
});
