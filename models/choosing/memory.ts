import type { WhisperDescriptor } from '../descriptor.ts';

const FLOAT = 4; // bytes
const COPIES = 1.15; // factor on the weights: onnxruntime repacks some of them
const ENCODER_WIDTHS = 20; // floats per step and channel that the encoder holds at its peak
const PAIRS = 2; // keys and values

type Shape = Pick<WhisperDescriptor, 'dimensions' | 'crossAttention' | 'recipe' | 'window'>;

/** Bytes per window while it is decoded: keys and values of both attentions. The cache is sized for text without a vocabulary prompt. */
export function rowBytes({ dimensions: { width, layers, heads }, crossAttention, recipe, window }: Shape): number {
  const element = { int8: 1, float16: 2, float32: FLOAT }[crossAttention.element];
  const cross = crossAttention.framesPerKey.reduce((sum, frames) => {
    const keys = window.steps / frames;
    const sums = crossAttention.element === 'int8' ? FLOAT * heads * keys : 0;
    return sum + PAIRS * keys * width * element + sums;
  }, 0);
  const positions = recipe.buckets.at(-2) ?? recipe.buckets.at(-1)!;
  return Math.round(cross + PAIRS * layers * positions * width * FLOAT);
}

/** Bytes per thread with the recipe's rows, without the other models. */
export function threadBytes(shape: Shape, weights: number): number {
  const { recipe, window, dimensions } = shape;
  const rows = (recipe.rows + 1) * rowBytes(shape) + PAIRS * rowBytes(shape); // one row for first windows, and copies for repeated decoding
  return Math.round(COPIES * weights + rows + ENCODER_WIDTHS * window.steps * dimensions.width * FLOAT);
}
