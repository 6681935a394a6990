import { float32, type Session } from '../session.ts';
import { centre, fbank, frameCount, MELS } from './fbank.ts';

export const SIZE = 192; // of an embedding

/**
 * Voice prints of pieces of equal length, as unit vectors [192] each. CAM++ on mean-subtracted Kaldi features.
 * For worker threads: it blocks. 8 ms a second of audio.
 */
export async function embed(session: Session, pieces: Float32Array[]): Promise<Float32Array[]> {
  const rows = frameCount(pieces[0]?.length ?? 0);
  const features = new Float32Array(pieces.length * rows * MELS);
  for (const [i, samples] of pieces.entries()) features.set(centre(fbank(samples)), i * rows * MELS);
  const outputs = await session.run({ [session.inputs[0]!]: float32(features, [pieces.length, rows, MELS]) });
  const vectors = outputs[session.outputs[0]!]!.data as Float32Array;
  return pieces.map((_, i) => unit(vectors.slice(i * SIZE, (i + 1) * SIZE)));
}

/** Scales to length 1, in place. */
export function unit(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  for (let i = 0; i < vector.length; i++) vector[i]! /= length;
  return vector;
}
