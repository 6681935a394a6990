import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SHIPPED_FOLDER } from '../../models/manifest.ts';
import { diarizationNetworks, segmentationNetwork, voiceNetwork } from '../../models/networks.ts';

const shipped = join(SHIPPED_FOLDER, 'diarization');

t.test('diarizationNetworks() converts the models of a folder once per process, into memory that threads share', async (t) => {
  const [first, second] = await Promise.all([diarizationNetworks(shipped), diarizationNetworks(shipped)]);
  t.equal(first, second);
  t.ok(first.voice.buffer instanceof SharedArrayBuffer);
  t.ok(Buffer.from(first.voice).equals(await voiceNetwork(join(shipped, 'campplus-zh-en-common.onnx'))));
  t.ok(Buffer.from(first.segmentation).equals(await segmentationNetwork(join(shipped, 'segmentation-3.0.onnx'))));
});

t.test('diarizationNetworks() does not remember a failure', async (t) => {
  const folder = join(t.testdir(), 'diarization');
  await t.rejects(diarizationNetworks(folder), { code: 'ENOENT' });
  symlinkSync(shipped, folder);
  t.ok((await diarizationNetworks(folder)).voice.length);
});
