import t from 'tap';
import { melFilters } from '../../models/build/mel.ts';
import { quantise, toFloat16, transpose } from '../../models/build/quantise.ts';
import { fromFloat16 } from '../../models/build/safetensors.ts';
import { hasByteDotProduct, variantForCpu } from '../../models/cpu.ts';

t.test('quantise() turns each row into a column of steps of its own peak / 127, halves to even', (t) => {
  const { values, scales } = quantise(Float32Array.of(127, 2.5, -1.5, /**/ 0, 0, 0, /**/ -254, 1, 3), 3, 3, 127);
  t.strictSame([...values], [127, 0, -127, 2, 0, 0, -2, 0, 2]);
  t.strictSame([...scales], [1, Math.fround(Math.fround(1e-8) / 127), 2]);
  t.end();
});

t.test('quantise() stays within ±63 when asked for 7 bits', (t) => {
  const { values, scales } = quantise(Float32Array.of(6.3, -6.3, 0.1), 1, 3, 63);
  t.strictSame([...values], [63, -63, 1]);
  t.ok(Math.abs(scales[0]! - 0.1) < 1e-7);
  t.end();
});

t.test('transpose() turns matrices that are not multiples of its tiles', (t) => {
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

t.test('toFloat16() and fromFloat16() give back every finite half', (t) => {
  const halves = Uint16Array.from({ length: 65536 }, (_, i) => i).filter((h) => (h & 0x7c00) !== 0x7c00);
  t.strictSame(Buffer.compare(Buffer.from(toFloat16(fromFloat16(halves)).buffer), Buffer.from(halves.buffer)), 0);
  t.end();
});

t.test('toFloat16() rounds ties to even and keeps what does not fit finite', (t) => {
  const of = (value: number) => fromFloat16(toFloat16(Float32Array.of(value)))[0];
  t.equal(of(1 + 2 ** -11), 1);
  t.equal(of(1 + 3 * 2 ** -11), 1 + 2 ** -9);
  t.equal(of(2 ** -25), 0);
  t.equal(of(3 * 2 ** -25), 2 ** -23);
  t.equal(of(70000), 65504);
  t.equal(of(-1e30), -65504);
  t.end();
});

t.test('melFilters() have the area of 1 per Hz that Slaney gave them', (t) => {
  for (const mels of [80, 128]) {
    const filters = melFilters(mels);
    const area = filters.subarray((mels - 1) * 201).reduce((a, b) => a + b) * 40; // 40 Hz a bin
    t.ok(Math.abs(area - 1) < 0.02, `${mels}: ${area}`);
    t.equal(filters[0], 0);
  }
  t.end();
});

t.test('hasByteDotProduct() knows VNNI, the ARM dot product and what lacks them', (t) => {
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
