import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openWhisper } from '../../../../engine/asr/whisper/model.ts';
import { createGraph, input, op, output } from '../../../../models/build/graph/graph.ts';
import { build } from '../../../../models/build/whisper/build.ts';
import { writeModel } from '../../../../models/build/whisper/write.ts';
import { HEADS, SHAPES, WIDTH, writeCheckpoint } from '../../../models/checkpoint.ts';

const home = mkdtempSync(join(tmpdir(), 'longhand-model-'));
t.teardown(() => rmSync(home, { recursive: true }));
const checkpoint = join(home, 'checkpoint');
writeCheckpoint(checkpoint, SHAPES.plain!, 'F16');

t.test('openWhisper() reads from the networks how the keys of the cross-attention lie', async (t) => {
  const folder = join(home, 'present');
  await build(checkpoint, folder, { variant: 'int8' });
  const model = await openWhisper(folder);
  t.teardown(() => model.close());
  t.equal(model.keysPerBlock, 250);
  t.strictSame(model.framesPerKey, [1, 1]);
});

t.test('openWhisper() refuses networks of an earlier version, and says what to do', async (t) => {
  const folder = join(home, 'earlier');
  await build(checkpoint, folder, { variant: 'int8' });
  const g = createGraph({ shape: () => [], float32: () => new Float32Array() }, 'int8');
  const dims = ['B', HEADS, WIDTH / HEADS, 'P'];
  output(g, 'nk0', op(g, 'Neg', [input(g, 'pk0', 'float32', dims)]), 'float32', dims);
  input(g, 'bias', 'float32', ['B', 'V']); // the network was told which tokens are forbidden
  await writeModel(join(folder, 'decoder.onnx'), g);
  await t.rejects(openWhisper(folder), {
    message: `Cannot open the model in ${folder}: its networks were made by an earlier version; remove it ("longhand models remove") and import or pull it again`,
  });
});
