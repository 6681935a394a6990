/** Contents of a document: plain data that can be passed to another thread. No text has line breaks. */
export interface Content {
  title: string;
  /** Code of the spoken language, null if unknown. */
  language: string | null;
  blocks: Block[];
}

export type Block = Paragraph | Table;

export interface Paragraph {
  kind: 'title' | 'heading' | 'subheading' | 'text' | 'item' | 'speaker';
  spans: Span[];
  /** For an item: `•` or a number, and its nesting depth from 0. */
  mark?: string;
  depth?: number;
  /** For a speaker: the text below, whose direction it shares. */
  over?: string;
}

export interface Table {
  kind: 'table';
  /** The first row is the header. All rows have the same length; a cell is one paragraph. */
  rows: Span[][][];
}

export interface Span {
  text: string;
  bold?: true;
  /** Six hexadecimal digits. */
  colour?: string;
}
