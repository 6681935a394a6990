/** Known prefixes and structures of keys and tokens. Entropy is not considered: hexadecimal call ids and UUIDs are ordinary values. */
const SHAPES = [
  /(?<![a-z0-9])lht?_[a-z0-9]/i, // Longhand's own
  /(?<![a-z0-9])sk_live_/i,
  /(?<![a-z0-9])sk-[a-z0-9_-]{16}/i,
  /(?<![a-z0-9])(?:ghp_|gho_|github_pat_|glpat-|xox[abpr]-)/i,
  /(?<![A-Za-z0-9])AKIA[A-Z0-9]{16}/,
  /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}/,
  /(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/, // JSON web token
  /-----BEGIN/,
];

/** Whether the text contains something that looks like a secret. Only a safety net. */
export function looksSecret(text: string): boolean {
  return SHAPES.some((shape) => shape.test(text));
}
