import { float32, type Session } from '../runtime/session.ts';

export const SIZE = 192; // size of an embedding

/**
 * Speaker embeddings of pieces of equal length, unit vectors [192] each, by the model of models/networks.ts. Blocks: for worker threads.
 */
export async function embed(session: Session, pieces: Float32Array[]): Promise<Float32Array[]> {
  const length = pieces[0]!.length;
  const samples = new Float32Array(pieces.length * length);
  for (const [i, piece] of pieces.entries()) samples.set(piece, i * length);
  const { embedding } = await session.run({ samples: float32(samples, [pieces.length, length]) });
  const vectors = embedding!.data as Float32Array;
  return pieces.map((_, i) => unit(vectors.slice(i * SIZE, (i + 1) * SIZE)));
}

/** Normalises to length 1, in place. */
export function unit(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  for (let i = 0; i < vector.length; i++) vector[i]! /= length;
  return vector;
}
