import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { examine } from '../../../engine/asr/examine.ts';
import { encodeExternal } from '../../../models/build/graph/onnx.ts';
import { frameRefusal, type Measured } from '../../../models/checks/self-check.ts';
import { fittingModel } from '../../../models/choosing/fit.ts';
import { readDescriptor } from '../../../models/descriptor.ts';
import { importPublished } from '../../../models/published/importing.ts';
import { isPublished, layoutOf } from '../../../models/published/layout.ts';
import { listModels, verifyModel } from '../../../models/store.ts';

const PUBLISHED = fileURLToPath(new URL('../../engine/asr/published/', import.meta.url));

/** A copy of one of the published folders. */
function folderOf(t: Test, kind: string): string {
  const folder = join(t.testdir(), kind);
  mkdirSync(folder);
  for (const name of readdirSync(join(PUBLISHED, kind))) copyFileSync(join(PUBLISHED, kind, name), join(folder, name));
  return folder;
}

function imported(folder: string, more: Partial<Parameters<typeof importPublished>[1]> = {}) {
  return importPublished(folder, { home: join(folder, '..', 'home'), name: 'new', languages: ['en'], examine, ...more });
}

const CARD = '---\nlicense: cc-by-4.0\nlanguage:\n- ru\n- kk\nbase_model: someone/their-model\n---\n# A model\n';

t.test('importPublished() recognises CTC, RNN-T and TDT folders, and installs models that can be listed and verified', async (t) => {
  for (const [kind, wanted] of Object.entries({
    ctc: { architecture: 'ctc', features: 'nemo80', subsampling: 8, tokens: { count: 11, blank: 10 } },
    gigaam: { architecture: 'ctc', features: 'gigaam-v3', subsampling: 4, tokens: { count: 10, blank: 9 } },
    rnnt: { architecture: 'transducer', features: 'nemo80', durations: 0, tokensPerFrame: 10 },
    tdt: { architecture: 'transducer', features: 'nemo128', durations: 5 },
    'gigaam-rnnt': {
      ...{ architecture: 'transducer', features: 'gigaam-v3', durations: 0, tokensPerFrame: 3 },
      networks: { encoder: 'v3_rnnt_encoder.onnx', predictor: 'v3_rnnt_decoder.onnx', joint: 'v3_rnnt_joint.onnx' },
    },
    't-one': { architecture: 'ctc', features: 'samples8k', subsampling: 3, tokens: { count: 10, blank: 9 }, delay: 11 },
  })) {
    const folder = folderOf(t, kind);
    const model = await imported(folder);
    t.match(readDescriptor(model.folder), wanted, kind);
    const home = join(folder, '..', 'home');
    t.strictSame(await verifyModel('new', home), []);
    t.equal((await listModels(home)).at(-1)!.kind, wanted.architecture);
    t.equal((await fittingModel('new', home, false)).folder, model.folder, 'it runs unconverted on any CPU');
    rmSync(join(folder, '..'), { recursive: true });
  }
});

t.test('importPublished() copies the files in which an ONNX file keeps its weights, whatever their names', async (t) => {
  const folder = folderOf(t, 'ctc');
  const path = join(folder, 'model.onnx');
  writeFileSync(path, withExternal(readFileSync(path), 'layers.0.weight'));
  writeFileSync(join(folder, 'layers.0.weight'), Buffer.alloc(4));
  writeFileSync(join(folder, 'unrelated'), 'x');
  const { folder: made, descriptor } = await imported(folder);
  t.strictSame(readdirSync(made).sort(), ['layers.0.weight', 'model.json', 'model.onnx', 'tokens.json']);
  t.ok(descriptor?.files.some(({ name }) => name === 'layers.0.weight'));
});

t.test('importPublished() rejects weights outside the folder, and ONNX files that are damaged', async (t) => {
  const folder = folderOf(t, 'ctc');
  const path = join(folder, 'model.onnx');
  const whole = readFileSync(path);
  const examine = async () => 11; // the model cannot be run
  writeFileSync(path, withExternal(whole, '../elsewhere'));
  await t.rejects(imported(folder, { examine }), /its weights are in \.\.\/elsewhere; wanted them in the same folder/);
  writeFileSync(path, Buffer.alloc(2048, 0xff));
  await t.rejects(imported(folder, { examine }), /model\.onnx is damaged/);
});

/** An ONNX file with one more weight, a number, in another file. */
function withExternal(model: Uint8Array, location: string): Buffer {
  const field = (number: number, bytes: Uint8Array) => {
    const size = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
    return Buffer.concat([Buffer.from([(number << 3) | 2, ...size]), bytes]);
  };
  const constant = { name: 'outside', element: 'float32' as const, dims: [1], load: () => new Float32Array(1) };
  return Buffer.concat([model, field(7, encodeExternal(constant, location, 0))]);
}

t.test('importPublished() reads licence, origin and languages from the card, and keeps the attribution for CC-BY', async (t) => {
  const folder = folderOf(t, 'ctc');
  writeFileSync(join(folder, 'README.md'), CARD);
  writeFileSync(join(folder, 'LICENSE'), 'the text');
  mkdirSync(join(folder, 'licenses'));
  const { descriptor, folder: made } = await imported(folder, { languages: undefined });
  t.match(descriptor, {
    licence: 'CC-BY-4.0',
    source: 'https://huggingface.co/someone/their-model',
    attribution: 'new, from https://huggingface.co/someone/their-model, licensed under CC-BY-4.0; the weights are unchanged',
    languages: ['ru', 'kk'],
  });
  t.equal(readFileSync(join(made, 'LICENSE'), 'utf8'), 'the text');
});

t.test('layoutOf() takes the float32 files if they are there, else those in 8 bits', async (t) => {
  const folder = folderOf(t, 'tdt');
  const files = ['encoder-model', 'decoder_joint-model'];
  for (const name of files) copyFileSync(join(folder, `${name}.onnx`), join(folder, `${name}.int8.onnx`));
  t.match(layoutOf(folder), { precision: 'float32', networks: files.map((name) => `${name}.onnx`) });
  writeFileSync(join(folder, 'encoder-model.onnx'), 'version https://git-lfs');
  t.match(layoutOf(folder), { precision: 'int8', networks: files.map((name) => `${name}.int8.onnx`) }, 'the others are not downloaded');
  const { descriptor } = await imported(folder);
  t.match(descriptor, { variant: 'int8', converted: false });
  await t.rejects(imported(folder, { name: 'other', variant: 'float32' }), /it has 8-bit files only; download the others/);
  await t.rejects(imported(folder, { name: 'other', variant: 'float16' }), /CPUs only, which have no use for float16; leave out --variant/);
});

t.test('layoutOf() takes the vocabulary of the model, and refuses a folder with several models of GigaAM', async (t) => {
  const folder = folderOf(t, 'gigaam-rnnt');
  for (const name of ['v3_e2e_rnnt_vocab.txt', 'v3_e2e_ctc_vocab.txt']) writeFileSync(join(folder, name), '');
  t.match(layoutOf(folder), { vocabulary: 'v3_vocab.txt', features: 'gigaam-v3' });
  for (const part of ['encoder', 'decoder', 'joint'])
    renameSync(join(folder, `v3_rnnt_${part}.onnx`), join(folder, `v3_e2e_rnnt_${part}.onnx`));
  t.match(layoutOf(folder), { vocabulary: 'v3_e2e_rnnt_vocab.txt' });
  copyFileSync(join(PUBLISHED, 'gigaam', 'v3_ctc.onnx'), join(folder, 'v3_ctc.int8.onnx'));
  t.throws(() => layoutOf(folder), /it holds several models, v3_ctc, v3_e2e_rnnt; leave the files of one in a folder/);
});

t.test('isPublished() leaves Whisper checkpoints to their own importer', async (t) => {
  t.ok(isPublished(join(PUBLISHED, 'ctc')));
  t.notOk(isPublished(t.testdir({ 'model.safetensors': '', 'model.onnx': '' })));
  t.notOk(isPublished(t.testdir({ 'config.json': '{}' })));
  t.notOk(isPublished(join(t.testdir(), 'missing')));
});

const change = (name: string, edit: (text: string) => string) => (folder: string) =>
  writeFileSync(join(folder, name), edit(readFileSync(join(folder, name), 'utf8')));

const damages: [what: string, kind: string, damage: (folder: string) => void, message: RegExp, more?: object][] = [
  ['no vocabulary', 'ctc', (folder) => rmSync(join(folder, 'vocab.txt')), /found no vocab\.txt/],
  [
    'no decoder',
    'tdt',
    (folder) => rmSync(join(folder, 'decoder_joint-model.onnx')),
    /found encoder-model\.onnx, wanted .*decoder_joint-model\.onnx/,
  ],
  [
    'no joint',
    'gigaam-rnnt',
    (folder) => rmSync(join(folder, 'v3_rnnt_joint.onnx')),
    /found v3_rnnt_decoder\.onnx, v3_rnnt_encoder\.onnx, wanted v3_rnnt_encoder\.onnx with v3_rnnt_decoder\.onnx with v3_rnnt_joint\.onnx/,
  ],
  [
    'a joint in the place of the predictor',
    'gigaam-rnnt',
    (folder) => copyFileSync(join(folder, 'v3_rnnt_joint.onnx'), join(folder, 'v3_rnnt_decoder.onnx')),
    /Cannot use the predictor: found the inputs enc, dec and the outputs joint, wanted a token and two states in/,
  ],
  [
    'another network',
    'ctc',
    (folder) => {
      copyFileSync(join(folder, 'model.onnx'), join(folder, 'decoder_model_merged.onnx'));
      rmSync(join(folder, 'model.onnx'));
    },
    /found decoder_model_merged\.onnx, wanted model\.onnx/,
  ],
  [
    'a shorter vocabulary',
    'ctc',
    change('vocab.txt', (text) => text.split('\n').slice(0, 6).join('\n')),
    /has 6 tokens, but the model writes 11/,
  ],
  ['a vocabulary without a blank', 'ctc', change('vocab.txt', (text) => text.replace('<blk>', 'z')), /has no <blk>/],
  ['a vocabulary without numbers', 'ctc', change('vocab.txt', (text) => text.replace(' 3', '')), /line 4 of vocab\.txt has no number/],
  [
    'a shorter vocabulary in its config',
    't-one',
    change('config.json', (text) => text.replace('"\\u0431", ', '')),
    /config\.json has 8 tokens, but the model writes 10 with the blank/,
  ],
  [
    'the config of another family',
    't-one',
    (folder) => copyFileSync(join(PUBLISHED, 'ctc', 'config.json'), join(folder, 'config.json')),
    /found no vocab\.txt/,
  ],
  [
    'config and vocabulary of another family',
    't-one',
    (folder) => {
      for (const name of ['config.json', 'vocab.txt']) copyFileSync(join(PUBLISHED, 'ctc', name), join(folder, name));
    },
    /model\.onnx takes pieces of samples, as T-one does, but config\.json stands for features; they belong to different models/,
  ],
  [
    "T-one's config",
    'ctc',
    (folder) => copyFileSync(join(PUBLISHED, 't-one', 'config.json'), join(folder, 'config.json')),
    /model\.onnx takes features, but config\.json stands for T-one; they belong to different models/,
  ],
  [
    'a vocabulary in its config that is not text',
    't-one',
    change('config.json', (text) => text.replace('"\\u0431"', '7')),
    /token 1 of the vocabulary in config\.json is not a short text/,
  ],
  ['a number twice', 'ctc', change('vocab.txt', (text) => text.replace('n 3', 'n 2')), /line 4 of vocab\.txt has the number 2 once more/],
  ['a number too high', 'ctc', change('vocab.txt', (text) => text.replace('n 3', 'n 99999999999')), /has the number 99999999999/],
  ['no word-initial tokens', 'ctc', change('vocab.txt', (text) => text.replaceAll('\u2581', '')), /no token of vocab\.txt begins a word/],
  [
    "another model's features",
    'ctc',
    change('config.json', (text) => text.replace('80', '128')),
    /takes 80 mel bins, but config\.json stands for 128/,
  ],
  [
    'another subsampling',
    'ctc',
    change('config.json', (text) => text.replace('8}', '4}')),
    /writes 13 frames for 100, but config\.json says one for 4/,
  ],
  ['a config that is not JSON', 'ctc', change('config.json', () => '{'), /config\.json is not a JSON object/],
  [
    'an attention decoder',
    'ctc',
    change('config.json', (text) => text.replace('-ctc', '-aed')),
    /attention decoder; only CTC, RNN-T and TDT/,
  ],
  ['an unknown family', 'ctc', change('config.json', (text) => text.replace('nemo-conformer-ctc', 'kaldi-rnnt')), /says "kaldi-rnnt"/],
  [
    'an export of Whisper',
    'ctc',
    change('config.json', (text) => text.replace('nemo-conformer-ctc', 'whisper')),
    /it holds an ONNX export of Whisper; import the checkpoint from which it was made/,
  ],
  ['a Git LFS pointer', 'ctc', (folder) => writeFileSync(join(folder, 'model.onnx'), 'version https://git-lfs'), /Git LFS pointer/],
  [
    'a file that is not a model',
    'ctc',
    (folder) => writeFileSync(join(folder, 'model.onnx'), Buffer.alloc(4096, 7)),
    /Cannot import the model in .*model\.onnx/,
  ],
  ['no languages', 'ctc', () => {}, /nothing says which languages it recognises/, { languages: undefined }],
  ['a wrong language', 'ctc', () => {}, /"Russian" is not an ISO code/, { languages: ['Russian'] }],
  ['a CC-BY licence and no origin', 'ctc', () => {}, /CC-BY-4\.0 requires attribution/, { licence: 'CC-BY-4.0' }],
];
for (const [what, kind, damage, message, more] of damages) {
  t.test(`importPublished() rejects a folder with ${what}, reports what it found, and leaves no files behind`, async (t) => {
    const folder = folderOf(t, kind);
    damage(folder);
    await t.rejects(imported(folder, more), { message });
    const home = join(folder, '..', 'home', 'models');
    t.strictSame(readdirSync(join(folder, '..')).includes('home') ? readdirSync(home) : [], []);
  });
}

/** Result of a check of a model for one language. */
function found(errors: number, coverage: number, confidence: number, words = 100): Measured {
  const rates = words ? [{ language: 'ru', clips: 5, words, errors }] : [];
  return {
    at: '2026-01-01T00:00:00.000Z',
    machine: 'a test',
    rates,
    clips: [],
    invented: 0,
    coverage,
    rtfx: 10,
    threadBytes: 1e8,
    confidence,
    cpuLoad: 0.1,
  };
}

t.test('frameRefusal() reports whether the blank, the vocabulary or the weights are wrong, even without clips', async (t) => {
  t.equal(frameRefusal(found(20, 0.6, 0.9)), null);
  t.match(frameRefusal(found(100, 0.01, 0.9)), /100 wrong: it writes next to nothing/);
  t.match(frameRefusal(found(90, 0.6, 0.9)), /90 wrong: its confidence is high, so its vocabulary probably belongs to another model/);
  t.match(frameRefusal(found(99, 0.6, 0.2)), /99 wrong: its weights are damaged or were never trained/);
  t.equal(frameRefusal(found(0, 0.6, 0.8, 0)), null);
  t.match(frameRefusal(found(0, 0.6, 0.2, 0)), /mean probability of its words is 20 %: its weights are damaged or were never trained/);
});
