import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import t from 'tap';
import { decodeGraph } from '../../models/build/graph/onnx.ts';
import { build } from '../../models/build/whisper/build.ts';
import { verify } from '../../models/checks/verify.ts';
import { checkOf, keepCheck } from '../../models/choosing/choose.ts';
import { fittingModel } from '../../models/choosing/fit.ts';
import type { Check } from '../../models/descriptor.ts';
import { importModel } from '../../models/install/importing.ts';
import { checkNew, findModel, listModels, type Model, removeModel, verifyAll, verifyModel } from '../../models/store.ts';
import { SHAPES, samples, writeCheckpoint } from './checkpoint.ts';
import { difference, numbers, openNetwork } from './network.ts';

const home = mkdtempSync(join(tmpdir(), 'longhand-store-'));
t.teardown(() => rmSync(home, { recursive: true }));
const checkpoint = join(home, 'checkpoint');
writeCheckpoint(checkpoint, SHAPES.plain!, 'F16');
writeFileSync(join(checkpoint, 'LICENSE'), 'MIT');

t.test('importModel() creates a model that can be listed, found and verified', async (t) => {
  const model = await importModel(checkpoint, { name: 'tiny', variant: 'int8', home, licence: 'MIT', source: 'a test' });
  t.match(await findModel('tiny', home), {
    name: 'tiny',
    kind: 'whisper',
    variant: 'int8',
    licence: 'MIT',
    source: 'a test',
    shipped: false,
  });
  t.strictSame(
    (await listModels(home)).map(({ name }) => name),
    ['whisper-base', 'diarization', 'tiny'],
  );
  t.strictSame(model.files.map(({ name }) => name).sort(), [
    'LICENSE',
    'config.json',
    'decoder.onnx',
    'encoder.onnx',
    'generation_config.json',
    'tokenizer.json',
  ]);
  t.strictSame(await verifyModel('tiny', home), []);
});

t.test('importModel() rejects names that are taken or invalid, and leaves no files after a failed import', async (t) => {
  await t.rejects(importModel(checkpoint, { name: 'tiny', home }), /the name tiny is taken.*models remove tiny/);
  await t.rejects(importModel(checkpoint, { name: 'whisper-base', home }), /taken/);
  await t.rejects(importModel(checkpoint, { name: '../out', home }), /Cannot name a model/);
  const named = /^Cannot name a model "_tuned": .* underscores, the first a letter or digit; choose another with --name$/;
  await t.rejects(importModel('/models/_tuned', { home }), { message: named });
  await t.rejects(importModel(join(home, 'models'), { name: 'none', home }), /expected a Whisper checkpoint/);
  await t.rejects(importModel(checkpoint, { name: 'stopped', home, signal: AbortSignal.abort() }), { name: 'AbortError' });
  t.strictSame(readdirSync(join(home, 'models')), ['tiny']);
});

t.test('verify() detects a flipped bit, a missing file and a truncated file', async (t) => {
  const { folder } = await importModel(checkpoint, { name: 'hurt', variant: 'int8', home });
  const path = join(folder, 'decoder.onnx');
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(path, bytes);
  t.match(await verify(folder), [/decoder\.onnx is damaged/]);
  writeFileSync(path, bytes.subarray(1));
  rmSync(join(folder, 'tokenizer.json'));
  t.strictSame((await verify(folder)).map((finding) => /has \d+ bytes|is missing/.exec(finding)?.[0].replace(/\d+/, 'N')).sort(), [
    'has N bytes',
    'is missing',
  ]);
  t.strictSame(await verifyModel('hurt', home), await verify(folder));
});

t.test('verifyAll() reports a model whose descriptor is damaged, and skips folders that are not models', async (t) => {
  const own = t.testdir({ models: { cut: { 'model.json': '{"name": "cut"' }, stray: { 'notes.txt': '' } } });
  const found = await verifyAll(own);
  t.strictSame(
    found.map(({ name, findings }) => [name, findings.length]),
    [
      ['whisper-base', 0],
      ['diarization', 0],
      ['cut', 1],
    ],
  );
  t.match(found[2]!.findings[0], /model\.json is not valid/);
});

t.test('removeModel() deletes imported models only', async (t) => {
  await removeModel('hurt', home);
  t.notOk(existsSync(join(home, 'models', 'hurt')));
  await t.rejects(removeModel('hurt', home), /Cannot find the model hurt: found whisper-base, tiny/);
  await t.rejects(removeModel('whisper-base', home), /part of the project/);
});

t.test(
  'removeModel() and importModel() delete the figures and conversions of a model, so that its successor does not get them',
  async (t) => {
    const home = t.testdir();
    const figures: Check = {
      at: '2026-01-01T00:00:00.000Z',
      machine: 'a test',
      rates: [],
      invented: 0,
      coverage: 1,
      rtfx: 9,
      threadBytes: 1,
    };
    const imported = () => importModel(checkpoint, { name: 'tiny', variant: 'int8', home });
    const measured = async () => {
      keepCheck('tiny', home, figures);
      await fittingModel('tiny', home, false);
      t.equal(checkOf(await findModel('tiny', home), home)?.rtfx, 9);
    };
    const none = (when: string) => {
      for (const folder of ['.checks', '.7bit']) t.strictSame(readdirSync(join(home, 'models', folder)), [], `${folder} ${when}`);
    };
    await imported();
    await measured();
    await removeModel('tiny', home);
    none('after the removal');
    await imported();
    await measured();
    rmSync(join(home, 'models', 'tiny'), { recursive: true }); // by hand
    await imported();
    none('after the import');
    t.equal(checkOf(await findModel('tiny', home), home), undefined);
  },
);

t.test('checkNew() refuses the name auto, which stands for the best model', async (t) => {
  await t.rejects(checkNew('auto', 'int8', home), /Cannot name a model "auto": LONGHAND_MODEL=auto selects the best of all/);
});

t.test('removeModel() deletes a model that only an earlier version could open, and every other command reports it', async (t) => {
  const folder = join(home, 'models', 'earlier');
  mkdirSync(folder);
  writeFileSync(join(folder, 'manifest.json'), '{}');
  await t.rejects(findModel('earlier', home), /it has no model\.json.*remove it \("longhand models remove"\)/);
  await t.rejects(checkNew('earlier', 'int8', home), /the name earlier is taken by .*earlier; remove it first/);
  await removeModel('earlier', home);
  t.notOk(existsSync(folder));
});

t.test('listModels() skips folders that are not models', async (t) => {
  mkdirSync(join(home, 'models', 'stray'));
  t.notOk((await listModels(home)).some(({ name }) => name === 'stray'));
});

t.test('listModels() follows links to models, and removeModel() deletes only the link', async (t) => {
  const own = t.testdir({ elsewhere: {} });
  const elsewhere = join(own, 'elsewhere');
  const { folder } = await importModel(checkpoint, { name: 'moved', variant: 'int8', home: own });
  renameSync(folder, join(elsewhere, 'moved'));
  symlinkSync(join(elsewhere, 'moved'), folder);
  symlinkSync(join(elsewhere, 'nowhere'), join(own, 'models', 'dangling'));
  t.match((await listModels(own)).at(-1), { name: 'moved', folder, shipped: false });
  t.match(await findModel('moved', own), { folder });
  t.strictSame(await verifyModel('moved', own), []);
  await removeModel('moved', own);
  t.notOk((await listModels(own)).some(({ name }) => name === 'moved'));
  t.strictSame(await verify(join(elsewhere, 'moved')), []);
});

t.test('fittingModel() returns the model itself where int8 products do not saturate', async (t) => {
  t.equal((await fittingModel('tiny', home, true)).folder, join(home, 'models', 'tiny'));
  await t.rejects(fittingModel('diarization', home, true), /Cannot recognise speech with diarization: it is for diarization; /);
});

t.test('fittingModel() returns the same model to concurrent callers, built from the current original', async (t) => {
  const home = t.testdir();
  const abandoned = join(home, 'models', '.7bit', 'tiny', 'x.partial'); // by a process that was killed an hour ago
  mkdirSync(abandoned, { recursive: true });
  utimesSync(abandoned, Date.now() / 1000 - 3700, Date.now() / 1000 - 3700);
  const before: string[] = [];
  for (const shape of [SHAPES.plain!, SHAPES.other!]) {
    const original = join(home, `checkpoint-${before.length}`);
    writeCheckpoint(original, shape, 'F16');
    const { folder: imported } = await importModel(original, { name: basename(original), variant: 'int8', home });
    rmSync(join(home, 'models', 'tiny'), { recursive: true, force: true });
    renameSync(imported, join(home, 'models', 'tiny')); // by hand
    const all = await Promise.all(Array.from({ length: 4 }, () => fittingModel('tiny', home, false)));
    const [{ folder }] = all as [Model, ...Model[]];
    t.equal(new Set(all.map(({ createdAt }) => createdAt)).size, 1);
    t.notOk(before.includes(folder));
    t.strictSame(readdirSync(join(home, 'models', '.7bit', 'tiny')), [basename(folder)], 'and no conversion of an earlier original');
    t.strictSame(await verify(folder), []);
    before.push(folder);
  }
});

t.test('fittingModel() converts an int8 model once where products saturate, and stays close to float32', async (t) => {
  const fitted = await fittingModel('tiny', home, false);
  t.match(fitted, { name: 'tiny', variant: 'int8-7bit' });
  t.strictSame(await verify(fitted.folder), []);
  const { nodes, weights, shapes } = decodeGraph(readFileSync(join(fitted.folder, 'encoder.onnx')));
  const products = ['DynamicQuantizeMatMul', 'MatMulIntegerToFloat'];
  const names = nodes.flatMap(({ op, inputs }) => (products.includes(op) && weights.has(inputs[1]!) ? inputs[1]! : []));
  const { encoderLayers, decoderLayers } = SHAPES.plain!;
  t.equal(names.length, 2 + 6 * encoderLayers + 2 * decoderLayers, 'including those of nested subgraphs');
  for (const name of names) {
    const bytes = weights.get(name)!;
    const values = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    const columns = shapes.get(name)![1]!;
    t.ok(values.every((value, i) => Math.floor(i / columns) % 2 === 0 || Math.abs(value + values[i - columns]!) <= 128));
  }
  const again = await fittingModel('tiny', home, false);
  t.equal(again.createdAt, fitted.createdAt);
  const exact = join(home, 'exact');
  await build(checkpoint, exact, { variant: 'float32' });
  const [ours, theirs] = [await openNetwork(t, fitted.folder), await openNetwork(t, exact)];
  const [cross, reference] = [await ours.encode(samples(), 2), await theirs.encode(samples(), 2)];
  t.equal(
    numbers(cross.ck0!).reduce((most, byte) => Math.max(most, Math.abs(byte)), 0),
    63,
  );
  const steps = reference.ck0!.dims.at(-1)!;
  const ratios = numbers(cross.ksc0!).map((scale, i) => {
    const keys = numbers(reference.ck0!).slice(i * steps, (i + 1) * steps);
    return (63 * scale) / Math.max(...keys.map(Math.abs));
  });
  const mean = ratios.reduce((a, b) => a + b) / ratios.length;
  t.ok(Math.abs(mean - 1) < 0.02, `keys have the same range as in float32: ${mean}`);
  const prompts = [
    [257, 258, 261],
    [257, 259, 261],
  ];
  const [found, wanted] = [await ours.step(cross, prompts), await theirs.step(reference, prompts)];
  t.ok(difference(numbers(found.special!), numbers(wanted.special!)) < 0.6);
});
