const PER_ASCII = 0.28; // tokens per character, conservative for tokenizers since 2024
const PER_LETTER = 0.5; // accented Latin, Cyrillic, Greek, Arabic, Hebrew …
const PER_SIGN = 1; // scripts with a syllable or word per character
const SIGNS = 0x0e00; // from Thai on

/** Estimates the number of tokens in `text`, on the high side. */
export function estimateTokens(text: string): number {
  let ascii = 0;
  let letters = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) ascii++;
    else if (code < SIGNS) letters++;
  }
  return Math.ceil(ascii * PER_ASCII + letters * PER_LETTER + (text.length - ascii - letters) * PER_SIGN);
}
