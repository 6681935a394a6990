import fc from 'fast-check';
import t from 'tap';
import { bucketOf, type Postings, pack, unpack } from '../../../db/search/postings.ts';
import { TERM_BITS } from '../../../db/search/terms.ts';

const shapes = fc
  .record({
    first: fc.integer({ min: 1, max: 1_000_000 }),
    size: fc.integer({ min: 1, max: 3_000 }),
    level: fc.integer({ min: 0, max: 5 }),
  })
  .map(({ first, size, level }) => ({ first, last: first + size - 1, bits: level * 4 }));

t.test('unpack() restores what pack() was given, bucket by bucket', async () => {
  fc.assert(
    fc.property(shapes, fc.array(fc.tuple(fc.maxSafeNat(), fc.double({ min: 0, max: 1, noNaN: true }))), (shape, drawn) => {
      const buckets = new Map<number, Postings>();
      for (const [seed, share] of drawn) {
        const term = seed % 2 ** TERM_BITS;
        const numbers = [];
        for (let number = shape.first; number <= shape.last; number += 1 + Math.floor(share * 50)) numbers.push(number);
        const bucket = bucketOf(term, shape.bits);
        buckets.set(bucket, (buckets.get(bucket) ?? new Map()).set(term, numbers));
      }
      for (const [bucket, postings] of buckets) {
        const found: Postings = new Map();
        unpack(pack(postings, shape), bucket, shape, (term, numbers) => found.set(term, numbers));
        if (JSON.stringify([...found]) !== JSON.stringify([...postings].sort(([a], [b]) => a - b))) return false;
      }
      return true;
    }),
  );
});

t.test('pack() uses one byte for a number close to the previous one, and less where most transcripts contain the term', async (t) => {
  const shape = { first: 1, last: 1024, bits: 8 };
  const every = (step: number) => Array.from({ length: 1024 / step }, (_, i) => 1 + i * step);
  t.ok(pack(new Map([[7, every(16)]]), shape).length <= 64 + 4);
  t.ok(pack(new Map([[7, every(1)]]), shape).length <= 128 + 4);
});

t.test('unpack() returns only the requested terms', async (t) => {
  const shape = { first: 1, last: 64, bits: 4 };
  const postings: Postings = new Map([3, 5, 9].map((term) => [term, [1, 2]]));
  const told: number[] = [];
  unpack(pack(postings, shape), 0, shape, (term) => told.push(term), new Set([5, 9]));
  t.strictSame(told, [5, 9]);
});

t.test('pack() refuses numbers that are not ascending or outside the block', async (t) => {
  for (const numbers of [[5, 3], [3, 3], [0], [65]])
    t.throws(() => pack(new Map([[7, numbers]]), { first: 1, last: 64, bits: 4 }), /Cannot pack/);
});
