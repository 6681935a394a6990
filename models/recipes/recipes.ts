import type { Variant } from '../build/graph/graph.ts';
import type { Recipe } from '../descriptor.ts';
import { DEFAULT } from './default.ts';
import { CHECKPOINT, WHISPER_BASE } from './whisper-base.ts';

/** Recipes measured for individual checkpoints, by checksum of their weights; valid for the 8-bit variants. */
const MEASURED: Readonly<Record<string, Recipe>> = { [CHECKPOINT]: WHISPER_BASE };

/** The recipe for a checkpoint before anything is measured here. */
export function recipeFor(sha256: string, variant: Variant): Recipe {
  return (variant.startsWith('int8') && MEASURED[sha256]) || DEFAULT;
}
