import { resolve } from 'node:path';
import type { Variant } from '../build/graph/graph.ts';
import { build } from '../build/whisper/build.ts';
import { isInt8 } from '../build/whisper/config.ts';
import type { Measure } from '../checks/self-check.ts';
import type { Recipe } from '../descriptor.ts';
import type { Credit } from './licence.ts';
import type { Restored } from './restore.ts';

export interface ImportOptions {
  /** Name of the model. Default: the folder's name. */
  name?: string;
  /** Default: the int8 variant suited to this CPU. */
  variant?: Variant;
  /** The state folder, `LONGHAND_HOME`. */
  home: string;
  /** SPDX expression, and the origin of the checkpoint. */
  licence?: string;
  source?: string;
  /** Runs the self-check on what was built. Without it nothing is measured. */
  measure?: Measure;
  /** Runs an encoder that `buildProbe` built, at a number of samples between frames. Returns the mean of each output, by name. */
  probe?: (network: string, hop: number) => Promise<Record<string, number[]>>;
  /** Measure only the first build, without trying faster recipes. */
  quick?: boolean;
  /** Install the model even if it fails the self-check. */
  force?: boolean;
  /** Progress of the first conversion, 0 to 1, never decreases. */
  onProgress?: (fraction: number) => void;
  /** Called with a description of the current step. */
  onStage?: (stage: string) => void;
  signal?: AbortSignal;
}

/** A model being imported. */
export interface Making {
  checkpoint: string;
  /** Used instead of the checkpoint's. */
  weights?: Restored;
  credit: Credit;
  /** Recipe before anything is measured here. */
  known: Recipe;
  name: string;
  variant: Variant;
  partial: string;
  options: ImportOptions;
  createdAt: string;
  /** Instead of those of the checkpoint. */
  alignmentHeads?: [number, number][];
}

/** Builds the model by a recipe, replacing an earlier build. */
export async function make(making: Making, recipe: Recipe, folder = making.partial): Promise<void> {
  const { checkpoint, weights, credit, name, variant, options, createdAt } = making;
  const { licence = credit.licence, signal, onProgress } = options;
  const source = options.source ?? (weights ? `${weights.model.source}; converted from ${weights.model.variant}` : resolve(checkpoint));
  const converted = isInt8(variant) ? 'converted to 8 bits' : 'unchanged but for their precision';
  const attribution =
    weights?.model.attribution ?? (credit.attribution ? `${credit.attribution}; the weights are ${converted}` : undefined);
  const alignmentHeads = making.alignmentHeads ?? weights?.model.dimensions.alignmentHeads;
  const about = { name, licence, source, attribution, createdAt };
  await build(checkpoint, folder, { ...about, weights, variant, recipe, alignmentHeads, signal, onProgress });
}
