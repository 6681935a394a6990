import { float32, type Session } from '../runtime/session.ts';
import { EMBEDDING_SIZE } from './campplus.ts';

/**
 * Speaker embeddings of excerpts of equal length, unit vectors [192] each, by the model of models/networks.ts. Blocks: for worker threads.
 */
export async function embed(session: Session, excerpts: Float32Array[]): Promise<Float32Array[]> {
  const length = excerpts[0]!.length;
  const samples = new Float32Array(excerpts.length * length);
  for (const [i, excerpt] of excerpts.entries()) samples.set(excerpt, i * length);
  const { embedding } = await session.run({ samples: float32(samples, [excerpts.length, length]) });
  const vectors = embedding!.data as Float32Array;
  return excerpts.map((_, i) => unit(vectors.slice(i * EMBEDDING_SIZE, (i + 1) * EMBEDDING_SIZE)));
}

/** Normalises to length 1, in place. */
export function unit(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  for (let i = 0; i < vector.length; i++) vector[i]! /= length;
  return vector;
}
