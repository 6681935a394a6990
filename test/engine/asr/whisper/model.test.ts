import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { DecodeResult } from '../../../../engine/asr/whisper/decoding/decode-job.ts';
import { isPoor } from '../../../../engine/asr/whisper/guards/quality.ts';
import { factsOf, openWhisper } from '../../../../engine/asr/whisper/model.ts';
import { build } from '../../../../models/build/whisper/build.ts';
import { readDescriptor, readWhisper } from '../../../../models/descriptor.ts';
import { DEFAULT } from '../../../../models/recipes/default.ts';
import { WHISPER_BASE_THRESHOLDS } from '../../../../models/thresholds.ts';
import { SHAPES, writeCheckpoint } from '../../../models/checkpoint.ts';

const home = mkdtempSync(join(tmpdir(), 'longhand-model-'));
t.teardown(() => rmSync(home, { recursive: true }));
const checkpoint = join(home, 'checkpoint');
writeCheckpoint(checkpoint, SHAPES.plain!, 'F16');

t.test('openWhisper() takes the layout of cross-attention keys from the descriptor, and it matches the graphs', async (t) => {
  const folder = join(home, 'present');
  const recipe = { ...DEFAULT, pooledLayers: [0] };
  await build(checkpoint, folder, { variant: 'int8', recipe });
  const model = await openWhisper(folder, readWhisper(folder));
  t.teardown(() => model.close());
  t.match(model.layout, { keysPerBlock: 250, framesPerKey: [2, 1] });
  t.equal(model.decoder.dimensions('ck0').at(-1), 250);
  t.strictSame(
    ['cv0', 'cv1'].map((name) => model.decoder.dimensions(name).at(-2)),
    ['S/2', 'S'],
  );
});

t.test('readDescriptor() refuses models of another version, with the remedy', async (t) => {
  const folder = join(home, 'earlier');
  await build(checkpoint, folder, { variant: 'int8' });
  const path = join(folder, 'model.json');
  const text = readFileSync(path, 'utf8');
  const remedy = 'remove it ("longhand models remove") and import or pull it again';
  for (const [content, found] of [
    [text.replace('"interface": 1', '"interface": 99'), 'its graphs were built by another version'],
    [text.replace('"architecture": "whisper"', '"architecture": "parrot"'), 'model.json is not valid'],
    ['no JSON', 'model.json is not valid'],
  ] as const) {
    writeFileSync(path, content);
    t.throws(() => readDescriptor(folder), { message: new RegExp(`Cannot open the model in .*earlier: .*${found}`) });
  }
  rmSync(path);
  t.throws(() => readDescriptor(folder), {
    code: 'ENOENT',
    message: new RegExp(`from an earlier version.*${remedy.replace(/[()]/g, '.')}`),
  });
});

t.test('thresholds come from the descriptor; descriptors of earlier versions get those of Whisper base', async (t) => {
  const folder = join(home, 'own-thresholds');
  await build(checkpoint, folder, { variant: 'int8' });
  const { thresholds, ...earlier } = readWhisper(folder);
  t.strictSame(thresholds, WHISPER_BASE_THRESHOLDS);
  writeFileSync(join(folder, 'model.json'), JSON.stringify(earlier));
  t.strictSame(factsOf(readWhisper(folder)).thresholds, WHISPER_BASE_THRESHOLDS);
  writeFileSync(join(folder, 'model.json'), JSON.stringify({ ...earlier, thresholds: { ...thresholds, poorLogProb: -2 } }));
  const facts = factsOf(readWhisper(folder));
  const result = { meanLogProb: -1.5, tokens: [1, 2, 3] } as DecodeResult;
  t.notOk(isPoor(result, 'Good morning.', facts), 'not for this model');
  t.ok(isPoor(result, 'Good morning.', { thresholds }), 'but for base');
});

t.test('openWhisper() refuses 8-bit models on a GPU, with the remedy', async (t) => {
  const folder = join(home, 'eight');
  await build(checkpoint, folder, { variant: 'int8' });
  await t.rejects(openWhisper(folder, readWhisper(folder), { device: 'cuda' }), {
    message:
      'Cannot run eight on cuda: its int8 models are for cpu; make one that is with "longhand models import eight --variant float16"',
  });
});
