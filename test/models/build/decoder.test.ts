import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { lseOf } from '../../../engine/asr/whisper/decoding/sampling.ts';
import { float32 } from '../../../engine/runtime/session.ts';
import { VARIANTS, type Variant } from '../../../models/build/graph/graph.ts';
import { build } from '../../../models/build/whisper/build.ts';
import { hasByteDotProduct } from '../../../models/choosing/cpu.ts';
import { END_OF_TEXT, FIRST_TIMESTAMP, HEADS, SHAPES, samples, WIDTH, writeCheckpoint } from '../checkpoint.ts';
import { byChannel, cacheNames, difference, ids, numbers, type Outputs, openNetwork } from '../network.ts';

const home = mkdtempSync(join(tmpdir(), 'longhand-decoder-'));
t.teardown(() => rmSync(home, { recursive: true }));
const PROMPTS = [
  [257, 258, 261],
  [257, 259, 261],
];
const saturates = hasByteDotProduct() ? false : 'products of 8-bit numbers saturate on this processor';

async function built(name: string, variant: Variant): Promise<string> {
  writeCheckpoint(join(home, `${name}-checkpoint`), SHAPES.plain!, 'F16');
  await build(join(home, `${name}-checkpoint`), join(home, name), { variant });
  return join(home, name);
}

t.test('addDecoder() returns for rows at different positions what it returns for each alone', async (t) => {
  const network = await openNetwork(t, await built('rows', 'float32'));
  const cross = await network.encode(samples(), 2);
  const alone = await Promise.all([0, 1].map((row) => network.encode(samples().subarray(row * 32000, (row + 1) * 32000), 1)));
  const long = await network.step(alone[0]!, [[257, 258, 261]]);
  const longNext = await network.step(alone[0]!, [[10]]);
  network.forget();
  const short = await network.step(alone[1]!, [[257]]);
  const shortNext = await network.step(alone[1]!, [[11]]);
  const wide = (width: number, values: Float32Array[]) => {
    const size = 3 * width; // each row's cache has three positions; the second row uses one of them
    const data = new Float32Array(2 * HEADS * size);
    for (const [row, part] of values.entries()) {
      const each = part.length / HEADS;
      for (let h = 0; h < HEADS; h++) data.set(part.subarray(h * each, (h + 1) * each), (row * HEADS + h) * size);
    }
    return float32(data, [2, HEADS, 3, width]);
  };
  const feeds: Outputs = {
    tokens: ids([10, 11], [2, 1]),
    pos: ids([3, 1], [2, 1]),
    asked: ids([0, 1], [2]),
    mask: float32(Float32Array.of(0, 0, 0, 0, 0, -1e9, -1e9, 0), [2, 1, 1, 4]),
    ...cross,
  };
  for (const name of cacheNames(2)) {
    const cache = wide(
      WIDTH / HEADS,
      [long, short].map((step) => step[`n${name}`]!.data as Float32Array),
    );
    feeds[`p${name}`] = name.startsWith('k') ? byChannel(cache) : cache;
  }
  const together = await network.decode(feeds);
  for (const name of ['textMax', 'textLse', 'special', 'align', 'text']) {
    const apart = [...numbers(longNext[name]!), ...numbers(shortNext[name]!)];
    t.ok(difference(numbers(together[name]!), apart) < 1e-3, name);
  }
});

for (const variant of VARIANTS) {
  const skip = variant === 'int8' && saturates;
  t.test(`addDecoder() in ${variant} returns text outputs that agree with its logits, without special tokens`, { skip }, async (t) => {
    const from = join(home, `never-${variant}-checkpoint`);
    writeCheckpoint(from, SHAPES.plain!, 'F16');
    const plain = await build(from, join(home, `never-${variant}-not`), { variant }).then(() => firstStep(t, `never-${variant}-not`));
    const path = join(from, 'generation_config.json');
    const never = numbers(plain.textId!); // the most probable token of each row
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), suppress_tokens: [...never, FIRST_TIMESTAMP - 1] }));
    await build(from, join(home, `never-${variant}`), { variant });
    const { text, textId, textMax, textLse, special } = await firstStep(t, `never-${variant}`);
    for (const row of [0, 1]) {
      const logits = numbers(text!).slice(row * END_OF_TEXT, (row + 1) * END_OF_TEXT);
      const max = Math.max(...logits);
      t.equal(numbers(textMax!)[row], max);
      t.equal(numbers(textId!)[row], logits.indexOf(max));
      t.ok(Math.abs(numbers(textLse!)[row]! - lseOf(logits)) < 1e-4, 'textLse');
      t.notOk(never.includes(logits.indexOf(max)));
      t.ok(never.every((id) => logits[id]! < -50_000));
    }
    t.strictSame(numbers(special!), numbers(plain.special!), 'special tokens are unchanged');
  });
}

/** Decoder outputs of a built model for the prompts. */
async function firstStep(t: { teardown(after: () => unknown): void }, name: string): Promise<Outputs> {
  const network = await openNetwork(t, join(home, name));
  return network.step(await network.encode(samples(), 2), PROMPTS);
}

for (const variant of VARIANTS) {
  t.test(`addDecoder() in ${variant} omits text outputs if not requested, without changing the others`, async (t) => {
    const network = await openNetwork(t, await built(`nobody-${variant}`, variant));
    const cross = await network.encode(samples(), 2);
    const whole = await network.step(cross, PROMPTS);
    network.forget();
    const less = await network.step(cross, PROMPTS, []);
    t.equal(less.textMax!.data.length, 0);
    for (const name of ['special', 'align', 'nk1', 'nv0']) t.strictSame(numbers(less[name]!), numbers(whole[name]!), name);
  });
}
