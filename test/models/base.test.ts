import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hasByteDotProduct } from '../../models/cpu.ts';
import { SHIPPED, SHIPPED_FOLDER } from '../../models/manifest.ts';
import { verify } from '../../models/verify.ts';
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
  const cross = await network.encode(speech(), 1);
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
      // of the special tokens, which are never near, quantisation moves the logits most; logits range over 60
      const logits = name === 'special' ? 1.5 : 0.5;
      const [by, most] = part === 'encoder' || name === 'align' ? [apart(found, expected), 0.05] : [difference(found, expected), logits];
      t.ok(by < most, `${part}.${name}: ${by}`);
    }
  }
});

/** The first words of the recording that users upload first, as make.py reads them. */
function speech(): Float32Array {
  const wav = readFileSync(join(import.meta.dirname, '..', '..', 'bench', 'data', 'two-speakers.wav'));
  return Float32Array.from({ length: 4 * 16000 }, (_, i) => wav.readInt16LE(44 + 2 * i) / 32768);
}

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
