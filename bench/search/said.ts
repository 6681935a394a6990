/**
 * Synthetic transcripts for bench/search/search.ts, each with words of its own: six languages whose word frequencies follow Zipf's law, names, numbers,
 * compounds, words that occur once, and 20 to 10,000 words per transcript. Words are syllables of each language's letters, not of a dictionary.
 */

const RANKS = 60_000; // words of a language
const OFFSET = 2.7; // parameter of Mandelbrot's law: the frequency of rank r is proportional to 1 / (r + OFFSET)
const SLOTS = 20; // bits of the table from which ranks are drawn
const TURN = 40; // words per turn
const [LEAST, MEDIAN, MOST, SPREAD] = [20, 150, 10_000, 1.15]; // words per transcript: log-normal
/** Shares of the words: names of people, numbers, compounds, words that occur once. The rest is the language's vocabulary. */
const [NAMES, NUMBERS, COMPOUNDS, ONCE] = [0.03, 0.03, 0.01, 0.003];

interface Language {
  code: string;
  share: number;
  syllables: string[];
  /** Between words. */
  gap: string;
}

const LANGUAGES: Language[] = [
  { code: 'en', share: 0.55, gap: ' ', syllables: 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu'.split(' ') },
  { code: 'de', share: 0.15, gap: ' ', syllables: 'ben chä dor fen gü hal kei lau mör nis pfe ras schu ter ung vie weß zig'.split(' ') },
  { code: 'es', share: 0.1, gap: ' ', syllables: 'año ba cié do fa gue hi ja lla mo ñi pa que rá so ta vez yo'.split(' ') },
  { code: 'fr', share: 0.09, gap: ' ', syllables: 'bon ça dé feu gra hui jou lè mai nou ou pê qui rè sou tai vie'.split(' ') },
  { code: 'ru', share: 0.07, gap: ' ', syllables: 'ба во гу дё жи за ки ле мо ну по ра сы та фе хо ца чи шу ня'.split(' ') },
  {
    code: 'zh',
    share: 0.04,
    gap: '',
    syllables: [
      ...'的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多然于心学么之都好看起发当没成只如事把还用第样道想作种开美总从无情己面最女但现前些所同日手又行意动方期它头经长儿回位分爱老因很给名法间斯知世什两次使身者被高已亲其进此话常与活正感',
    ],
  },
];

/** The word of a rank: frequent words are short. */
export function wordOf(rank: number, code = 'en'): string {
  const { syllables } = LANGUAGES.find((language) => language.code === code)!;
  let text = '';
  for (let rest = rank + 1; rest > 0; rest = Math.floor(rest / syllables.length)) text += syllables[rest % syllables.length];
  return text;
}

/** A surname. */
export const nameOf = (rank: number): string => `Mc${wordOf(rank)}`;

/** The word that occurs only in transcript `i`, a case number. */
export const caseOf = (i: number): string => `q${i.toString(36).padStart(7, '0')}z`;

/** All words of the languages and the names. */
export function* vocabulary(): Generator<string> {
  for (let rank = 0; rank < RANKS; rank++) {
    for (const { code } of LANGUAGES) yield wordOf(rank, code);
    yield nameOf(rank);
  }
}

/** Content of a transcript. */
export interface Script {
  words: string[];
  /** With upper case and punctuation. */
  turns: string[];
  /** Words are not separated by spaces. */
  unspaced: boolean;
}

/** Generates transcripts by number, reproducibly, of `length` words or (undefined) of 20 to 10,000. */
export function openScripts(length?: number): (i: number) => Script {
  const ranks = drawTable();
  const known = new Map(LANGUAGES.map(({ code }) => [code, Array.from({ length: RANKS }, (_, rank) => wordOf(rank, code))]));
  return (i) => {
    const random = openRandom(i);
    const rank = () => ranks[Math.floor(random() * ranks.length)]!;
    const language = pick(random());
    const frequent = known.get(language.code)!;
    const drawn = Math.exp(Math.log(MEDIAN) + SPREAD * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
    const count = length ?? Math.round(Math.min(MOST, Math.max(LEAST, drawn)));
    const word = (): string => {
      let kind = random();
      if ((kind -= NAMES) < 0) return nameOf(rank());
      if ((kind -= NUMBERS) < 0) return Math.floor(10 ** (4 * random())).toLocaleString('en');
      if ((kind -= COMPOUNDS) < 0) return `${frequent[rank()]}-${frequent[rank()]}`;
      if ((kind -= ONCE) < 0) return wordOf(RANKS + Math.floor(random() * 2 ** 31), language.code);
      return frequent[rank()]!;
    };
    const words = [caseOf(i), ...Array.from({ length: count - 1 }, word)];
    const turns: string[] = [];
    for (let from = 0; from < words.length; from += TURN) turns.push(sentence(words.slice(from, from + TURN), language.gap));
    return { words, turns, unspaced: language.gap === '' };
  };
}

function sentence(words: readonly string[], gap: string): string {
  const text = words.join(gap);
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

/** Ranks as often as their frequency; uniform draws from it follow Mandelbrot's law. */
function drawTable(): Uint16Array {
  const table = new Uint16Array(2 ** SLOTS);
  const weights = Float64Array.from({ length: RANKS }, (_, rank) => 1 / (rank + OFFSET));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let [rank, covered] = [0, weights[0]!];
  for (let slot = 0; slot < table.length; slot++) {
    while (covered < ((slot + 0.5) / table.length) * total) covered += weights[++rank]!;
    table[slot] = rank;
  }
  return table;
}

function pick(at: number): Language {
  let rest = at;
  return LANGUAGES.find(({ share }) => (rest -= share) < 0) ?? LANGUAGES[0]!;
}

/** Uniform numbers from 0 to 1, a sequence for each seed (mulberry32). */
function openRandom(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
