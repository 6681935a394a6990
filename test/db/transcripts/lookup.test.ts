import t from 'tap';
import { emptyBits, set } from '../../../db/search/bits.ts';
import type { ListQuery } from '../../../db/transcripts/filter.ts';
import { FEW, lookUp } from '../../../db/transcripts/lookup.ts';

const SIZE = 800_000;
const bitsOf = (numbers: number[]) => {
  const bits = emptyBits(SIZE);
  set(bits, numbers);
  return bits;
};
const some = (many: number, from = 0, step = 1) => Array.from({ length: many }, (_, k) => from + k * step);
const PAGE: ListQuery = { status: 'completed', metadata: [], sort: '-created_at', limit: 20, offset: 0 };

t.test('lookUp() looks up few matches, and many only if the page lies further into the list than there are matches', async (t) => {
  const few = some(FEW, 0, 7);
  t.strictSame(lookUp(bitsOf(few), PAGE), few);
  const spread = some(10_000, 0, 80);
  t.equal(lookUp(bitsOf(spread), PAGE), null);
  t.equal(lookUp(bitsOf(spread), { ...PAGE, offset: 400 }), null);
  t.strictSame(lookUp(bitsOf(spread), { ...PAGE, offset: 600 }), spread);
  t.equal(lookUp(bitsOf(some(FEW, 0, 200)), PAGE, undefined, 0), null, 'nothing is excluded');
  t.equal(lookUp(bitsOf(some(100_000, 0, 8)), { ...PAGE, offset: 400 }), null);
  t.strictSame(lookUp(bitsOf(spread), { ...PAGE, offset: 400, sort: 'duration' }), spread);
});

t.test('lookUp() looks up matches that are all at the other end of the list, unless the list begins with them', async (t) => {
  const old = some(5_000);
  t.strictSame(lookUp(bitsOf(old), PAGE), old);
  t.equal(lookUp(bitsOf(old), { ...PAGE, sort: 'created_at' }), null);
  t.equal(lookUp(bitsOf(old), PAGE, bitsOf(some(6_000))), null);
});
