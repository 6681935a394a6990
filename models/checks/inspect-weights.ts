import type { Weights } from '../build/graph/graph.ts';
import type { Checkpoint } from '../build/whisper/safetensors.ts';

const ZEROS = 0.005; // share of exact zeros that training never produces: rounding to half precision gives 0.1 %, or 0.4 % for the smallest weights
const HOLE = 16_384; // zeros in a row, as where a part of a file was not written: more than three of the longest rows of any Whisper, 5120
const [EMBEDDING, OUTPUT] = ['model.decoder.embed_tokens.weight', 'proj_out.weight'];
const ORDERED = 0.2; // mean correlation of adjacent mel bins in the first layer: 0.5 and more if trained in this order

/** Whether the first layer reads its mel bins in order: its weights change little from one bin to the next. */
export function readsBinsInOrder(checkpoint: Weights): boolean {
  const name = 'model.encoder.conv1.weight';
  const [rows, bins, taps] = checkpoint.shape(name) as [number, number, number];
  const kernels = checkpoint.float32(name);
  const sums = { ab: 0, aa: 0, bb: 0 };
  for (let n = 0; n < rows; n++) {
    for (let bin = 0; bin + 1 < bins; bin++) {
      for (let tap = 0; tap < taps; tap++) {
        const a = kernels[(n * bins + bin) * taps + tap]!;
        const b = kernels[(n * bins + bin + 1) * taps + tap]!;
        sums.ab += a * b;
        sums.aa += a * a;
        sums.bb += b * b;
      }
    }
  }
  return sums.ab / Math.sqrt(sums.aa * sums.bb) > ORDERED;
}

/**
 * Problems of the values of the weights.
 * @param tokens rows of the token embedding that are checked: others may be zeros
 */
export function weightFindings(checkpoint: Checkpoint, tokens: number): string[] {
  let [zeros, all, broken, empty] = [0, 0, '', ''];
  for (const name of checkpoint.names()) {
    const width = checkpoint.shape(name).at(-1)!;
    const values = checkpoint.float32(name).subarray(0, EMBEDDING.endsWith(name) || name === OUTPUT ? tokens * width : undefined);
    const found = scan(values);
    if (found.broken) broken = name;
    if (checkpoint.shape(name).length > 1) {
      zeros += found.zeros;
      all += values.length;
    }
    const whole = found.hole === values.length && values.length > 0 && !name.endsWith('.bias');
    if (whole || found.hole > HOLE) empty = name;
  }
  const remedy = 'download or copy the checkpoint again';
  if (broken) return [`its weights are damaged: ${broken} has values that are not numbers; ${remedy}`];
  if (empty) return [`its weights are damaged: ${empty} or a part of it is empty, only zeros, which training does not produce; ${remedy}`];
  if (zeros <= ZEROS * all) return [];
  const percent = ((100 * zeros) / all).toFixed(1);
  return [`its weights are damaged: ${percent} % of them are exactly zero, which training does not produce; ${remedy}`];
}

/** The graphs have one matrix for both ends of the decoder, as Whisper does. */
export function outputFindings(checkpoint: Checkpoint): string[] {
  if (!checkpoint.has(OUTPUT)) return [];
  const [embedding, output] = [checkpoint.float32(EMBEDDING), checkpoint.float32(OUTPUT)];
  if (output.length === embedding.length && output.every((value, i) => value === embedding[i])) return [];
  return [
    `${OUTPUT} is not the embedding of the tokens (tie_word_embeddings is false in config.json), which would be used in its place; use a checkpoint that was fine-tuned with both tied, as in Whisper`,
  ];
}

/** Exact zeros, the most of them in a row, and whether there are values that are not finite. */
function scan(values: Float32Array): { zeros: number; hole: number; broken: boolean } {
  let [zeros, hole, row, broken] = [0, 0, 0, false];
  for (const value of values) {
    if (value === 0) {
      zeros++;
      if (++row > hole) hole = row;
      continue;
    }
    row = 0;
    if (!Number.isFinite(value)) broken = true;
  }
  return { zeros, hole, broken };
}
