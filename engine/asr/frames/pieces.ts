import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TOKENS } from '../../../models/descriptor.ts';

/** Meaning of a token: text (a space begins a word), one byte of a character, or nothing. */
export type Piece = { text: string } | { byte: number } | null;

/** The tokens of a model, by number. Special tokens, such as <unk> and the blank, stand for nothing. */
export async function openPieces(folder: string): Promise<Piece[]> {
  return (JSON.parse(await readFile(join(folder, TOKENS), 'utf8')) as string[]).map(pieceOf);
}

const WORD = '\u2581'; // SentencePiece: a word begins here
const BYTE = /^<0x([0-9A-F]{2})>$/i; // SentencePiece: a byte of a character that is not in the vocabulary
const SPECIAL = /^(<[^<>]*>|\[[A-Z]+\])$/;

export function pieceOf(token: string): Piece {
  const byte = BYTE.exec(token)?.[1];
  if (byte) return { byte: Number.parseInt(byte, 16) };
  return SPECIAL.test(token) ? null : { text: token.replaceAll(WORD, ' ') };
}
