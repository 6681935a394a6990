import { type Bits, count, numbersOf, reach } from '../search/bits.ts';
import type { Found } from '../search/match.ts';
import type { ListQuery } from './filter.ts';

/*
 * Two ways to a page of matches: each is looked up by its number and all are sorted, or rows are tested in the order of the list until the
 * page is full. Looking up takes as long as testing, so the way that reads fewer rows is taken.
 */

/** A query that only finds the matches of a search. */
export function within(query: ListQuery, found: Found): ListQuery {
  return { ...query, found: { ...found, numbers: lookUp(found.bits, query) } };
}

/** This many matches are always looked up: matches that a filter excludes are tested as well, but not foreseen. */
export const FEW = 4_000;

/**
 * The numbers to be looked up; null: rows are to be tested. `candidates`: numbers of the list, if known. Numbers mostly ascend with the time
 * of creation, which tells how far the list must be read.
 */
export function lookUp(matches: Bits, { sort, limit, offset }: ListQuery, candidates?: Bits): number[] | null {
  const [found, wanted] = [count(matches), offset + limit];
  if (found <= FEW) return [...numbersOf(matches)];
  const end = sort === 'created_at' ? 'lowest' : 'highest';
  const tested = sort.endsWith('duration')
    ? (wanted / found) * matches.length * 8
    : reach(matches, wanted, end) - (candidates ? reach(candidates, 1, end) : 0);
  return found < tested ? [...numbersOf(matches)] : null;
}
