import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openNetwork } from '../../../engine/asr/ctc/recogniser.ts';
import { examine } from '../../../engine/asr/examine.ts';
import { openNetworks } from '../../../engine/asr/transducer/recogniser.ts';
import { float32, int64, openSession } from '../../../engine/runtime/session.ts';
import { hasByteDotProduct } from '../../../models/choosing/cpu.ts';
import { type FrameDescriptor, readDescriptor } from '../../../models/descriptor.ts';
import { importNemo, type NemoOptions, nemoFile } from '../../../models/nemo/importing.ts';
import { listModels, verifyModel } from '../../../models/store.ts';
import { difference } from '../network.ts';
import { EXPECTED, FRAMES, features, NEMO } from './checkpoint.ts';

function imported(t: Test, kind: keyof typeof EXPECTED, more: Partial<NemoOptions> = {}) {
  return importNemo(join(NEMO, `${kind}.nemo`), {
    home: more.home ?? t.testdir(),
    languages: ['en'],
    variant: 'float32',
    examine,
    ...more,
  });
}

/** An output of a model's first network for the features of the fixtures, or the first frames of them. */
async function run(folder: string, network: string, output: string, bins: number, frames = FRAMES) {
  const session = await openSession(join(folder, network));
  try {
    const all = features(bins);
    const values = Float32Array.from({ length: bins * frames }, (_, i) => all[Math.floor(i / frames) * FRAMES + (i % frames)]!);
    const length = int64(BigInt64Array.of(BigInt(frames)), [1]);
    return (await session.run({ audio_signal: float32(values, [1, bins, frames]), length }))[output]!;
  } finally {
    await session.close();
  }
}

/** Tokens and their frames, as the engine decodes them. */
async function decoded(folder: string, bins: number) {
  const descriptor = readDescriptor(folder) as FrameDescriptor;
  const common = { folder, device: 'cpu' as const, rows: 1 };
  const networks = await (descriptor.architecture === 'ctc'
    ? openNetwork({ ...common, descriptor })
    : openNetworks({ ...common, descriptor }));
  const found = await networks.tokens({ values: features(bins), bins, frames: FRAMES }, '', () => {});
  await networks.close();
  return { tokens: found.map(({ token }) => token), at: found.map(({ first }) => first) };
}

for (const kind of ['ctc', 'tdt', 'hybrid'] as const) {
  const { bins, encoded, frames, logprobs, ctc, tokens, at } = EXPECTED[kind];
  if (tokens) {
    t.test(`importNemo() builds the transducer of ${kind}.nemo: outputs and greedy tokens are those of NeMo`, async (t) => {
      const { folder } = await imported(t, kind);
      const found = await run(folder, 'encoder-model.onnx', 'outputs', bins);
      t.strictSame(found.dims, [1, 16, frames]);
      t.ok(difference(found.data as Float32Array, encoded) < 1e-4);
      t.strictSame(await decoded(folder, bins), { tokens, at });
    });
  }
  if (ctc) {
    t.test(`importNemo() builds the CTC model of ${kind}.nemo: outputs and greedy tokens are those of NeMo`, async (t) => {
      const { folder } = await imported(t, kind, { decoder: 'ctc' });
      const found = await run(folder, 'model.onnx', 'logprobs', bins);
      t.strictSame(found.dims, [1, frames, 13]);
      t.ok(difference(found.data as Float32Array, logprobs!) < 1e-4);
      t.strictSame((await decoded(folder, bins)).tokens, ctc);
    });
  }
  for (const variant of ['int8', 'int8-7bit'] as const) {
    const skip = variant === 'int8' && !hasByteDotProduct() && 'products of 8-bit numbers saturate on this processor';
    t.test(`importNemo() builds ${kind}.nemo in ${variant} with outputs close to those of NeMo`, { skip }, async (t) => {
      const { folder, descriptor } = await imported(t, kind, { variant });
      t.equal(descriptor?.variant, variant);
      const [network, output] = ctc && !tokens ? ['model.onnx', 'logprobs'] : ['encoder-model.onnx', 'outputs'];
      const wanted = output === 'outputs' ? encoded : logprobs!;
      const found = (await run(folder, network!, output!, bins)).data as Float32Array;
      const square = (values: number[]) => values.reduce((sum, value) => sum + value * value, 0);
      const apart = Math.sqrt(square(wanted.map((value, i) => value - found[i]!)) / square(wanted));
      t.ok(apart < 0.06, `${apart}`);
    });
  }
}

t.test('importNemo() builds graphs for windows of any length, with as many frames as NeMo counts', async (t) => {
  for (const [kind, subsampling] of [
    ['tdt', 8],
    ['hybrid', 4],
  ] as const) {
    const { folder } = await imported(t, kind, { name: kind });
    for (const frames of [1, 2, 8, 9, 16, 17]) {
      const { dims, data } = await run(folder, 'encoder-model.onnx', 'outputs', EXPECTED[kind].bins, frames);
      t.strictSame(dims, [1, 16, Math.floor((frames - 1) / subsampling) + 1], `${kind}, ${frames} frames`);
      t.ok((data as Float32Array).every(Number.isFinite));
    }
  }
});

t.test('importNemo() installs models that can be listed and verified, with tokens, durations, languages and attribution', async (t) => {
  const home = join(t.testdir(), 'home');
  const licensed = { licence: 'CC-BY-4.0', source: 'https://example.com/model', languages: ['en', 'de'] };
  const { folder } = await imported(t, 'tdt', { home, name: 'new', variant: 'int8', ...licensed });
  t.match(readDescriptor(folder), {
    ...{ architecture: 'transducer', variant: 'int8', features: 'nemo128', subsampling: 8, durations: 5, tokensPerFrame: 10 },
    ...{ tokens: { count: 13, blank: 12 }, languages: ['en', 'de'], licence: 'CC-BY-4.0' },
    attribution: 'new, from https://example.com/model, licensed under CC-BY-4.0; the weights are converted to 8 bits',
    networks: { encoder: 'encoder-model.onnx', decoderJoint: 'decoder_joint-model.onnx' },
  });
  t.strictSame(await verifyModel('new', home), []);
  t.equal((await listModels(home)).at(-1)!.kind, 'transducer');
  t.strictSame(readdirSync(folder).sort(), ['decoder_joint-model.onnx', 'encoder-model.onnx', 'model.json', 'tokens.json']);
});

t.test('importNemo() reads the model card beside the file, and copies the text of the licence', async (t) => {
  const folder = t.testdir({
    LICENSE: 'the text',
    'README.md': '---\nlicense: cc-by-4.0\nlanguage: [de]\nbase_model: someone/theirs\n---\n',
  });
  copyFileSync(join(NEMO, 'ctc.nemo'), join(folder, 'mine.nemo'));
  const options = { home: join(folder, 'home'), variant: 'int8' as const, examine };
  const { name, folder: made, descriptor } = await importNemo(join(folder, 'mine.nemo'), options);
  t.equal(name, 'mine');
  t.match(descriptor, { licence: 'CC-BY-4.0', source: 'https://huggingface.co/someone/theirs', languages: ['de'] });
  t.equal(readFileSync(join(made, 'LICENSE'), 'utf8'), 'the text');
  t.strictSame(await verifyModel('mine', options.home), []);
});

t.test('nemoFile() finds a .nemo file, or the only one in a folder without another model', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'a.nemo');
  t.equal(nemoFile(file), null, 'it does not exist');
  t.equal(nemoFile(folder), null);
  copyFileSync(join(NEMO, 'tdt.nemo'), file);
  t.equal(nemoFile(file), file);
  t.equal(nemoFile(folder), file);
  writeFileSync(join(folder, 'model.onnx'), '');
  t.equal(nemoFile(folder), null);
  mkdirSync(join(folder, 'two'));
  for (const name of ['a.nemo', 'b.nemo']) writeFileSync(join(folder, 'two', name), '');
  t.equal(nemoFile(join(folder, 'two')), null);
});

const refusals: [what: string, kind: keyof typeof EXPECTED, more: Partial<NemoOptions>, message: RegExp][] = [
  ['for half precision', 'tdt', { variant: 'float16' }, /found --variant float16, wanted int8 or float32/],
  ['for a decoder that it does not have', 'tdt', { decoder: 'ctc' }, /found a transducer model without a ctc decoder/],
  ['without languages', 'ctc', { languages: undefined }, /nothing says which languages it recognises/],
  ['whose outputs do not fit', 'ctc', { examine: async () => 12 }, /found 12 outputs, wanted 13/],
];
for (const [what, kind, more, message] of refusals) {
  t.test(`importNemo() rejects a file ${what}, and leaves no files behind`, async (t) => {
    const home = t.testdir();
    await t.rejects(imported(t, kind, { home, ...more }), { message });
    t.strictSame(existsSync(join(home, 'models')) ? readdirSync(join(home, 'models')) : [], []);
  });
}
