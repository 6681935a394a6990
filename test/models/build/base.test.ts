import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { verify } from '../../../models/checks/verify.ts';
import { manifestOf, SHIPPED, SHIPPED_FOLDER } from '../../../models/manifest.ts';
import { shippedModels } from '../../support/engine/models.ts';
import { difference, numbers, openNetwork, summarised } from '../network.ts';

/** Outputs of the numpy implementation for the same weights (fixtures/make.py). */
const wanted = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'fixtures', 'base.json'), 'utf8')) as Record<string, number[]>;

for (const name of SHIPPED) {
  t.test(`verify() finds the shipped ${name} complete, with its licence`, async (t) => {
    t.strictSame(await verify(join(SHIPPED_FOLDER, name)), []);
    t.ok(manifestOf(join(SHIPPED_FOLDER, name)).files.some((file) => file.name.startsWith('LICENSE')));
  });
}

t.test('whisper-base in int8, as it runs here, predicts the same tokens as the numpy reference', async (t) => {
  const { whisper } = await shippedModels(t.testdir());
  const network = await openNetwork(t, whisper);
  const cross = await network.encode(speech(), 1);
  for (const [name, bytes] of [
    ['ksc0', cross.ck0!],
    ['vsc5', cross.cv5!],
  ] as const) {
    const peak = numbers(bytes).reduce((most, byte) => Math.max(most, Math.abs(byte)), 0); // 127, or 63 on processors whose 8-bit products saturate
    const found = numbers(cross[name]!).map((scale) => (scale * peak) / 127);
    t.ok(apart(found, wanted[`encoder.${name}`]!) < 0.05, name);
  }
  const steps = [summarised(await network.step(cross, [[50258, 50259, 50359]])), summarised(await network.step(cross, [[50364]]))];
  for (const [i, step] of steps.entries()) {
    // The first positions have the largest activations, and quantisation shifts all logits alike, so log-probabilities are compared. Those
    // of special tokens, which are far from the maximum, differ most.
    const [lse] = numbers(step.lse!) as [number];
    const [expected] = wanted[`step${i}.lse`] as [number];
    for (const [name, most] of Object.entries({ textMax: 0.5, timeMax: 0.5, timeLse: 0.5, special: 1.5 })) {
      const found = numbers(step[name]!).map((logit) => logit - lse);
      const by = difference(
        found,
        wanted[`step${i}.${name}`]!.map((logit) => logit - expected),
      );
      t.ok(by < most, `step${i}.${name}: ${by}`);
    }
  }
  const align = wanted['step1.align']!;
  const by = apart(meanOverHeads(numbers(steps[1]!.align!), align.length), align);
  t.ok(by < 0.1, `step1.align: ${by}`); // 0.086 where products saturate; 0.13 if all heads attended to all frames
});

/** A sentence of two-speakers.wav, the same range as in fixtures/make.py. */
function speech(): Float32Array {
  const wav = readFileSync(join(import.meta.dirname, '..', '..', '..', 'bench', 'data', 'two-speakers.wav'));
  return Float32Array.from({ length: 200 * 352 }, (_, i) => wav.readInt16LE(44 + 2 * (10 * 16000 + i)) / 32768);
}

/** Norm of the difference relative to that of the expected values. */
function apart(found: number[], expected: number[]): number {
  const size = (values: number[]) => Math.hypot(...values);
  return size(found.map((value, i) => value - expected[i]!)) / size(expected);
}

function meanOverHeads(values: number[], frames: number): number[] {
  const heads = values.length / frames;
  return Array.from(
    { length: frames },
    (_, i) => Array.from({ length: heads }, (_, h) => values[h * frames + i]!).reduce((a, b) => a + b) / heads,
  );
}
