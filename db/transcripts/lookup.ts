import { type Bits, count, numbersOf, reach } from '../search/bits.ts';
import type { Found } from '../search/match.ts';
import type { ListQuery } from './filter.ts';

/*
 * Two ways to a page of matches: each is looked up by its number and all are sorted, or rows are tested in the order of the list until the
 * page is full. The way that is estimated to be faster is taken.
 */

/** Looking up a match takes as long as testing this many rows in the order of creation: 45 and 8 microseconds (bench/search/search.ts, one machine). */
const TESTED_MEANWHILE = 4;

/** A query that only finds the matches of a search. `few`: 0 if the query excludes none of them. */
export function within(query: ListQuery, found: Found, few = FEW): ListQuery {
  return { ...query, found: { ...found, numbers: lookUp(found.bits, query, undefined, few) } };
}

/** This many matches are always looked up: matches that a filter excludes are tested as well, but not foreseen. */
export const FEW = 4_000;

/**
 * The numbers to be looked up; null: rows are to be tested. `candidates`: numbers of the list, if known. Numbers mostly ascend with the time
 * of creation, which tells how far the list must be read.
 */
export function lookUp(matches: Bits, { sort, limit, offset }: ListQuery, candidates?: Bits, few = FEW): number[] | null {
  const [found, wanted] = [count(matches), offset + limit];
  if (found <= few) return [...numbersOf(matches)];
  const end = sort === 'created_at' ? 'lowest' : 'highest';
  const tested = sort.endsWith('duration')
    ? (wanted / found) * matches.length * 8
    : (reach(matches, wanted, end) - (candidates ? reach(candidates, 1, end) : 0)) / TESTED_MEANWHILE;
  return found < tested ? [...numbersOf(matches)] : null;
}
