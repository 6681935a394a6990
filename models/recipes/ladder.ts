import type { Variant } from '../build/graph/graph.ts';
import { readConfig } from '../build/whisper/config.ts';
import type { Descriptor, Recipe } from '../descriptor.ts';
import { DEFAULT } from './default.ts';

interface Safer {
  recipe(known: Recipe, checkpoint: string): Recipe;
  /** Where even the numbers are others. */
  variant?: Variant;
}

/** What is built instead where 8 bits lose words, one after the other: scales by row for the encoder, for all products, then float32. */
export const SAFER: readonly Safer[] = [
  {
    recipe: (known, checkpoint) => ({
      ...DEFAULT,
      hop: known.hop,
      scales: { ...DEFAULT.scales, rowwise: matrices(checkpoint, ['encoder']) },
    }),
  },
  { recipe: (_, checkpoint) => ({ ...DEFAULT, scales: { ...DEFAULT.scales, rowwise: matrices(checkpoint, ['encoder', 'decoder']) } }) },
  { recipe: () => DEFAULT, variant: 'float32' },
];

/** Changes of a recipe that make it faster and may cost words, the greatest gain first. */
export function candidates({ layers, alignmentHeads }: Descriptor['dimensions']): Partial<Recipe>[] {
  const aligning = new Set(alignmentHeads.map(([layer]) => layer));
  const others = Array.from({ length: layers }, (_, l) => l).filter((l) => !aligning.has(l));
  return [{ hop: 176 }, ...(others.length ? [{ pooledLayers: others }] : [])];
}

/** The matrices of both sides whose activations are quantised by call: all but those behind a GELU, which have scales by row anyway. */
function matrices(checkpoint: string, sides: ('encoder' | 'decoder')[]): string[] {
  const config = readConfig(checkpoint);
  const layers = { encoder: config.encoder_layers, decoder: config.decoder_layers };
  const own = ['q', 'k', 'v', 'out'].map((part) => `self_attn.${part}_proj`);
  const crossed = ['q', 'k', 'v', 'out'].map((part) => `encoder_attn.${part}_proj`);
  return sides.flatMap((side) =>
    Array.from({ length: layers[side] }, (_, l) => `model.${side}.layers.${l}`).flatMap((layer) =>
      [...own, ...(side === 'decoder' ? crossed : []), 'fc1'].map((part) => `${layer}.${part}`),
    ),
  );
}
