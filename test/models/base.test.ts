import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hasByteDotProduct } from '../../models/cpu.ts';
import { SHIPPED, SHIPPED_FOLDER } from '../../models/manifest.ts';
import { verify } from '../../models/verify.ts';
import { samples } from './checkpoint.ts';
import { difference, numbers, openNetwork, type Outputs } from './network.ts';

/** What the Python builder's graphs say of the same weights: fixtures/make.py. */
const wanted = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures', 'base.json'), 'utf8')) as Record<string, number[]>;

for (const { name } of SHIPPED) {
  t.test(`verify() finds the shipped ${name} whole, with its licence`, async (t) => {
    t.strictSame(await verify(join(SHIPPED_FOLDER, name)), []);
    t.ok(SHIPPED.find((manifest) => manifest.name === name)!.files.some((file) => file.name.startsWith('LICENSE')));
  });
}

const skip = hasByteDotProduct() ? false : 'products of 8-bit numbers saturate on this processor';
t.test('whisper-base predicts what the Python builder made of the same weights', { skip }, async (t) => {
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
      // logits range over 60; one activation that rounds to the other side moves them by a tenth or two
      const found = name === 'align' ? meanOverHeads(numbers(tensor), expected.length) : numbers(tensor);
      const by = difference(found, expected);
      t.ok(by < (part === 'encoder' ? 1e-4 : name === 'align' ? 0.03 : 0.7), `${part}.${name}: ${by}`);
    }
  }
});

function meanOverHeads(values: number[], frames: number): number[] {
  const heads = values.length / frames;
  return Array.from(
    { length: frames },
    (_, i) => Array.from({ length: heads }, (_, h) => values[h * frames + i]!).reduce((a, b) => a + b) / heads,
  );
}
