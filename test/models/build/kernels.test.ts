import t from 'tap';
import { seeded } from '../../../bench/random.ts';
import { foldedFrames, MARGIN_SAMPLES } from '../../../engine/asr/whisper/frames.ts';
import { openSession, tensor } from '../../../engine/runtime/session.ts';
import { cast, constant, createGraph, input, op, output } from '../../../models/build/graph/graph.ts';
import { ELEMENT } from '../../../models/build/graph/onnx.ts';
import { quantise, toFloat16, transpose, withoutSaturation } from '../../../models/build/graph/quantise.ts';
import { toBytes } from '../../../models/build/graph/write.ts';
import { foldedFilters, foldedKernels, melFilters } from '../../../models/build/whisper/mel.ts';
import { fromFloat16 } from '../../../models/build/whisper/safetensors.ts';
import { hasByteDotProduct, variantForCpu } from '../../../models/choosing/cpu.ts';

t.test('quantise() turns each row into a column in steps of its peak / 127, and rounds half to even', (t) => {
  const { values, scales } = quantise(Float32Array.of(127, 2.5, -1.5, /**/ 0, 0, 0, /**/ -254, 1, 3), 3, 3, false);
  t.strictSame([...values], [127, 0, -127, 2, 0, 0, -2, 0, 2]);
  t.strictSame([...scales], [1, Math.fround(Math.fround(1e-8) / 127), 2]);
  t.end();
});

const [ROWS, COLUMNS] = [48, 64];
const random = seeded(5);
/** Mostly small values; each row has two large neighbours, with equal signs in every tenth row and opposite signs in the others. */
const uneven = Float32Array.from({ length: ROWS * COLUMNS }, (_, i) => {
  if (i % COLUMNS > 1) return random.between(-0.3, 0.3);
  return i % 2 && Math.floor(i / COLUMNS) % 10 ? -1 : 1;
});

/** Sums of pairs of neighbouring inputs per channel, from values [K x N]. */
function pairSums(values: Int8Array, rows: number): number[] {
  const sums: number[] = [];
  for (let i = 0; i < values.length; i++) if (Math.floor(i / rows) % 2) sums.push(values[i]! + values[i - rows]!);
  return sums;
}

t.test('quantise() keeps the sum of two neighbours within ±128 where products saturate, with the largest possible scale', (t) => {
  const { values, scales } = quantise(uneven, ROWS, COLUMNS, true);
  const plain = quantise(uneven, ROWS, COLUMNS, false);
  t.ok(Math.max(...pairSums(plain.values, ROWS).map(Math.abs)) > 250);
  t.ok(Math.max(...pairSums(values, ROWS).map(Math.abs)) <= 128);
  t.equal(Math.max(...values), 127);
  for (let n = 0; n < ROWS; n++) {
    const growth = scales[n]! / plain.scales[n]!;
    t.ok(n % 10 ? growth === 1 : growth > 1.9 && growth < 2, `row ${n}: ${growth}`);
  }
  t.end();
});

t.test('withoutSaturation() applies the same bounds to already quantised matrices', (t) => {
  const { values } = quantise(uneven, ROWS, COLUMNS, false);
  const before = values.slice();
  const growth = withoutSaturation(values, ROWS);
  t.ok(Math.max(...pairSums(values, ROWS).map(Math.abs)) <= 128);
  for (let i = 0; i < values.length; i++) {
    const n = i % ROWS;
    if (growth[n] === 1) t.equal(values[i], before[i]);
    else t.ok(Math.abs(values[i]! * growth[n]! - before[i]!) <= growth[n]! / 2 + 1e-4, `${before[i]} in row ${n}`);
  }
  t.end();
});

t.test('withoutSaturation(): products with the largest bytes are exact on this processor', async (t) => {
  const { values } = quantise(uneven, ROWS, COLUMNS, true);
  const g = createGraph({ shape: () => [], float32: () => new Float32Array() }, 'int8-7bit');
  const bytes = input(g, 'bytes', 'uint8', ['M', COLUMNS]);
  const matrix = constant(g, 'int8', [COLUMNS, ROWS], () => values);
  output(g, 'sums', cast(g, op(g, 'MatMulInteger', [bytes, matrix]), ELEMENT.float32), 'float32', ['M', ROWS]);
  const session = await openSession(toBytes(g));
  t.teardown(() => session.close());
  for (const rows of [1, 8, 61]) {
    const data = Uint8Array.from({ length: rows * COLUMNS }, (_, i) => (i % 7 < 6 ? 255 : 0));
    const { sums } = await session.run({ bytes: tensor('uint8', data, [rows, COLUMNS]) });
    const wanted = Float32Array.from({ length: rows * ROWS }, (_, i) => {
      let sum = 0;
      for (let k = 0; k < COLUMNS; k++) sum += data[Math.floor(i / ROWS) * COLUMNS + k]! * values[k * ROWS + (i % ROWS)]!;
      return sum;
    });
    t.strictSame(sums!.data, wanted, `${rows} rows`);
  }
});

t.test('transpose() transposes matrices whose sizes are not multiples of its tiles', (t) => {
  const [rows, columns] = [70, 131];
  const turned = transpose(
    Float32Array.from({ length: rows * columns }, (_, i) => i),
    rows,
    columns,
  );
  for (const [n, k] of [
    [0, 0],
    [69, 130],
    [64, 64],
    [3, 129],
  ] as const)
    t.equal(turned[k * rows + n], n * columns + k);
  t.end();
});

t.test('toFloat16() and fromFloat16() round-trip every finite half', (t) => {
  const halves = Uint16Array.from({ length: 65536 }, (_, i) => i).filter((h) => (h & 0x7c00) !== 0x7c00);
  t.strictSame(Buffer.compare(Buffer.from(toFloat16(fromFloat16(halves)).buffer), Buffer.from(halves.buffer)), 0);
  t.end();
});

t.test('toFloat16() rounds half to even and clamps out-of-range values to finite ones', (t) => {
  const of = (value: number) => fromFloat16(toFloat16(Float32Array.of(value)))[0];
  t.equal(of(1 + 2 ** -11), 1);
  t.equal(of(1 + 3 * 2 ** -11), 1 + 2 ** -9);
  t.equal(of(2 ** -25), 0);
  t.equal(of(3 * 2 ** -25), 2 ** -23);
  t.equal(of(70000), 65504);
  t.equal(of(-1e30), -65504);
  t.end();
});

t.test('melFilters() have an area of 1 per Hz (Slaney normalisation)', (t) => {
  for (const mels of [80, 128]) {
    const filters = melFilters(mels);
    const area = filters.subarray((mels - 1) * 201).reduce((a, b) => a + b) * 40; // 40 Hz per bin
    t.ok(Math.abs(area - 1) < 0.02, `${mels}: ${area}`);
    t.equal(filters[0], 0);
  }
  t.end();
});

t.test('foldedKernels() and foldedFilters() on folded frames equal a Fourier transform and the filters on the frames', (t) => {
  const [hop, frames] = [176, 6];
  const samples = Float32Array.from({ length: hop * frames }, (_, i) => Math.sin(i * i * 0.0007) + 0.3 * Math.sin(i * 1.3));
  const at = (i: number) => samples[i < 0 ? -i : i >= samples.length ? 2 * samples.length - 2 - i : i]!; // reflection padding
  const sound = new Float32Array(samples.length + 2 * MARGIN_SAMPLES);
  sound.set(samples, MARGIN_SAMPLES);
  const folded = foldedFrames(sound, hop, new Float32Array(frames * 400));
  const [kernels, filters, sides] = [foldedKernels(), melFilters(80), foldedFilters(80)];
  for (let f = 0; f < frames; f++) {
    const power = Array.from({ length: 201 }, (_, k) => {
      let [real, imaginary] = [0, 0];
      for (let n = 0; n < 400; n++) {
        const value = at(f * hop + n - 200) * (0.5 - 0.5 * Math.cos((2 * Math.PI * n) / 400));
        real += value * Math.cos((2 * Math.PI * n * k) / 400);
        imaginary += value * Math.sin((2 * Math.PI * n * k) / 400);
      }
      return real * real + imaginary * imaginary;
    });
    const halves = [1, -1].flatMap((sign) =>
      Array.from({ length: 101 }, (_, k) => {
        const sums = [0, 1, 2, 3].map((part) => {
          let sum = 0;
          for (let i = 0; i < 100; i++) sum += folded[(part * frames + f) * 100 + i]! * kernels[(part * 100 + i) * 101 + k]!;
          return sum;
        }) as [number, number, number, number];
        return (sums[0] + sign * sums[2]) ** 2 + (sums[1] + sign * sums[3]) ** 2;
      }),
    );
    for (let m = 0; m < 80; m++) {
      const wanted = power.reduce((sum, value, k) => sum + value * filters[m * 201 + k]!, 0);
      const found = halves.reduce((sum, value, k) => sum + value * sides[k * 80 + m]!, 0);
      if (Math.abs(found - wanted) > 1e-4 * wanted + 1e-7) t.fail(`frame ${f}, band ${m}: ${found}, wanted ${wanted}`);
    }
  }
  t.end();
});

t.test('hasByteDotProduct() recognises VNNI, the ARM dot product, and processors without them', (t) => {
  t.ok(hasByteDotProduct('x64', 'flags : fpu avx2 avx512_vnni'));
  t.ok(hasByteDotProduct('x64', 'flags : fpu avx2 avx_vnni sha'));
  t.notOk(hasByteDotProduct('x64', 'flags : fpu avx2 avx512f avx512bw'));
  t.notOk(hasByteDotProduct('x64', ''));
  t.ok(hasByteDotProduct('arm64', 'Features : fp asimd asimddp'));
  t.notOk(hasByteDotProduct('arm64', 'Features : fp asimd'));
  t.ok(hasByteDotProduct('arm64', ''), 'Apple');
  t.equal(variantForCpu(true), 'int8');
  t.equal(variantForCpu(false), 'int8-7bit');
  t.end();
});
