/* Packages without types. */

declare module 'subset-font' {
  /** The font with only the glyphs of `text`; axes of a variable font are fixed to one value each. */
  export default function subset(
    font: Buffer,
    text: string,
    options: { targetFormat: 'sfnt' | 'woff' | 'woff2'; variationAxes?: Record<string, number> },
  ): Promise<Buffer>;
}

declare module 'linebreak' {
  /** Line break opportunities (UAX 14). */
  export default class LineBreaker {
    constructor(text: string);
    nextBreak(): { position: number; required: boolean } | null;
  }
}
