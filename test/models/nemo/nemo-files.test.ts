import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import yazl from 'yazl';
import { openArchive } from '../../../models/nemo/archive.ts';
import { NemoCheckpoint } from '../../../models/nemo/checkpoint.ts';
import { readConfig } from '../../../models/nemo/config.ts';
import { unpickle } from '../../../models/nemo/pickle.ts';
import { planOf } from '../../../models/nemo/plan.ts';
import type { Region } from '../../../models/nemo/region.ts';
import { NEMO } from './checkpoint.ts';

/** The parts of a fixture; closed when the test ends. */
async function opened(t: Test, path: string) {
  const archive = await openArchive(path, join(t.testdir(), 'unpacked'));
  t.teardown(archive.close);
  return archive;
}

/** A file with these bytes as a region. */
function region(t: Test, bytes: Uint8Array): Region {
  const path = join(t.testdir(), 'file');
  writeFileSync(path, bytes);
  const file = openSync(path, 'r');
  t.teardown(() => closeSync(file));
  return { file, from: 0, bytes: bytes.length };
}

// A pickle as PyTorch writes it.
const text = (value: string) => Buffer.concat([Buffer.from('X'), int(Buffer.byteLength(value)).subarray(1), Buffer.from(value)]);
const int = (value: number) => {
  const bytes = Buffer.from('J0000');
  bytes.writeInt32LE(value, 1);
  return bytes;
};
const name = (module: string, attribute: string) => Buffer.from(`c${module}\n${attribute}\n`);
const tuple = (...values: Buffer[]) => Buffer.concat([Buffer.from('('), ...values, Buffer.from('t')]);
const call = (callee: Buffer, ...values: Buffer[]) => Buffer.concat([callee, tuple(...values), Buffer.from('R')]);
const dict = (...pairs: Buffer[]) => Buffer.concat([Buffer.from('}('), ...pairs, Buffer.from('u')]);
const pickle = (value: Buffer) => Buffer.concat([Buffer.from([0x80, 2]), value, Buffer.from('.')]);
const storage = (elements: number, type = 'FloatStorage') =>
  Buffer.concat([tuple(text('storage'), name('torch', type), text('0'), text('cpu'), int(elements)), Buffer.from('Q')]);
const tensor = (elements: number, offset: number, shape: number[], strides: number[], type?: string) =>
  call(
    name('torch._utils', '_rebuild_tensor_v2'),
    storage(elements, type),
    int(offset),
    tuple(...shape.map(int)),
    tuple(...strides.map(int)),
    Buffer.from([0x89]),
    call(name('collections', 'OrderedDict')),
  );

/** A checkpoint with one storage of 24 bytes. */
async function checkpoint(value: Buffer, { compress = false, data = Buffer.from(Float32Array.of(0, 1, 2, 3, 4, 5).buffer) } = {}) {
  const zip = new yazl.ZipFile();
  zip.addBuffer(pickle(value), 'm/data.pkl', { compress });
  zip.addBuffer(data, 'm/data/0', { compress });
  zip.end();
  return buffer(zip.outputStream);
}

t.test('NemoCheckpoint reads tensors in any layout, as float32', async (t) => {
  const bytes = await checkpoint(
    dict(
      ...[text('plain'), tensor(6, 0, [2, 3], [3, 1])],
      ...[text('turned'), tensor(6, 0, [3, 2], [1, 3])],
      ...[text('part'), tensor(6, 1, [2], [2])],
      ...[text('scalar'), tensor(6, 5, [], [])],
      ...[text('count'), tensor(3, 0, [1], [1], 'LongStorage')],
      ...[text('epoch'), int(3)],
    ),
  );
  const found = new NemoCheckpoint(region(t, bytes));
  t.strictSame(found.names(), ['plain', 'turned', 'part', 'scalar', 'count']);
  t.strictSame(found.shape('turned'), [3, 2]);
  t.strictSame([...found.float32('plain')], [0, 1, 2, 3, 4, 5]);
  t.strictSame([...found.float32('turned')], [0, 3, 1, 4, 2, 5]);
  t.strictSame([...found.float32('part')], [1, 3]);
  t.strictSame([...found.float32('scalar')], [5]);
  t.throws(() => found.float32('count'), /found the tensor count with int64, wanted floats/);
  t.throws(() => found.shape('other'), /found no tensor other in the checkpoint/);
});

t.test('NemoCheckpoint finds the tensors inside state_dict, parameters included', async (t) => {
  const parameter = call(
    name('torch._utils', '_rebuild_parameter'),
    tensor(6, 0, [6], [1]),
    Buffer.from([0x88]),
    call(name('collections', 'OrderedDict')),
  );
  const found = new NemoCheckpoint(
    region(t, await checkpoint(dict(text('epoch'), int(1), text('state_dict'), dict(text('a'), parameter)))),
  );
  t.strictSame(found.names(), ['a']);
  t.equal(found.parameters, 6);
});

const hostile: [what: string, value: Buffer, message: RegExp][] = [
  ['that runs a command', call(name('os', 'system'), text('true')), /found os\.system in the checkpoint, wanted tensors only/],
  ['that evaluates code', call(name('builtins', 'eval'), text('1')), /found builtins\.eval/],
  [
    'that creates an object',
    dict(text('a'), call(name('torch', 'FloatStorage'), int(1))),
    /a call of torch\.FloatStorage that is not understood/,
  ],
  ['with an unknown opcode', Buffer.from([0x95]), /found the pickle opcode 0x95/],
  ['that reads an empty stack', Buffer.from('0R'), /found the pickle opcode 0x30|a value that is missing/],
  ['without a mark', Buffer.from('t'), /found a mark that is missing/],
  ['with a missing value', Buffer.from('h\x07'), /found a value that is missing/],
  ['that fills a list which is none', Buffer.from('N(u'), /found a dictionary that is missing/],
  ['of a list', Buffer.from(']'), /found no dictionary/],
  ['with a text longer than itself', Buffer.from('X\xff\xff\xff\x7fab', 'latin1'), /found its end too early/],
  [
    'with a tensor without storage',
    dict(text('a'), call(name('torch._utils', '_rebuild_tensor_v2'), int(1))),
    /a tensor without its storage/,
  ],
  ['with a negative shape', dict(text('a'), tensor(6, 0, [-1], [1])), /a tensor without its shape/],
  ['with a storage of an unknown class', dict(text('a'), tensor(6, 0, [1], [1], 'QInt8Storage')), /found torch\.QInt8Storage/],
  ['with a tensor beyond its storage', dict(text('a'), tensor(6, 4, [3], [1])), /found the tensor a beyond its data \(7 of 6 numbers/],
  ['with a storage beyond its data', dict(text('a'), tensor(600, 0, [600], [1])), /beyond its data \(600 of 600 numbers in 24 bytes\)/],
  ['with strides beyond its data', dict(text('a'), tensor(6, 0, [2, 2], [2 ** 30, 1])), /found the tensor a/],
  [
    'with a tensor that repeats its data',
    dict(text('a'), tensor(6, 0, [2 ** 14, 2 ** 14], [0, 0])),
    /found the tensor a with 268435456 numbers that overlap/,
  ],
  ['with more opcodes than any model has', Buffer.alloc(2e6, 'N'), /found more than 2000000 pickle opcodes/],
  [
    'with an enormous tensor',
    dict(text('a'), tensor(6, 0, [2 ** 30, 2 ** 30], [0, 0])),
    /found the tensor a with \d+ numbers, wanted at most 2\^29/,
  ],
];
for (const [what, value, message] of hostile) {
  t.test(`NemoCheckpoint refuses a pickle ${what}`, async (t) => {
    t.throws(() => new NemoCheckpoint(region(t, readFileSync('/dev/null'))), /wanted a checkpoint of PyTorch 1\.6/);
    const bytes = await checkpoint(value);
    t.throws(() => new NemoCheckpoint(region(t, bytes)), message);
  });
}

t.test('NemoCheckpoint refuses many tensors that share their data', async (t) => {
  const data = Buffer.alloc(2 ** 20);
  const all = (count: number) =>
    dict(...Array.from({ length: count }, (_, i) => [text(`${i}`), tensor(2 ** 18, 0, [2 ** 18], [1])]).flat());
  t.equal(new NemoCheckpoint(region(t, await checkpoint(all(2), { data }))).names().length, 2);
  const bytes = await checkpoint(all(3), { data });
  t.throws(
    () => new NemoCheckpoint(region(t, bytes)),
    /found tensors with 3145728 bytes in a checkpoint of \d+, wanted each to have its own/,
  );
});

t.test('unpickle() refuses a pickle that ends early, wherever that is', async (t) => {
  const whole = pickle(dict(text('a'), tensor(6, 0, [2, 3], [3, 1])));
  t.equal(unpickle(whole).size, 1);
  for (let length = 0; length < whole.length; length++) t.throws(() => unpickle(whole.subarray(0, length)), /found /, `${length} bytes`);
});

t.test('NemoCheckpoint refuses zip archives that are compressed, cut short or inconsistent', async (t) => {
  const value = dict(text('a'), tensor(6, 0, [6], [1]));
  const refused = (bytes: Uint8Array, message: RegExp) => t.throws(() => new NemoCheckpoint(region(t, bytes)), message);
  refused(await checkpoint(value, { compress: true }), /found m\/data\.pkl compressed \(method 8\) in the checkpoint, wanted it stored/);
  const whole = await checkpoint(value);
  refused(whole.subarray(0, whole.length / 2), /found no zip archive/);
  const changed = (at: number, byte: number) => Buffer.from(whole).fill(byte, at, at + 1);
  const [directory, first] = [whole.readUInt32LE(whole.length - 6), whole.indexOf('m/data.pkl')];
  refused(changed(whole.length - 3, 0x7f), /found the list of the zip archive at byte/);
  refused(changed(directory, 0), /found no entry where its list has one/);
  refused(changed(directory + 24, 0xff), /with two different sizes/);
  refused(changed(directory + 44, 0x7f), /found the header of m\/data\.pkl at byte/);
  refused(changed(first - 30, 0), /found no header of m\/data\.pkl/);
  for (let length = 0; length < whole.length; length += 7) refused(whole.subarray(0, length), /found /);
});

t.test('openArchive() refuses what is not a whole .nemo archive', async (t) => {
  const whole = readFileSync(join(NEMO, 'ctc.nemo'));
  const folder = t.testdir();
  const refused = async (bytes: Uint8Array, message: RegExp) => {
    const path = join(folder, 'a.nemo');
    writeFileSync(path, bytes);
    await t.rejects(openArchive(path, join(folder, `scratch-${Math.random()}`)), message);
  };
  await refused(Buffer.from('version https://git-lfs'), /found 23 bytes, as a Git LFS pointer has/);
  await refused(whole.subarray(0, 100_000), /found the file \.\/model_weights\.ckpt at byte \d+ with \d+ bytes, wanted it within 100000/);
  await refused(Buffer.alloc(4096, 7), /found no tar header at byte 0/);
  await refused(Buffer.alloc(4096), /found no files in the archive, wanted model_config\.yaml and model_weights\.ckpt/);
  await refused(gzipSync(Buffer.alloc(2 ** 21)), /found more than 8 times its size in the compressed file/);
  const packed = gzipSync(whole);
  await refused(packed.subarray(0, packed.length / 2), /found damaged gzip data/);
  await refused(Buffer.from(packed).fill(0, 5000, 6000), /found damaged gzip data/);
});

t.test('readConfig() reads tokens as text, whatever YAML takes them for', async (t) => {
  const { config } = await opened(t, join(NEMO, 'ctc.nemo'));
  const changed = config
    .replaceAll(/^(\s*)- a$/gm, '$1- 1e3')
    .replaceAll(/^(\s*)- b$/gm, '$1- no')
    .replaceAll(/^(\s*)- c$/gm, "$1- 'null'");
  t.strictSame(readConfig(changed).decoder.vocabulary?.slice(0, 5), [' ', '1e3', 'no', 'null', 'd']);
  t.throws(() => readConfig('a: ['), /found a model_config\.yaml that is not YAML/);
  t.throws(() => readConfig('a: 1'), /found preprocessor in model_config\.yaml with an unknown form/);
  t.throws(() => readConfig('- 1'), /found no section in model_config\.yaml/);
  t.throws(() => readConfig(config.replace(/n_layers: .*/, 'n_layers: many')), /found encoder\.n_layers in model_config\.yaml/);
});

const unsupported: [kind: 'ctc' | 'tdt' | 'hybrid', from: string | RegExp, to: string, message: RegExp][] = [
  [
    'ctc',
    /EncDecCTCModel$/m,
    'EncDecMultiTaskModel',
    /found the class .*EncDecMultiTaskModel, wanted EncDecCTCModel, EncDecRNNTModel or a hybrid/,
  ],
  [
    'ctc',
    'modules.ConformerEncoder',
    'modules.SqueezeformerEncoder',
    /found encoder\._target_ SqueezeformerEncoder .*wanted ConformerEncoder/,
  ],
  ['ctc', 'subsampling: dw_striding', 'subsampling: striding', /found encoder\.subsampling striding .*wanted dw_striding/],
  ['ctc', 'subsampling_factor: 8', 'subsampling_factor: 2', /found encoder\.subsampling_factor 2 .*wanted 8 or 4/],
  ['ctc', 'causal_downsampling: false', 'causal_downsampling: true', /found encoder\.causal_downsampling true/],
  [
    'ctc',
    'self_attention_model: rel_pos',
    'self_attention_model: rel_pos_local_attn',
    /found encoder\.self_attention_model rel_pos_local_attn/,
  ],
  ['ctc', /att_context_size:\n\s+- -1\n/, 'att_context_size:\n  - 70\n', /found encoder\.att_context_size 70 .*wanted -1/],
  ['ctc', 'conv_norm_type: batch_norm', 'conv_norm_type: group_norm8', /found encoder\.conv_norm_type group_norm8/],
  [
    'ctc',
    'conv_norm_type: batch_norm',
    'conv_norm_type: batch_norm\n  conv_context_size: causal',
    /found encoder\.conv_context_size causal/,
  ],
  ['ctc', 'conv_kernel_size: 5', 'conv_kernel_size: 4', /found encoder\.conv_kernel_size 4 .*wanted odd/],
  ['ctc', 'n_heads: 2', 'n_heads: 3', /found encoder\.n_heads 3 .*wanted a divisor of d_model/],
  ['ctc', 'n_heads: 2', 'n_heads: 4', /found the tensor encoder\.layers\.0\.self_attn\.pos_bias_u with the shape \[2,8\], wanted \[4,4\]/],
  ['ctc', 'n_layers: 2', 'n_layers: 3', /found no tensor encoder\.layers\.2\./],
  ['ctc', 'n_layers: 2', 'n_layers: 1e9', /found encoder\.n_layers 1000000000 .*whole number from 1 to 256/],
  ['ctc', 'normalize: per_feature', 'normalize: all_features', /found preprocessor\.normalize all_features/],
  ['ctc', 'sample_rate: 16000', 'sample_rate: 8000', /found sample_rate 8000 .*wanted 16000/],
  ['ctc', 'window_size: 0.025', 'window_size: 0.02', /found preprocessor\.window_size 0\.02 .*wanted 0\.025/],
  ['ctc', 'n_fft: 512', 'n_fft: 1024', /found preprocessor\.n_fft 1024/],
  ['ctc', 'features: 80', 'features: 64', /found preprocessor\.features 64 .*wanted 80 or 128/],
  ['ctc', /^ {2}- a\n/gm, '', /found the tensor decoder\.decoder_layers\.0\.weight with the shape \[13,16,1\], wanted \[12,16,1\]/],
  ['ctc', /^( *)- ' '$/gm, '$1- z', /found no token that begins a word/],
  ['tdt', 'modules.RNNTDecoder', 'modules.StatelessTransducerDecoder', /found decoder\._target_ StatelessTransducerDecoder/],
  ['tdt', 'normalization_mode: null', 'normalization_mode: layer', /found decoder\.normalization_mode layer/],
  ['tdt', 'activation: relu', 'activation: swish', /found joint\.jointnet\.activation swish .*wanted relu or tanh or sigmoid/],
  ['tdt', 'num_extra_outputs: 5', 'num_extra_outputs: 4', /found joint\.num_extra_outputs 4 .*wanted 5/],
  ['tdt', 'tdt_durations:\n  - 0\n', 'tdt_durations:\n  - 1\n', /found the durations 1,1,2,3,4, wanted 0, 1, 2/],
  ['hybrid', 'rnn_layers: 2', 'rnn_layers: 9', /found decoder\.prednet\.pred_rnn_layers 9 .*from 1 to 8/],
];
for (const [kind, from, to, message] of unsupported) {
  t.test(`planOf() refuses ${kind} with ${JSON.stringify(to)}`, async (t) => {
    const { config, weights } = await opened(t, join(NEMO, `${kind}.nemo`));
    const changed = config.replace(from, to);
    t.not(changed, config, 'the configuration has the field');
    t.throws(() => planOf(readConfig(changed), new NemoCheckpoint(weights)), message);
  });
}

t.test('planOf() marks the beginnings of word pieces', async (t) => {
  const { config, weights } = await opened(t, join(NEMO, 'ctc.nemo'));
  const changed = `tokenizer:\n  type: wpe\n${config.replaceAll(/^(\s*)- b$/gm, "$1- '##b'").replaceAll(/^(\s*)- c$/gm, "$1- '[UNK]'")}`;
  const { tokens } = planOf(readConfig(changed), new NemoCheckpoint(weights));
  t.strictSame(tokens.slice(1, 5), ['\u2581a', 'b', '[UNK]', '\u2581d']);
  t.equal(tokens.at(-1), '<blk>');
});
