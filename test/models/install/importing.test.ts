import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Variant } from '../../../models/build/graph/graph.ts';
import { readConfig } from '../../../models/build/whisper/config.ts';
import { parametersOf } from '../../../models/build/whisper/shapes.ts';
import { readsBinsInOrder } from '../../../models/checks/inspect-weights.ts';
import { increase, refusal, tooFarOff } from '../../../models/checks/self-check.ts';
import { importBytes } from '../../../models/choosing/space.ts';
import { readWhisper } from '../../../models/descriptor.ts';
import { importModel } from '../../../models/install/importing.ts';
import { verifyModel } from '../../../models/store.ts';
import { END_OF_TEXT, SHAPES, writeCheckpoint } from '../checkpoint.ts';
import { found } from '../measured.ts';

const scratch = mkdtempSync(join(tmpdir(), 'longhand-importing-'));
t.teardown(() => rmSync(scratch, { recursive: true }));
let count = 0;

/** A new checkpoint folder. */
function checkpoint(): string {
  const folder = join(scratch, `checkpoint-${++count}`);
  writeCheckpoint(folder, SHAPES.plain!, 'F16');
  return folder;
}

function changeJson(folder: string, name: string, change: (content: never) => object, otherwise = '{}'): void {
  const path = join(folder, name);
  const before = readdirSync(folder).includes(name) ? readFileSync(path, 'utf8') : otherwise;
  writeFileSync(path, JSON.stringify(change(JSON.parse(before) as never)));
}

/** Overwrites every nth value of the weights. */
function changeWeights(folder: string, every: number, half: number): void {
  const path = join(folder, 'model.safetensors');
  const bytes = readFileSync(path);
  for (let at = 8 + Number(bytes.readBigUInt64LE()); at < bytes.length; at += 2 * every) bytes.writeUInt16LE(half, at);
  writeFileSync(path, bytes);
}

const damages: [what: string, damage: (folder: string) => void, message: RegExp][] = [
  [
    'mel filters in another order',
    (folder) =>
      changeJson(folder, 'preprocessor_config.json', () => ({ mel_filters: Array.from({ length: 80 }, () => new Array(201).fill(0.01)) })),
    /mel filters in preprocessor_config\.json are not those of Whisper/,
  ],
  [
    'a wrong number of mel bins',
    (folder) => changeJson(folder, 'preprocessor_config.json', () => ({ feature_size: 128 })),
    /128 mel bins.*for 80/,
  ],
  [
    "another model's tokenizer",
    (folder) =>
      changeJson(folder, 'tokenizer.json', ({ added_tokens }: { added_tokens: { id: number }[] }) => ({
        added_tokens: added_tokens.map((token) => ({ ...token, id: token.id - 1 })),
      })),
    new RegExp(`tokenizer\\.json belongs to another model: <\\|endoftext\\|> is ${END_OF_TEXT - 1} in it`),
  ],
  ['1 % of its weights zeroed', (folder) => changeWeights(folder, 100, 0), /weights are damaged: 1\.\d % of them are exactly zero/],
  ['weights that are NaN', (folder) => changeWeights(folder, 50_000, 0x7e00), /damaged: model\.\S+ has values that are not numbers/],
  [
    'a tokenizer_config.json that was cut short',
    (folder) => writeFileSync(join(folder, 'tokenizer_config.json'), '{"added'),
    /Cannot read \S+tokenizer_config\.json: it is not a JSON object .*download it again/,
  ],
  [
    'truncated weights',
    (folder) => truncateSync(join(folder, 'model.safetensors'), 200_000),
    /its file ends early; copy or download the checkpoint/,
  ],
];
for (const [what, damage, message] of damages) {
  t.test(`importModel() rejects a checkpoint with ${what}, reports what it found, and leaves no files behind`, async (t) => {
    const folder = checkpoint();
    damage(folder);
    const home = t.testdir();
    await t.rejects(importModel(folder, { home, name: 'hurt' }), { message: message });
    t.notOk(readdirSync(join(home)).includes('models') && readdirSync(join(home, 'models')).length);
  });
}

const instead = "import its checkpoint in Hugging Face's layout: a folder with config\\.json, tokenizer\\.json and model\\.safetensors$";
const others: [what: string, files: Record<string, string>, path: string, message: RegExp][] = [
  [
    'a LoRA adapter',
    { 'adapter_config.json': '{}', 'adapter_model.safetensors': '' },
    '',
    /an adapter \(LoRA\).* merge it with its base model/,
  ],
  ['a model of CTranslate2', { 'config.json': '{"lang_ids": []}', 'model.bin': '' }, '', new RegExp(`of CTranslate2, .*; ${instead}`)],
  ['a model of whisper.cpp', { 'ggml-base.bin': 'lmgg' }, '/ggml-base.bin', new RegExp(`of whisper\\.cpp; ${instead}`)],
  ['the same in a folder', { 'ggml-base.bin': 'lmgg' }, '', new RegExp(`of whisper\\.cpp; ${instead}`)],
  ['the same in GGUF', { 'base.gguf': '' }, '/base.gguf', new RegExp(`of whisper\\.cpp; ${instead}`)],
  ['a checkpoint of OpenAI', { 'base.pt': '' }, '/base.pt', new RegExp(`a checkpoint of PyTorch, .*; ${instead}`)],
  [
    'weights without their folder',
    { 'model.safetensors': '' },
    '/model.safetensors',
    /it is a file, wanted a folder .*; import the folder/,
  ],
  ["a folder of Hugging Face's cache", { snapshots: '', refs: '' }, '', /Hugging Face's cache; import the folder in its snapshots/],
];
for (const [what, files, path, message] of others) {
  t.test(`importModel() says what to do with ${what}`, async (t) => {
    const folder = t.testdir({ given: files });
    await t.rejects(importModel(`${folder}/given${path}`, { home: join(folder, 'home'), name: 'other' }), { message });
  });
}

t.test('importModel() rejects a model that transcribes nothing correctly unless forced, and stores the measurements', async (t) => {
  const home = t.testdir();
  const folder = checkpoint();
  const measure = async () => found(0.9);
  await t.rejects(importModel(folder, { home, name: 'deaf', measure, quick: true }), {
    message:
      /Cannot put the model deaf into service: of 200 words in its best language \(en\) it got 180 wrong: .*mel bins in no particular order.*--force/,
  });
  t.strictSame(readdirSync(join(home, 'models')), []);
  const { descriptor } = await importModel(folder, { home, name: 'deaf', measure, quick: true, force: true });
  t.match(descriptor!.check, { rates: [{ language: 'en', errors: 180 }], rtfx: 10 });
  t.strictSame(await verifyModel('deaf', home), []);
});

t.test('importModel() rejects a model that is useless in float32 too before it tries anything faster', async (t) => {
  const seen: string[] = [];
  const measure = async (folder: string) => {
    seen.push(readWhisper(folder).variant);
    return found(0.9);
  };
  await t.rejects(importModel(checkpoint(), { home: t.testdir(), name: 'deaf', variant: 'int8', measure }), /into service/);
  t.strictSame(seen, ['int8', 'float32']);
});

t.test('importModel() tries nothing safer for a model that is useless in float32 too, however different its nonsense is', async (t) => {
  const seen: string[] = [];
  const measure = async (folder: string) => {
    const { variant } = readWhisper(folder);
    seen.push(variant);
    return found(variant === 'float32' ? 0.7 : 0.9);
  };
  await t.rejects(importModel(checkpoint(), { home: t.testdir(), name: 'deaf', variant: 'int8', measure }), /into service/);
  t.strictSame(seen, ['int8', 'float32']);
});

t.test('importModel() falls back to safer quantisation until int8 is as accurate as float32', async (t) => {
  const seen: string[] = [];
  const measure = async (folder: string) => {
    const { variant, recipe } = readWhisper(folder);
    const decoder = recipe.scales.rowwise.some((name) => name.includes('decoder'));
    seen.push(variant === 'float32' ? variant : decoder ? 'all by row' : recipe.scales.rowwise.length ? 'encoder by row' : 'by call');
    return found(variant === 'float32' || decoder ? 0.05 : 0.2, 0.9, 10 - seen.length);
  };
  const { folder: made } = await importModel(checkpoint(), { home: t.testdir(), name: 'outliers', variant: 'int8', measure });
  const descriptor = readWhisper(made);
  t.strictSame(seen.slice(0, 4), ['by call', 'float32', 'encoder by row', 'all by row']);
  t.equal(descriptor.variant, 'int8');
  t.ok(descriptor.recipe.scales.rowwise.includes('model.decoder.layers.1.encoder_attn.k_proj'));
  t.equal(descriptor.check!.reference![0]!.errors, 10);
});

t.test('importModel() takes float32, and tries nothing faster, if every form of 8 bits costs accuracy', async (t) => {
  const seen: string[] = [];
  const measure = async (folder: string) => {
    const { variant } = readWhisper(folder);
    seen.push(variant);
    return found(variant === 'float32' ? 0.05 : 0.2);
  };
  const { folder: made } = await importModel(checkpoint(), { home: t.testdir(), name: 'wide', variant: 'int8', measure });
  t.equal(readWhisper(made).variant, 'float32');
  t.strictSame(seen, ['int8', 'float32', 'int8', 'int8', 'float32']);
});

t.test('importModel() first gives scales per row to the matrices that a probe of the encoder found to need them', async (t) => {
  const seen: string[][] = [];
  const noisy = 'model.encoder.layers.1.fc1';
  const probe = async () => ({ [noisy]: [0.1, 0.001], 'model.encoder.layers.0.fc1': [0.001, 0.001] });
  const measure = async (folder: string) => {
    const { variant, recipe } = readWhisper(folder);
    seen.push([variant, ...recipe.scales.rowwise]);
    return found(variant === 'float32' || recipe.scales.rowwise.length ? 0.05 : 0.2, 0.9, 10 - seen.length);
  };
  const { folder: made } = await importModel(checkpoint(), { home: t.testdir(), name: 'noisy', variant: 'int8', measure, probe });
  t.strictSame(seen.slice(0, 3), [['int8'], ['float32'], ['int8', noisy]]);
  t.strictSame(readWhisper(made).recipe.scales.rowwise, [noisy]);
});

t.test('importModel() lets one of two concurrent imports of a name win, and the other does not change it', async (t) => {
  const home = t.testdir();
  const ends = await Promise.allSettled(
    [checkpoint(), checkpoint()].map((folder) => importModel(folder, { home, name: 'same', variant: 'int8' })),
  );
  const failed = ends.filter((end) => end.status === 'rejected');
  t.equal(failed.length, 1);
  t.match(String(failed[0]!.reason), /the name same/);
  t.strictSame(await verifyModel('same', home), []);
  t.strictSame(readdirSync(join(home, 'models')), ['same']);
});

t.test('refusal() recognises a foreign tokenizer by high confidence, and damage by low confidence', async (t) => {
  const folder = checkpoint();
  const shape = [4, 80, 3];
  const smooth = {
    shape: () => shape,
    float32: () => Float32Array.from({ length: 4 * 80 * 3 }, (_, i) => Math.sin(Math.floor(i / 3) / 8)),
  };
  t.ok(readsBinsInOrder(smooth), 'neighbouring bins have similar weights');
  const shuffled = {
    shape: () => shape,
    float32: () => Float32Array.from({ length: 4 * 80 * 3 }, (_, i) => Math.sin(Math.floor(i / 3) ** 2)),
  };
  t.notOk(readsBinsInOrder(shuffled));
  const other = /tokenizer\.json probably belongs to another model, or it was trained for another language than en, in which/;
  t.match(refusal(found(0.95, 0.9), folder, smooth), other);
  t.match(refusal(found(0.95, 0.2), folder, smooth), /damaged or were never trained/);
  t.equal(refusal(found(0.3), folder, smooth), null);
});

t.test('refusal() judges a model that was too slow for more than one clip by that', async (t) => {
  const folder = checkpoint();
  t.match(refusal(found(0.9, 0.2, 10, 30), folder), /of 30 words in its best language \(en\) it got 27 wrong/);
  t.equal(refusal(found(0.1, 0.9, 10, 30), folder), null);
});

t.test('tooFarOff() allows int8 1.5 percentage points, and more where chance explains it', async (t) => {
  t.notOk(tooFarOff(found(0.065), found(0.05)));
  t.ok(tooFarOff(found(0.07), found(0.05)), 'one error more in each of four clips');
  const bad = found(0.05).clips.map((clip, i) => (i === 3 ? { ...clip, errors: clip.errors + 4 } : clip));
  t.notOk(tooFarOff({ clips: bad }, found(0.05)), 'four errors more in one clip');
  const lost = found(0.05).clips.map((clip, i) => (i === 3 ? { ...clip, errors: clip.errors + 12 } : clip));
  t.ok(tooFarOff({ clips: lost }, found(0.05)), 'a clip that was lost');
});

t.test('tooFarOff() and increase() compare the clips that both reached in time', async (t) => {
  const easy = Array.from({ length: 6 }, () => ({ words: 20, errors: 1 }));
  const hard = Array.from({ length: 6 }, () => ({ words: 20, errors: 10 }));
  t.notOk(tooFarOff({ clips: [...easy, ...hard] }, { clips: easy }), 'a slow float32 model never reached the difficult ones');
  t.equal(increase({ clips: [...easy, ...hard] }, { clips: easy }), 0);
  t.ok(tooFarOff({ clips: hard }, { clips: [...easy, ...hard] }));
  t.equal(increase({ clips: hard }, { clips: easy }), 0.45);
});

t.test('importBytes() is what a build writes, whatever the precision of its checkpoint', async (t) => {
  const folder = join(scratch, 'deep');
  writeCheckpoint(folder, { ...SHAPES.plain!, encoderLayers: 12, decoderLayers: 12 }, 'F32');
  const parameters = parametersOf(readConfig(folder));
  const bytes = (variant: Variant, compared = false) => importBytes(parameters, variant, compared) - importBytes(0, variant, compared);
  for (const variant of ['float16', 'float32'] as const) {
    const { files } = await importModel(folder, { home: join(scratch, 'home'), name: variant, variant });
    const written = files.filter(({ name }) => name.includes('.onnx')).reduce((sum, file) => sum + file.bytes, 0);
    const share = written / bytes(variant);
    t.ok(share > 0.9 && share < 1.2, `${variant}: ${share}`); // the nodes of small graphs are large
  }
  t.equal(bytes('int8', true), bytes('int8') + bytes('float32'), 'with the float32 model for comparison');
  t.equal(bytes('float16', true), bytes('float16'), 'which is compared with nothing');
});
