import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hasByteDotProduct } from '../../models/cpu.ts';
import { SHIPPED, SHIPPED_FOLDER } from '../../models/manifest.ts';
import { verify } from '../../models/verify.ts';
import { samples } from './checkpoint.ts';
import { difference, numbers, type Outputs, openNetwork } from './network.ts';

/** What the network in plain numpy says of the same weights: fixtures/make.py. */
const wanted = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures', 'base.json'), 'utf8')) as Record<string, number[]>;

for (const { name } of SHIPPED) {
  t.test(`verify() finds the shipped ${name} whole, with its licence`, async (t) => {
    t.strictSame(await verify(join(SHIPPED_FOLDER, name)), []);
    t.ok(SHIPPED.find((manifest) => manifest.name === name)!.files.some((file) => file.name.startsWith('LICENSE')));
  });
}

const skip = hasByteDotProduct() ? false : 'products of 8-bit numbers saturate on this processor';
t.test('whisper-base in 8 bits predicts what the network in numpy does', { skip }, async (t) => {
  const network = await openNetwork(t, join(SHIPPED_FOLDER, 'whisper-base'));
  const cross = await network.encode(samples(), 1);
  const parts: [string, Outputs][] = [
    ['encoder', cross],
    ['step0', await network.step(cross, [[50258, 50259, 50359]])],
    ['step1', await network.step(cross, [[50364]])],
  ];
  for (const [part, tensors] of parts) {
    for (const [name, tensor] of Object.entries(tensors)) {
      const expected = wanted[`${part}.${name}`];
      if (!expected) continue;
      const found = name === 'align' ? meanOverHeads(numbers(tensor), expected.length) : numbers(tensor);
      // one scale for all rows behind a GELU, instead of one each, makes these three times larger, and so do layers 0 to 2 that look at every
      // frame instead of the means of two; logits range over 60
      const [by, most] = part === 'encoder' || name === 'align' ? [apart(found, expected), 0.08] : [difference(found, expected), 2];
      t.ok(by < most, `${part}.${name}: ${by}`);
    }
  }
});

/** Size of the difference as a part of the expected values. */
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
