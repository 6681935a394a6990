import type { Config } from './files.ts';

/** Steps of the encoder. */
export const POSITIONS = 1500;
export const LONGEST_TEXT = 448; // tokens, default for config.json

const KERNEL = 3; // taps of a convolution
const PARTS = ['q', 'k', 'v', 'out'] as const;

/** The shape of every weight of a Whisper checkpoint with this `config.json`, by name. */
export function shapesOf(config: Config): ReadonlyMap<string, readonly number[]> {
  const { d_model: width, max_target_positions: longestText, num_mel_bins: bins } = config;
  const vocabulary = config.paddedVocabulary ?? config.vocab_size;
  const convolution = (name: string, from: number) => [...matrix(name, width, from, KERNEL), vector(`${name}.bias`, width)];
  const sides = (['encoder', 'decoder'] as const).flatMap((side) => {
    const inner = config[`${side}_ffn_dim`] ?? 4 * width;
    const layers = Array.from({ length: config[`${side}_layers`] }, (_, l) => layer(`model.${side}.layers.${l}`, side, width, inner));
    return [...layers.flat(), ...norm(`model.${side}.layer_norm`, width)];
  });
  return new Map([
    ...convolution('model.encoder.conv1', bins),
    ...convolution('model.encoder.conv2', width),
    ...matrix('model.encoder.embed_positions', POSITIONS, width),
    ...matrix('model.decoder.embed_tokens', vocabulary, width),
    ...matrix('model.decoder.embed_positions', longestText ?? LONGEST_TEXT, width),
    ...sides,
  ]);
}

/** Number of parameters of a Whisper checkpoint with this `config.json`. */
export function parametersOf(config: Config): number {
  return [...shapesOf(config).values()].reduce((sum, shape) => sum + shape.reduce((product, size) => product * size, 1), 0);
}

type Shape = [name: string, shape: number[]];

function layer(name: string, side: 'encoder' | 'decoder', width: number, inner: number): Shape[] {
  const attentions = side === 'decoder' ? ['self_attn', 'encoder_attn'] : ['self_attn'];
  return [
    ...attentions.flatMap((kind) => [
      ...PARTS.flatMap((part) => linear(`${name}.${kind}.${part}_proj`, width, width, part !== 'k')),
      ...norm(`${name}.${kind}_layer_norm`, width),
    ]),
    ...linear(`${name}.fc1`, inner, width),
    ...linear(`${name}.fc2`, width, inner),
    ...norm(`${name}.final_layer_norm`, width),
  ];
}

function linear(name: string, rows: number, columns: number, bias = true): Shape[] {
  return [...matrix(name, rows, columns), ...(bias ? [vector(`${name}.bias`, rows)] : [])];
}

function norm(name: string, width: number): Shape[] {
  return [vector(`${name}.weight`, width), vector(`${name}.bias`, width)];
}

function matrix(name: string, ...shape: number[]): Shape[] {
  return [[`${name}.weight`, shape]];
}

function vector(name: string, length: number): Shape {
  return [name, [length]];
}
