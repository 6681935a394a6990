/* Packages that bring no types. */

declare module 'subset-font' {
  /** The font with the glyphs of `text` only; axes of a variable font are set to one value each. */
  export default function subset(
    font: Buffer,
    text: string,
    options: { targetFormat: 'sfnt' | 'woff' | 'woff2'; variationAxes?: Record<string, number> },
  ): Promise<Buffer>;
}

declare module 'linebreak' {
  /** Breaks of a line as Unicode (UAX 14) allows them. */
  export default class LineBreaker {
    constructor(text: string);
    nextBreak(): { position: number; required: boolean } | null;
  }
}
