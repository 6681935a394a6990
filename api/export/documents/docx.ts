import {
  AlignmentType,
  BorderStyle,
  Document,
  Paragraph as DocxParagraph,
  Table as DocxTable,
  HeadingLevel,
  type IParagraphOptions,
  Packer,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
} from 'docx';
import { rightToLeft } from '../lines.ts';
import type { Block, Content, Paragraph, Span, Table } from './blocks.ts';

const TWIPS = 20; // per point
const INDENT = 18 * TWIPS; // per level of an item
const RULE = { style: BorderStyle.SINGLE, size: 4, color: 'BBBBC4' } as const; // eighths of a point

const STYLES: Record<Paragraph['kind'], IParagraphOptions> = {
  title: { heading: HeadingLevel.TITLE },
  heading: { heading: HeadingLevel.HEADING_1, spacing: { before: 16 * TWIPS, after: 4 * TWIPS } },
  subheading: { heading: HeadingLevel.HEADING_2, spacing: { before: 8 * TWIPS, after: 3 * TWIPS } },
  text: { spacing: { after: 6 * TWIPS, line: 276 } },
  item: { spacing: { after: 3 * TWIPS, line: 276 } },
  speaker: { spacing: { before: 6 * TWIPS }, keepNext: true },
};

/** A Word document. Paragraphs and their runs are right-to-left if their first letter is. */
export async function docx({ title, blocks }: Content): Promise<Buffer> {
  const document = new Document({
    title,
    creator: 'Longhand',
    styles: { default: { document: { run: { size: 22 } } } }, // half points
    sections: [{ children: blocks.map(painted) }],
  });
  return Packer.toBuffer(document);
}

function painted(block: Block): DocxParagraph | DocxTable {
  return block.kind === 'table' ? grid(block) : paragraph(block);
}

function paragraph({ kind, spans, mark, depth = 0, over }: Paragraph): DocxParagraph {
  const listed = kind === 'item';
  return new DocxParagraph({
    ...STYLES[kind],
    ...directed(spans, listed ? [{ text: `${mark}\t` }] : [], over),
    ...(listed && { indent: { start: INDENT * (depth + 1), hanging: INDENT } }),
  });
}

/** The runs of a paragraph, in the direction of its text. */
function directed(spans: readonly Span[], before: readonly Span[] = [], over = spans.map(({ text }) => text).join('')): IParagraphOptions {
  const backwards = rightToLeft(over);
  const children = [...before, ...spans].map(
    ({ text, bold, colour }) => new TextRun({ text, bold, color: colour, rightToLeft: (backwards && rightToLeft(text)) || undefined }),
  );
  return backwards ? { children, bidirectional: true, alignment: AlignmentType.START } : { children };
}

function grid({ rows }: Table): DocxTable {
  const backwards = rightToLeft(
    rows
      .flat(2)
      .map(({ text }) => text)
      .join(' '),
  );
  return new DocxTable({
    width: { size: 100, type: WidthType.PERCENTAGE },
    visuallyRightToLeft: backwards,
    borders: { top: RULE, bottom: RULE, left: RULE, right: RULE, insideHorizontal: RULE, insideVertical: RULE },
    rows: rows.map(
      (row, index) =>
        new TableRow({
          tableHeader: index === 0,
          children: row.map(
            (spans) =>
              new TableCell({
                margins: { top: 60, bottom: 60, left: 100, right: 100 },
                children: [new DocxParagraph(directed(spans))],
              }),
          ),
        }),
    ),
  });
}
