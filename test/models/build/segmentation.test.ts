import { fileURLToPath } from 'node:url';
import t from 'tap';
import { decode } from '../../../engine/audio/decode.ts';
import { FRAMES_PER_WINDOW, LOCAL_SPEAKERS, type Local, WINDOW_SAMPLES } from '../../../engine/diarization/pyannote.ts';
import { segment } from '../../../engine/diarization/segmentation.ts';
import { openSession } from '../../../engine/runtime/session.ts';
import { hasByteDotProduct } from '../../../models/choosing/cpu.ts';
import { segmentationNetwork } from '../../../models/networks.ts';

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const path = at('models/diarization/segmentation-3.0.onnx');

/** Segmentation of two windows of a conversation of three speakers. */
async function segmented(t: { teardown(after: () => unknown): void }, network: string | Uint8Array): Promise<Local[]> {
  const session = await openSession(network);
  t.teardown(() => session.close());
  const recording = await decode(at('test/fixtures/audio/en_falcon_3spk.wav'));
  t.teardown(() => recording.close());
  await recording.decoded;
  const read = (second: number) =>
    recording.read('mix', second * 16_000, second * 16_000 + WINDOW_SAMPLES, new Float32Array(WINDOW_SAMPLES));
  return segment(session, await Promise.all([read(1), read(9)]));
}

/** Mean and maximum difference between the probabilities of two models. */
function apart(a: Local[], b: Local[]): { mean: number; most: number } {
  const gaps = a.flatMap(({ speakers, speech }, w) => [
    ...[...speakers].map((value, i) => Math.abs(value - b[w]!.speakers[i]!) / 255),
    ...[...speech].map((value, i) => Math.abs(value - b[w]!.speech[i]!) / 255),
  ]);
  t.equal(gaps.length, 2 * FRAMES_PER_WINDOW * (LOCAL_SPEAKERS + 1));
  return { mean: gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length, most: Math.max(...gaps) };
}

t.test('segmentation: the rebuilt model in float32 equals the published one', async (t) => {
  const { most } = apart(await segmented(t, await segmentationNetwork(path, 'float32')), await segmented(t, path));
  t.ok(most <= 1.001 / 255, `${most}`);
});

const saturates = hasByteDotProduct() ? false : 'the 8-bit products of this processor saturate: it never runs this';
for (const [variant, skip] of [
  ['int8', saturates],
  ['int8-7bit', false],
] as const) {
  t.test(`segmentation: the rebuilt model in ${variant} nearly equals the published one`, { skip }, async (t) => {
    const { mean, most } = apart(await segmented(t, await segmentationNetwork(path, variant)), await segmented(t, path));
    t.ok(mean > 0 && mean < 0.001, `${mean}`);
    t.ok(most < 0.07, `${most}`); // not exact: another order of summation rounds differently
  });
}

t.test('segmentation: another file is rejected by name', async (t) => {
  await t.rejects(segmentationNetwork(at('models/diarization/campplus-zh-en-common.onnx')), /found no weight n0\.weight/);
});
