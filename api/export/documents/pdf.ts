import PDFDocument from 'pdfkit';
import { rightToLeft } from '../lines.ts';
import type { Block, Content, Paragraph, Span, Table } from './blocks.ts';
import { cut, Fonts, MISSING, type Piece, type Weight } from './fonts.ts';
import { drawRun } from './glyphs.ts';
import { type Line, linesOf, type Measure, prepare, type Run } from './layout.ts';

// Lengths in points.
const MARGIN = 56;
const [WIDTH, HEIGHT] = [595.28, 841.89]; // A4
const COLUMN = WIDTH - 2 * MARGIN;
const BOTTOM = HEIGHT - MARGIN;
const INDENT = 18; // per level of an item
const LEADING = 1.5; // line height / type size, as required by Thai, Burmese and Nastaliq
const ASCENT = 1.08; // baseline below the top of a line / type size
const CELL = 5; // between the border of a table cell and its text
const RULE = '#bbbbc4';
const INK = '#1d1c22';

const STYLES: Record<Paragraph['kind'], { size: number; before: number; after: number; bold: boolean; keep: boolean }> = {
  title: { size: 20, before: 0, after: 4, bold: true, keep: true },
  heading: { size: 14, before: 16, after: 4, bold: true, keep: true },
  subheading: { size: 11.5, before: 8, after: 3, bold: true, keep: true },
  text: { size: 10.5, before: 0, after: 5, bold: false, keep: false },
  item: { size: 10.5, before: 0, after: 3, bold: false, keep: false },
  speaker: { size: 10.5, before: 6, after: 0, bold: false, keep: true },
};

/** A PDF with A4 pages. Text in every script can be searched and copied; paragraphs are right-to-left if their first letter is. */
export async function pdf(content: Content): Promise<Buffer> {
  const document = new PDFDocument({
    size: 'A4',
    margin: 0,
    info: { Title: content.title, Creator: 'Longhand' },
    displayTitle: true,
    autoFirstPage: false,
  });
  const chunks: Buffer[] = [];
  const ended = new Promise<Buffer>((resolve, reject) => {
    document.on('data', (chunk: Buffer) => chunks.push(chunk));
    document.on('end', () => resolve(Buffer.concat(chunks)));
    document.on('error', reject);
  });
  const fonts = new Fonts(
    content.language,
    content.blocks
      .flatMap(spansOf)
      .map(({ text }) => text)
      .join(''),
  );
  const names = await embed(document, content, fonts);
  new Pages(document, fonts, names).write(content.blocks);
  document.end();
  return ended;
}

function spansOf(block: Block): Span[] {
  if (block.kind === 'table') return block.rows.flat(2);
  const spans = block.mark ? [{ text: block.mark }, ...block.spans] : block.spans;
  return STYLES[block.kind].bold ? spans.map((span) => ({ ...span, bold: true as const })) : spans;
}

type Names = ReadonlyMap<Piece, Partial<Record<Weight, string>>>;

/** Embeds a font for each subset and weight in the document, with the characters used. */
async function embed(document: PDFKit.PDFDocument, { blocks }: Content, fonts: Fonts): Promise<Names> {
  const needed = new Map<Piece, Partial<Record<Weight, Set<string>>>>();
  const need = (piece: Piece, weight: Weight, characters: Iterable<string>) => {
    const weights = needed.get(piece) ?? {};
    needed.set(piece, weights);
    const set = (weights[weight] ??= new Set());
    for (const character of characters) set.add(character);
  };
  for (const weight of ['regular', 'bold'] as const)
    need(fonts.find(MISSING.codePointAt(0)!, null)!, weight, `${MISSING}0123456789()[]{}<>«»`);
  for (const span of blocks.flatMap(spansOf)) {
    let before: Piece | null = null;
    for (const character of span.text) {
      before = fonts.find(character.codePointAt(0)!, before);
      if (before) need(before, span.bold ? 'bold' : 'regular', character);
    }
  }
  const names = new Map<Piece, Partial<Record<Weight, string>>>();
  for (const [piece, weights] of needed) {
    const own: Partial<Record<Weight, string>> = {};
    for (const [weight, characters] of Object.entries(weights) as [Weight, Set<string>][]) {
      own[weight] = `${names.size}/${weight}`;
      document.registerFont(own[weight], await cut(piece, weight, [...characters].join('')));
    }
    names.set(piece, own);
  }
  return names;
}

/** Tracks the position of the next line and draws it. */
class Pages {
  #y = BOTTOM;
  #page = 0;
  readonly #document: PDFKit.PDFDocument;
  readonly #fonts: Fonts;
  readonly #names: Names;

  constructor(document: PDFKit.PDFDocument, fonts: Fonts, names: Names) {
    this.#document = document;
    this.#fonts = fonts;
    this.#names = names;
  }

  write(blocks: readonly Block[]): void {
    for (const block of blocks) {
      if (block.kind === 'table') this.#table(block);
      else this.#paragraph(block);
    }
    if (!this.#page) this.#turn();
  }

  /** Starts a new page with its number. */
  #turn(): void {
    this.#document.addPage();
    this.#page += 1;
    const number = this.#lines([{ text: String(this.#page), colour: '5b5966' }], COLUMN, 9, false)[0]!;
    this.#draw(number, MARGIN + (COLUMN - number.width) / 2, HEIGHT - MARGIN / 2 - 12, 9);
    this.#y = MARGIN;
  }

  #paragraph(block: Paragraph): void {
    const { size, before, after, keep } = STYLES[block.kind];
    const text = block.spans.map((span) => span.text).join('');
    const backwards = rightToLeft(block.over ?? text);
    const indent = block.kind === 'item' ? INDENT * ((block.depth ?? 0) + 1) : 0;
    const spans = STYLES[block.kind].bold ? block.spans.map((span) => ({ ...span, bold: true as const })) : block.spans;
    const lines = this.#lines(spans, COLUMN - indent, size, backwards);
    if (this.#y > MARGIN) this.#y += before;
    const together = Math.min(lines.length, 2) + (keep ? 2 : 0); // lines that must stay on one page
    if (this.#y + together * size * LEADING > BOTTOM) this.#turn();
    for (const [index, line] of lines.entries()) {
      if (this.#y + size * LEADING > BOTTOM) this.#turn();
      this.#draw(line, backwards ? WIDTH - MARGIN - indent - line.width : MARGIN + indent, this.#y, size);
      if (index === 0 && block.mark) {
        const mark = this.#lines([{ text: block.mark }], INDENT * 3, size, false)[0]!;
        this.#draw(mark, backwards ? WIDTH - MARGIN - indent + INDENT - mark.width : MARGIN + indent - INDENT, this.#y, size);
      }
      this.#y += size * LEADING;
    }
    this.#y += after;
  }

  /** Columns of equal width. A row taller than a page is written as paragraphs. */
  #table({ rows }: Table): void {
    const { size } = STYLES.text;
    const columns = rows[0]!.length;
    const backwards = rightToLeft(
      rows
        .flat(2)
        .map((span) => span.text)
        .join(' '),
    );
    const each = COLUMN / columns;
    for (const row of rows) {
      const cells = row.map((spans) => this.#lines(spans, each - 2 * CELL, size, rightToLeft(spans.map(({ text }) => text).join(''))));
      const height = Math.max(1, ...cells.map((lines) => lines.length)) * size * LEADING + 2 * CELL;
      if (height > BOTTOM - MARGIN) {
        for (const spans of row) this.#paragraph({ kind: 'text', spans });
        continue;
      }
      if (this.#y + height > BOTTOM) this.#turn();
      for (const [index, lines] of cells.entries()) {
        const left = MARGIN + each * (backwards ? columns - 1 - index : index);
        this.#document.rect(left, this.#y, each, height).lineWidth(0.5).stroke(RULE);
        for (const [at, line] of lines.entries()) {
          const x = backwards ? left + each - CELL - line.width : left + CELL;
          this.#draw(line, x, this.#y + CELL + at * size * LEADING, size);
        }
      }
      this.#y += height;
    }
    this.#y += STYLES.heading.after;
  }

  #lines(spans: readonly Span[], width: number, size: number, backwards: boolean): Line[] {
    const measure: Measure = (run) => this.#font(run).fontSize(size).widthOfString(run.shown);
    return linesOf(prepare(spans, this.#fonts, backwards), width, measure);
  }

  #font({ piece, weight }: Pick<Run, 'piece' | 'weight'>): PDFKit.PDFDocument {
    const names = this.#names.get(piece)!;
    return this.#document.font((names[weight] ?? names.regular ?? names.bold)!);
  }

  #draw({ runs }: Line, left: number, top: number, size: number): void {
    let x = left;
    for (const run of runs) {
      if (run.text.trim()) this.#run(run, x, top + size * ASCENT, size);
      x += run.width;
    }
  }

  #run(run: Run, x: number, y: number, size: number): void {
    const document = this.#font(run)
      .fontSize(size)
      .fillColor(run.colour ? `#${run.colour}` : INK);
    if (run.complex) drawRun(document, run, x, y, size);
    else document.text(run.shown, x, y, { lineBreak: false, baseline: 'alphabetic' });
  }
}
