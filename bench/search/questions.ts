import { askList, type Page } from '../load/lists.ts';
import type { Filled } from './fill.ts';
import { caseOf, nameOf, wordOf } from './said.ts';

const WARM = 5; // requests before those that are measured
const COUNTED = 5; // words of each kind whose transcripts are counted while they are written

/** Latency of one kind of search, in milliseconds. */
export interface Measured {
  name: string;
  who: string;
  /** Mean number of matches. */
  found: number;
  p50: number;
  p95: number;
  most: number;
}

type Word = (round: number) => string;

const common: Word = (n) => wordOf(n % 10);
const usual: Word = (n) => wordOf(100 + ((n * 7) % 900));
const rare: Word = (n) => wordOf(20_000 + ((n * 131) % 30_000));
const name: Word = (n) => nameOf((n * 37) % 20_000);
const foreign: Word = (n) => wordOf(50 + ((n * 7) % 900), ['de', 'es', 'fr', 'ru'][n % 4]);
const chinese: Word = (n) => wordOf(n % 100, 'zh');
const number: Word = (n) => (1 + ((n * 13) % 900)).toLocaleString('en');

/** Words whose matches are counted while the transcripts are written. */
export const PROBES: string[] = [common, usual, rare, name, foreign, number].flatMap((word) =>
  Array.from({ length: COUNTED }, (_, n) => word(n)),
);

/** Queries of one to three words, from the most frequent words to those of a single transcript, alone and with filters, orders and pages. */
function queries(rows: number): [name: string, query: Word][] {
  const own: Word = (n) => caseOf((n * 7919) % rows);
  const q = (...parts: Word[]): Word => {
    return (n) => `q=${encodeURIComponent(parts.map((part) => part(n)).join(' '))}`;
  };
  const plus = (query: Word, more: string): Word => {
    return (n) => `${query(n)}&${more}`;
  };
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const month = `date_from=${day(200)}&date_to=${day(170)}`;
  return [
    ['one of the 10 most frequent words', q(common)],
    ['a common word', q(usual)],
    ['a rare word', q(rare)],
    ['a name', q(name)],
    ['a number', q(number)],
    ['a word of another language', q(foreign)],
    ['a Chinese word', q(chinese)],
    ['a word of one transcript', q(own)],
    ['two common words', q(usual, (n) => usual(n + 1))],
    ['three words: most frequent, common, name', q(common, usual, name)],
    ['a word that does not occur', () => 'q=unheardof'],
    ['a common word, one month', plus(q(usual), month)],
    ['a common word, by language', plus(q(usual), 'language=de')],
    ['a common word, by metadata', plus(q(usual), 'metadata.region=r3')],
    ['a common word, by duration', plus(q(usual), 'sort=duration')],
    ['a common word, offset 400', plus(q(usual), 'offset=400')],
    ['a common word, page of 100', plus(q(usual), 'limit=100')],
    ['a rare word, one month', plus(q(rare), month)],
  ];
}

/** Measures every query `rounds` times, each with different words, as an owner who sees everything and as a member who sees 12 %. */
export async function measure(url: string, keys: { owner: string; member: string }, rows: number, rounds: number): Promise<Measured[]> {
  const results: Measured[] = [];
  for (const [who, key] of Object.entries(keys))
    for (const [name, query] of queries(rows)) {
      for (let round = 0; round < WARM; round++) await askList(url, key, query(100_000 + round));
      const asked: Page[] = [];
      for (let round = 0; round < rounds; round++) asked.push(await askList(url, key, query(round)));
      const times = asked.map(({ ms }) => ms).sort((a, b) => a - b);
      const found = Math.round(asked.reduce((sum, { total }) => sum + total, 0) / rounds);
      const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
      results.push({ name, who, found, p50: at(0.5), p95: at(0.95), most: at(1) });
    }
  return results;
}

/** Compares the totals that an owner gets with the counts made while writing. Returns the number of words; throws at a difference. */
export async function check(url: string, ownerKey: string, { holders }: Filled): Promise<number> {
  for (const [word, wanted] of holders) {
    const { total } = await askList(url, ownerKey, `q=${encodeURIComponent(word)}&limit=1`);
    if (total !== wanted) throw new Error(`Cannot trust the index: ${word} is in ${wanted} transcripts, found in ${total}`);
  }
  return holders.size;
}
