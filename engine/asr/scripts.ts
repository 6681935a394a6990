/** Scripts without spaces between words, as a part of a character class. */
export const SPACELESS =
  '\\p{Script=Han}\\p{Script=Hira}\\p{Script=Kana}\\p{Script=Thai}\\p{Script=Laoo}\\p{Script=Mymr}\\p{Script=Khmr}\\p{Script=Tibt}ー';
/** A text that begins in one of them. */
export const BEGINS_SPACELESS = new RegExp(`^[${SPACELESS}]`, 'u');
