import type { Weights } from '../graph/graph.ts';
import type { Whisper } from './config.ts';

const SHARE = 0.7; // of the unevenness of the activations that moves into the weights: SmoothQuant's alpha
const SIGMAS = 4; // normalised activations reach about this far
const FLOOR = 1e-5;

/**
 * The same network with evener activations, so that 8 bits lose less of them: what a layer norm multiplies a channel by is moved in part into the
 * columns of the matrices behind it, which have a scale per row anyway. After SmoothQuant (Xiao et al. 2023), with the range of a channel
 * estimated from the norm itself instead of from recordings. Makes the error of the int8 encoder a fifth smaller.
 */
export function smoothed(checkpoint: Weights, { encoderLayers, decoderLayers }: Whisper): Weights {
  const readers = matricesByNorm(encoderLayers, decoderLayers);
  const normOf = new Map([...readers].flatMap(([norm, matrices]) => matrices.map((matrix) => [matrix, norm] as const)));
  const known = new Map<string, Float32Array>();
  const factorsOf = (norm: string) => {
    if (!known.has(norm)) known.set(norm, factors(checkpoint, norm, readers.get(norm)!));
    return known.get(norm)!;
  };
  return {
    shape: (name) => checkpoint.shape(name),
    float32(name) {
      const values = checkpoint.float32(name);
      const norm = name.replace(/\.(weight|bias)$/, '');
      if (readers.has(norm)) return values.map((value, channel) => value / factorsOf(norm)[channel]!);
      const before = normOf.get(name);
      if (before === undefined) return values;
      const by = factorsOf(before);
      return values.map((value, i) => value * by[i % by.length]!);
    },
  };
}

/** What divides each channel of a norm, [D]. */
function factors(checkpoint: Weights, norm: string, matrices: readonly string[]): Float32Array {
  const gain = checkpoint.float32(`${norm}.weight`);
  const shift = checkpoint.float32(`${norm}.bias`);
  const heaviest = new Float32Array(gain.length).fill(FLOOR); // by column
  for (const matrix of matrices) {
    checkpoint.float32(matrix).forEach((value, i) => {
      const column = i % heaviest.length;
      heaviest[column] = Math.max(heaviest[column]!, Math.abs(value));
    });
  }
  return gain.map((value, i) => {
    const reach = Math.max(FLOOR, SIGMAS * Math.abs(value) + Math.abs(shift[i]!));
    return reach ** SHARE / heaviest[i]! ** (1 - SHARE);
  });
}

/** The matrices that read each layer norm. The last norm of the decoder is left out: its matrix is the token embedding too. */
function matricesByNorm(encoderLayers: number, decoderLayers: number): Map<string, string[]> {
  const layers = (side: string, count: number) => Array.from({ length: count }, (_, l) => `model.${side}.layers.${l}`);
  const decoder = layers('decoder', decoderLayers);
  const norms = new Map<string, string[]>();
  for (const layer of [...layers('encoder', encoderLayers), ...decoder]) {
    norms.set(`${layer}.self_attn_layer_norm`, projections(`${layer}.self_attn`, 'q', 'k', 'v'));
    norms.set(`${layer}.final_layer_norm`, [`${layer}.fc1.weight`]);
  }
  for (const layer of decoder) norms.set(`${layer}.encoder_attn_layer_norm`, projections(`${layer}.encoder_attn`, 'q'));
  const crossed = decoder.flatMap((layer) => projections(`${layer}.encoder_attn`, 'k', 'v'));
  return norms.set('model.encoder.layer_norm', crossed);
}

function projections(attention: string, ...names: string[]): string[] {
  return names.map((name) => `${attention}.${name}_proj.weight`);
}
