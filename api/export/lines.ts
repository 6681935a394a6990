/** Measures and breaks subtitle lines. Widths are in columns: a Latin letter is 1, a Chinese, Japanese or Korean one 2. */

export const LINE_COLUMNS = 42;

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]|[\u{20000}-\u{3fffd}]/u;
const ZERO = /\p{M}|\p{Cf}/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const LETTER = /\p{L}/u;

const NARROW = /^[\x20-\x7e]*$/;

export function columns(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** Whether the first letter is of a right-to-left script. */
export function rightToLeft(text: string): boolean {
  const letter = LETTER.exec(text);
  return letter !== null && RIGHT_TO_LEFT.test(letter[0]);
}

const SENTENCE_END = /[.!?…。！？｡؟۔।॥]["'”’»)\]）」』]*$/u;
const PHRASE_END = /[,;:–—、，；：،؛]["'”’»)\]）」』]*$/u;
/** Short words (articles, prepositions) should not be separated from the next word. */
const SMALL_WORD = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]{1,3}$/u;
/** Characters that must not begin a line: closing marks, small kana and prolonged sound marks. */
const NOT_FIRST = /^[)\]}»”’、。，．・：；？！…‥ー」』）］｝〉》】〕,.!?;:%ぁぃぅぇぉっゃゅょァィゥェォッャュョ]|^\p{M}/u;
/** Characters that must not end a line: opening marks. */
const NOT_LAST = /[([{«“‘「『（［｛〈《【〔¿¡]$/u;

/** Cost of a break between two words: 0 at the end of a sentence, up to 1 within a phrase, Infinity where forbidden. */
export function breakCost(before: string, after: string): number {
  const [head, tail] = [before.trimEnd(), after.trimStart()];
  if (NOT_FIRST.test(tail) || NOT_LAST.test(head)) return Number.POSITIVE_INFINITY;
  if (SENTENCE_END.test(head)) return 0;
  if (PHRASE_END.test(head)) return 0.35;
  return SMALL_WORD.test(head) ? 1.3 : 1;
}
