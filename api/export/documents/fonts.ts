import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { create, type Font } from 'fontkit';
import subset from 'subset-font';

const FAMILY = '@fontsource-variable/noto-sans';
const SCRIPTS =
  'arabic hebrew bengali tamil telugu kannada malayalam gujarati gurmukhi sinhala thai lao khmer myanmar georgian armenian ethiopic'.split(
    ' ',
  );
/** Subsets that the base family includes: a paragraph in Latin letters stays in one font. */
const OF_BASE = /^(latin|cyrillic|greek|vietnamese|devanagari)/;
const WEIGHTS = { regular: 400, bold: 700 } as const;
export const MISSING = '\ufffd';

export type Weight = keyof typeof WEIGHTS;

/** A file with a few hundred characters of Noto Sans, in all weights. */
export interface Piece {
  /** Its path. */
  id: string;
  has(codePoint: number): boolean;
}

/**
 * The font subsets for a text, best first. Chinese, Japanese and Korean share characters with different shapes: language and kana decide.
 */
export class Fonts {
  readonly #pieces: readonly Piece[];
  readonly #known = new Map<number, Piece | null>();

  constructor(language: string | null, text: string) {
    const japanese = language === 'ja' || (language !== 'zh' && /[\u3040-\u30ff]/.test(text));
    const eastern = japanese ? ['jp', 'sc', 'kr'] : language === 'ko' ? ['kr', 'jp', 'sc'] : ['sc', 'jp', 'kr'];
    this.#pieces = ['', ...SCRIPTS, ...eastern].flatMap((script) => piecesOf(script ? `${FAMILY}-${script}` : FAMILY));
  }

  /** The subset for a character after one set in `before`: the same if possible; null: no font has it. */
  find(codePoint: number, before: Piece | null): Piece | null {
    if (before?.has(codePoint)) return before;
    const known = this.#known.get(codePoint);
    if (known !== undefined) return known;
    const found = this.#pieces.find((piece) => piece.has(codePoint)) ?? null;
    this.#known.set(codePoint, found);
    return found;
  }
}

/** A font of one weight with only these characters, as TrueType, which pdfkit can embed. */
export async function cut(piece: Piece, weight: Weight, characters: string): Promise<Buffer> {
  return subset(readFileSync(piece.id), characters, { targetFormat: 'sfnt', variationAxes: { wght: WEIGHTS[weight] } });
}

const require = createRequire(import.meta.url);
const families = new Map<string, Piece[]>();

function piecesOf(family: string): Piece[] {
  const known = families.get(family);
  if (known) return known;
  const list = require.resolve(`${family}/unicode.json`);
  const ranges = JSON.parse(readFileSync(list, 'utf8')) as Record<string, string>;
  const pieces = Object.entries(ranges)
    .map(([key, text]) => ({ name: key.replace(/[[\]]/g, ''), text }))
    .filter(({ name }) => family === FAMILY || !OF_BASE.test(name))
    .map(({ name, text }) => pieceOf(path.join(path.dirname(list), 'files', `${family.split('/')[1]}-${name}-wght-normal.woff2`), text));
  families.set(family, pieces);
  return pieces;
}

/** `ranges` in CSS syntax: `U+0951-0952,U+0964`. */
function pieceOf(id: string, ranges: string): Piece {
  const spans = ranges.split(',').map((range) => {
    const [from, to] = range.trim().slice(2).split('-');
    return [Number.parseInt(from!, 16), Number.parseInt(to ?? from!, 16)] as const;
  });
  let glyphs: ReadonlySet<number> | undefined; // in the file: its declared ranges may contain more
  return {
    id,
    has(codePoint) {
      if (!spans.some(([from, to]) => codePoint >= from && codePoint <= to)) return false;
      glyphs ??= new Set((create(readFileSync(id)) as Font).characterSet);
      return glyphs.has(codePoint);
    },
  };
}
