import t from 'tap';
import { Cache } from '../../../../../engine/asr/whisper/decoding/cache.ts';
import { type Facts, FORBIDDEN } from '../../../../../engine/asr/whisper/model.ts';
import { float32, type Tensor } from '../../../../../engine/runtime/session.ts';

const HEADS = 2;
const WIDTH = 2;
const facts = { layers: 1, heads: HEADS, headWidth: WIDTH } as Facts;

/** Decoder outputs for `tokens` new positions of some rows: each number encodes row, head, position and channel. */
function fresh(rows: number[], from: number, tokens: number): Record<string, Tensor> {
  const make = (sign: number) =>
    rows.flatMap((row) =>
      Array.from({ length: HEADS }, (_, head) =>
        Array.from({ length: tokens }, (_, k) =>
          Array.from({ length: WIDTH }, (_, c) => sign * (row * 10_000 + head * 1000 + (from + k) * 2 + c + 1)),
        ),
      ).flat(2),
    );
  const dims = [rows.length, HEADS, tokens, WIDTH];
  return { nk0: float32(Float32Array.from(make(1)), dims), nv0: float32(Float32Array.from(make(-1)), dims) };
}

/** Keys of the first `length` positions of a row, head by head; NaN where the value is not the negated key. */
function keys(cache: Cache, row: number, length: number): number[] {
  const { pk0, pv0 } = cache.feeds(row, 1, 1).feeds;
  const positions = pk0!.dims[3]!;
  const at = (head: number, position: number, channel: number) => {
    const key = (pk0!.data as Float32Array)[(head * WIDTH + channel) * positions + position]!;
    const value = (pv0!.data as Float32Array)[(head * positions + position) * WIDTH + channel]!;
    return key === -value ? key : Number.NaN;
  };
  return [0, 1].flatMap((head) => Array.from({ length: length * WIDTH }, (_, i) => at(head, Math.floor(i / WIDTH), i % WIDTH)));
}

function expected(row: number, length: number): number[] {
  return [...(fresh([row], 0, length).nk0!.data as Float32Array)];
}

t.test('Cache keeps every row when its layout grows and shrinks, in new or reused memory', async (t) => {
  const cache = new Cache(facts, [64, 128, 240, 448], 3);
  cache.grow(0, 3, 60, 3);
  cache.append(0, 3, 60, fresh([0, 1, 2], 0, 60));
  cache.grow(0, 3, 10, 3);
  t.equal(cache.feeds(0, 3, 1).feeds.pk0!.dims[3], 128, 'longer');
  cache.append(0, 3, 10, fresh([0, 1, 2], 60, 10));
  for (const row of [0, 1, 2]) t.strictSame(keys(cache, row, 70), expected(row, 70), `row ${row}`);
  for (const row of [0, 1, 2]) cache.rewind(row, 20);
  cache.shrink(3);
  t.equal(cache.feeds(0, 3, 1).feeds.pk0!.dims[3], 64, 'shorter');
  for (const row of [0, 1, 2]) t.strictSame(keys(cache, row, 20), expected(row, 20), `row ${row}`);
  cache.grow(0, 3, 90, 3);
  cache.append(0, 3, 90, fresh([0, 1, 2], 20, 90));
  for (const row of [0, 1, 2]) t.strictSame(keys(cache, row, 110), expected(row, 110), `row ${row}, in reused memory`);
});

t.test('Cache.copy() copies the positions of one row to another', async (t) => {
  const cache = new Cache(facts, [64, 128, 240, 448], 2);
  cache.append(0, 2, 30, fresh([0, 1], 0, 30));
  cache.rewind(1, 3);
  cache.copy(0, 1);
  t.strictSame(keys(cache, 1, 30), expected(0, 30));
  t.strictSame(cache.feeds(1, 1, 2).positions, BigInt64Array.of(30n, 31n));
});

t.test('Cache.feeds() masks unused positions of a row, and those after a new token', async (t) => {
  const cache = new Cache(facts, [64, 128, 240, 448], 2);
  cache.append(0, 1, 3, fresh([0], 0, 3));
  const { mask } = cache.feeds(0, 1, 2).feeds;
  t.strictSame(mask!.dims, [1, 1, 2, 66]);
  const seen = Array.from({ length: 2 }, (_, q) =>
    [...(mask!.data as Float32Array).slice(q * 66, (q + 1) * 66)].flatMap((v, i) => (v === 0 ? [i] : [])),
  );
  t.strictSame(seen, [
    [0, 1, 2, 64],
    [0, 1, 2, 64, 65],
  ]);
  t.ok((mask!.data as Float32Array).every((v) => v === 0 || v === Math.fround(FORBIDDEN)));
});

t.test('Cache refuses more positions than a model has', async (t) => {
  const cache = new Cache(facts, [64, 128, 240, 448], 1);
  t.throws(() => cache.grow(0, 1, 449, 1), { message: 'Cannot decode 449 tokens in one window: at most 448 fit' });
});
