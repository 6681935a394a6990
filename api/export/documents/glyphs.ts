import type { Run } from './layout.ts';

/** Features of pdfkit's embedded fonts that its types omit. */
interface EmbeddedFont {
  id: string;
  scale: number; // thousandths of the type size per font unit
  ref(): PDFKit.PDFKitReference;
  layout(text: string): { glyphs: { advanceWidth: number; codePoints: number[] }[] };
  /** Codes in hexadecimal, positions in thousandths of the type size. */
  encode(text: string): [codes: string[], positions: { xAdvance: number; xOffset: number; yOffset: number }[]];
}

type Inside = PDFKit.PDFDocument & { _font: EmbeddedFont; page: { fonts: Record<string, PDFKit.PDFKitReference>; height: number } };

/**
 * Draws a run in the font that is chosen, its baseline beginning at x, y. Glyphs of complex scripts are not one for each letter and not in their order, and
 * one glyph serves several letters: marks (ActualText) say what is meant, for the whole run, or from right to left for each glyph, for readers put those in
 * order by themselves.
 */
export function drawRun(document: PDFKit.PDFDocument, run: Run, x: number, y: number, size: number): void {
  const inside = document as Inside;
  const font = inside._font;
  const [codes, positions] = font.encode(run.shown);
  const meanings = run.level % 2 ? meaningsOf(run, font) : null;
  const bottom = inside.page.height - y;
  inside.page.fonts[font.id] ??= font.ref();
  const em = size / 1000;
  const content = [`1 0 0 -1 0 ${inside.page.height} cm`, 'BT', `/${font.id} ${size} Tf`];
  if (!meanings) content.push(open(run.text));
  let at = x;
  for (const [index, code] of codes.entries()) {
    const { xAdvance, xOffset, yOffset } = positions[index]!;
    const show = `1 0 0 1 ${short(at + xOffset * em)} ${short(bottom + yOffset * em)} Tm <${code}> Tj`;
    content.push(meanings ? `${open(meanings[index] ?? '')} ${show} EMC` : show);
    at += xAdvance * em;
  }
  if (!meanings) content.push('EMC');
  content.push('ET');
  inside.save().addContent(content.join('\n')).restore();
}

/**
 * The letters that each glyph of a right-to-left run represents. The shaper knows how many letters, but not always which: a tooth without its
 * dots belongs to several. Dots alone represent none.
 */
function meaningsOf({ text, shown }: Run, font: EmbeddedFont): string[] {
  const { glyphs } = font.layout(shown);
  const letters = [...text];
  const counts = shown === text ? glyphs.map(({ codePoints }) => codePoints.length) : glyphs.map(() => 1);
  const told = counts.reduce((sum, count) => sum + count, 0) === letters.length;
  let end = letters.length;
  return glyphs.map(({ codePoints }, index) => {
    if (!told) return String.fromCodePoint(...codePoints);
    end -= counts[index]!;
    return letters.slice(end, end + counts[index]!).join('');
  });
}

function open(actual: string): string {
  const units = Array.from({ length: actual.length }, (_, at) => actual.charCodeAt(at).toString(16).padStart(4, '0'));
  return `/Span <</ActualText <feff${units.join('')}>>> BDC`;
}

function short(points: number): string {
  return points.toFixed(2);
}
