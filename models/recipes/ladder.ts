import type { Variant } from '../build/graph/graph.ts';
import { readConfig } from '../build/whisper/config.ts';
import type { Recipe, WhisperDescriptor } from '../descriptor.ts';
import { DEFAULT } from './default.ts';

/** Outputs of a measuring encoder, by name: see models/build/whisper/probe.ts. */
export type Losses = Readonly<Record<string, readonly number[]>>;

interface Safer {
  recipe: Recipe;
  /** Set where the number format differs as well. */
  variant?: Variant;
}

/**
 * Loss with one scale per call above which a matrix gets scales per row, if these lose less than half. An estimate from one checkpoint: base, whose matrices
 * lose up to 1.7e-3, needs no scales per row.
 */
const NOISY = 2e-3;

/**
 * Fallbacks, in order, if 8 bits cost accuracy: scales per row for the encoder's matrices whose activations ask for it, for all of the encoder, for
 * all products, then float32.
 * @param losses of the activations, see `addScaleProbe`; absent: not measured
 */
export function safer(known: Recipe, checkpoint: string, losses: Losses = {}): Safer[] {
  const noisy = Object.entries(losses).flatMap(([name, [byCall, byRow]]) => (byCall! > NOISY && byRow! < byCall! / 2 ? [name] : []));
  const byRow = (rowwise: string[]) => ({ ...DEFAULT, scales: { ...DEFAULT.scales, rowwise } });
  return [
    ...(noisy.length ? [{ recipe: { ...byRow(noisy), hop: known.hop } }] : []),
    { recipe: { ...byRow(matrices(checkpoint, ['encoder'])), hop: known.hop } },
    { recipe: byRow(matrices(checkpoint, ['encoder', 'decoder'])) },
    { recipe: DEFAULT, variant: 'float32' },
  ];
}

/**
 * Largest loss of a head that may attend to means. Fitted to one checkpoint, base, and its test set (English clips, joined speech, other languages): with
 * 21 of 48 heads, below 2e-5, it has 5.6, 6.0 and 12.5 % errors; with 32, below 8e-5, 5.9, 6.2 and 13.3 %; with the 22 found by trial 5.6,
 * 6.2 and 12.9 %. For a layer of eight heads: the changes of all heads add up, at worst in amplitude, so with twice as many each may lose a
 * quarter. With 4e-5 for any number, 137 of the 144 heads that a model of turbo's width has from base were taken instead of 67.
 */
const LOSS = 4e-5;
const HEADS = 8;

/**
 * Recipe changes that save time but may cost accuracy, greatest gain first.
 * @param losses of attention heads, see `addHeadProbe`; absent: not measured
 */
export function candidates(
  { encoderLayers, layers, alignmentHeads }: WhisperDescriptor['dimensions'],
  losses: Losses = {},
): Partial<Recipe>[] {
  const coarseHeads = Array.from({ length: encoderLayers }, (_, l) => {
    const ofHeads = losses[`loss${l}`] ?? [];
    const most = LOSS * Math.min(1, HEADS / ofHeads.length) ** 2;
    return ofHeads.flatMap((loss, head) => (loss <= most ? [head] : []));
  });
  const aligning = new Set(alignmentHeads.map(([layer]) => layer));
  const others = Array.from({ length: layers }, (_, l) => l).filter((l) => !aligning.has(l));
  return [{ hop: 176 }, ...(coarseHeads.flat().length ? [{ coarseHeads }] : []), ...(others.length ? [{ pooledLayers: others }] : [])];
}

/** The matrices of both sides whose activations are quantised per call: all but those after a GELU, which have scales per row anyway. */
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
