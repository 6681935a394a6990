import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { seeded } from '../../../bench/random.ts';
import { examine } from '../../../engine/asr/examine.ts';
import { createGraph, floats, input, op, output } from '../../../models/build/graph/graph.ts';
import { decodeGraph, type Model } from '../../../models/build/graph/onnx.ts';
import { writeModel } from '../../../models/build/graph/write.ts';
import { fittingModel } from '../../../models/choosing/fit.ts';
import { type FrameDescriptor, readDescriptor } from '../../../models/descriptor.ts';
import { importPublished } from '../../../models/published/importing.ts';
import { verifyModel } from '../../../models/store.ts';
import { found } from '../measured.ts';

const CTC = fileURLToPath(new URL('../../engine/asr/published/ctc/', import.meta.url));
const [BINS, WIDTH, TOKENS] = [80, 192, 11];

/** A CTC network whose three inner layers are large enough to be converted. */
function network(): Model {
  const random = seeded(3);
  const g = createGraph({ shape: () => [], float32: () => new Float32Array() }, 'float32');
  const weights = (...dims: number[]) => {
    const values = Float32Array.from({ length: dims.reduce((a, b) => a * b) }, () => random.between(-0.1, 0.1));
    return floats(g, dims, () => values);
  };
  const signal = input(g, 'audio_signal', 'float32', [1, BINS, 'T']);
  input(g, 'length', 'int64', [1]);
  const strided = op(g, 'Conv', [signal, weights(WIDTH, BINS, 9)], { strides: [8], pads: [4, 4] });
  let y = op(g, 'Transpose', [strided], { perm: [0, 2, 1] });
  for (let layer = 0; layer < 4; layer++) y = op(g, 'Relu', [op(g, 'MatMul', [y, weights(WIDTH, WIDTH)])]);
  output(g, 'logprobs', op(g, 'LogSoftmax', [op(g, 'MatMul', [y, weights(WIDTH, TOKENS)])]), 'float32', [1, 'F', TOKENS]);
  return g;
}

/** A folder in the layout of onnx-asr with that network. */
async function folderOf(t: Test): Promise<string> {
  const folder = join(t.testdir(), 'ctc');
  mkdirSync(folder);
  for (const name of ['config.json', 'vocab.txt']) copyFileSync(join(CTC, name), join(folder, name));
  writeFileSync(join(folder, 'README.md'), '---\nlicense: cc-by-4.0\nlanguage: en\nbase_model: someone/their-model\n---\n');
  await writeModel(join(folder, 'model.onnx'), network());
  return folder;
}

function importing(folder: string, more: Partial<Parameters<typeof importPublished>[1]> = {}) {
  return importPublished(folder, { home: join(folder, '..', 'home'), name: 'new', examine, ...more });
}

const kinds = (folder: string) => decodeGraph(readFileSync(join(folder, 'model.onnx'))).nodes.map(({ op }) => op);

t.test('importPublished() converts float32 networks to 8 bits, and says so to those whose licence requires attribution', async (t) => {
  const folder = await folderOf(t);
  const made = await importing(folder, { variant: 'int8' });
  t.match(made.descriptor, {
    variant: 'int8',
    converted: true,
    attribution: /someone\/their-model.*; the weights are converted to 8 bits$/,
  });
  t.equal(kinds(made.folder).filter((kind) => kind === 'DynamicQuantizeMatMul').length, 2, 'the first and the last layer stay exact');
  t.ok(statSync(join(made.folder, 'model.onnx')).size < 0.85 * statSync(join(folder, 'model.onnx')).size);
  t.strictSame(await verifyModel('new', join(folder, '..', 'home')), []);
});

t.test('importPublished() converts nothing if float32 is wanted', async (t) => {
  const folder = await folderOf(t);
  const made = await importing(folder, { variant: 'float32' });
  t.match(made.descriptor, { variant: 'float32', converted: false, attribution: /; the weights are unchanged$/ });
  t.ok(readFileSync(join(made.folder, 'model.onnx')).equals(readFileSync(join(folder, 'model.onnx'))));
});

t.test('a converted model is made free of saturation once on a CPU that needs it', async (t) => {
  const folder = await folderOf(t);
  const made = await importing(folder, { variant: 'int8' });
  const home = join(folder, '..', 'home');
  t.equal((await fittingModel('new', home, true)).folder, made.folder);
  const fitting = await fittingModel('new', home, false);
  t.match(readDescriptor(fitting.folder), { architecture: 'ctc', variant: 'int8-7bit', converted: true });
  t.strictSame(kinds(fitting.folder), kinds(made.folder));
  t.notOk(readFileSync(join(fitting.folder, 'model.onnx')).equals(readFileSync(join(made.folder, 'model.onnx'))));
});

t.test('importPublished() takes float32 if 8 bits make more errors, and keeps both measurements if they do not', async (t) => {
  const folder = await folderOf(t);
  const stages: string[] = [];
  const variantIn = (made: string) => (readDescriptor(made) as FrameDescriptor).variant;
  const worse = async (made: string) => found(variantIn(made) === 'float32' ? 0.1 : 0.3);
  const options = { variant: 'int8' as const, onStage: (stage: string) => stages.push(stage) };
  const far = await importing(folder, { ...options, measure: worse });
  t.match(far.descriptor, { variant: 'float32', converted: false, check: { rates: [{ errors: 20 }], reference: [{ errors: 20 }] } });
  t.notOk(kinds(far.folder).includes('DynamicQuantizeMatMul'));
  t.ok(stages.includes('8 bits differ too much from float32, which is used instead'));
  const same = await importing(folder, { ...options, name: 'same', measure: async () => found(0.1) });
  t.match(same.descriptor, { variant: 'int8', check: { rates: [{ errors: 20 }], reference: [{ errors: 20 }] } });
  const quick = await importing(folder, { ...options, name: 'quick', quick: true, measure: worse });
  t.match(quick.descriptor, { variant: 'int8', check: { rates: [{ errors: 60 }] } }, '--quick measures no reference');
});
