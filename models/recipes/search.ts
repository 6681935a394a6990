import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Variant } from '../build/graph/graph.ts';
import { buildProbe, type Probe } from '../build/whisper/build.ts';
import { isInt8, readDoubtfulHeads } from '../build/whisper/config.ts';
import { checkFrom, costsAccuracy, costsTime, increase, type Measure, type Measured, refusal, tooFarOff } from '../checks/self-check.ts';
import { type Recipe, readWhisper, writeDescriptor } from '../descriptor.ts';
import { refused } from '../install/install.ts';
import { type Making, make } from '../install/making.ts';
import { PARTIAL } from '../install/unfinished.ts';
import { candidates, type Losses, safer } from './ladder.ts';
import { recipeFor } from './recipes.ts';

const SECONDS = 120; // time limit for trying faster recipes; the current one is finished

/** Builds by the recipe that measures best: first a safe one, then faster ones as long as accuracy holds. */
export async function makeMeasured(given: Making, measure: Measure): Promise<void> {
  const { making, measured } = await withHeads(given, measure);
  const { checkpoint, known, partial, options } = making;
  const built = async (recipe: Recipe, variant = making.variant): Promise<Built> => {
    options.onStage?.(`checking ${[variant, ...changesOf(recipe, known)].join(', ')}`);
    await make({ ...making, variant }, recipe);
    const measured = await measure(partial);
    return { recipe, variant, measured };
  };
  let best = measured ? { recipe: known, variant: making.variant, measured } : await built(known);
  let reference: Measured | undefined;
  if (isInt8(making.variant) && !options.quick) {
    reference = await measureReference(making, measure);
    const hopeless = !options.force && refusal(reference, checkpoint) !== null; // in any form
    if (!hopeless && tooFarOff(best.measured, reference)) {
      const losses = await probe(making, best, 'scales');
      for (const { recipe, variant } of safer(known, checkpoint, losses)) {
        best = await built(recipe, variant ?? making.variant);
        if (!tooFarOff(best.measured, reference)) break;
      }
    }
  }
  const why = options.force ? null : refusal(best.measured, checkpoint, making.weights);
  if (why) throw refused(making.name, why);
  if (reference && known.hop === recipeFor('', making.variant).hop && isInt8(best.variant)) {
    const losses = await probe(making, best, 'heads');
    const { fastest, last } = await faster(best, built, candidates(readWhisper(partial).dimensions, losses));
    if (last !== fastest) await make(making, fastest.recipe);
    best = fastest;
  }
  const check = checkFrom(best.measured);
  const descriptor = readWhisper(partial);
  const thread = Math.max(descriptor.memory.thread, check.threadBytes);
  writeDescriptor(partial, { ...descriptor, memory: { ...descriptor.memory, thread }, check: { ...check, reference: reference?.rates } });
}

/**
 * Where the checkpoint lists alignment heads that were published for another size: with these instead of those of its own size, if it then
 * makes fewer errors. With wrong heads the engine misjudges which speech was heard. `measured`: of the build that is there; absent: none is.
 */
async function withHeads(making: Making, measure: Measure): Promise<{ making: Making; measured?: Measured }> {
  const { weights, known, partial, options } = making;
  const alignmentHeads = weights ? null : readDoubtfulHeads(making.checkpoint);
  if (!alignmentHeads) return { making };
  const listed = { ...making, alignmentHeads };
  options.onStage?.('checking alignment heads');
  await make(listed, known);
  const found = await measure(partial, { speed: false });
  await make(making, known);
  const measured = await measure(partial);
  return increase(found, measured) < 0 ? { making: listed } : { making, measured };
}

/** In words, how a recipe differs from that of the first build. */
function changesOf({ hop, scales, coarseHeads, pooledLayers }: Recipe, known: Recipe): string[] {
  return [
    ...(hop === known.hop ? [] : [`${hop / 16} ms frames`]),
    ...(scales.rowwise.length ? [`scales by row for ${scales.rowwise.length} matrices`] : []),
    ...(coarseHeads === known.coarseHeads ? [] : [`${coarseHeads.flat().length} coarse heads`]),
    ...(pooledLayers === known.pooledLayers ? [] : [`${pooledLayers.length} pooled layers`]),
  ];
}

type Built = { recipe: Recipe; variant: Variant; measured: Measured };

/**
 * Tries faster recipes: all changes together, which is usually accepted and takes one measurement, else one at a time until the time is up.
 * Keeps those that cost neither accuracy nor time. `last` is the one whose files are there.
 */
async function faster(
  safe: Built,
  built: (recipe: Recipe, variant?: Variant) => Promise<Built>,
  changes: readonly Partial<Recipe>[],
): Promise<{ fastest: Built; last: Built }> {
  const end = performance.now() + 1000 * SECONDS;
  let [fastest, last] = [safe, safe];
  const isKept = async (recipe: Recipe): Promise<boolean> => {
    last = await built(recipe);
    const kept = !costsAccuracy(last.measured, safe.measured) && !costsTime(last.measured, fastest.measured);
    if (kept) fastest = last;
    return kept;
  };
  if (changes.length && (await isKept(Object.assign({}, safe.recipe, ...changes)))) return { fastest, last };
  let allKept = true;
  for (const [i, change] of changes.entries()) {
    const isAll = allKept && i === changes.length - 1; // rejected above
    if (isAll || performance.now() > end) break;
    allKept = (await isKept({ ...fastest.recipe, ...change })) && allKept;
  }
  return { fastest, last };
}

/** Findings of a measuring encoder; undefined if nothing runs it. */
async function probe({ checkpoint, partial, options }: Making, { recipe, variant }: Built, kind: Probe): Promise<Losses | undefined> {
  if (!options.probe) return undefined;
  const folder = `${partial}.probe${PARTIAL}`;
  try {
    options.onStage?.(kind === 'heads' ? 'measuring attention heads' : 'measuring activations');
    await mkdir(folder);
    const network = join(folder, 'probe.onnx');
    await buildProbe(kind, checkpoint, network, variant, recipe, options.signal);
    return await options.probe(network, recipe.hop);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Measures the same checkpoint in float32 for reference and removes it again. */
async function measureReference(making: Making, measure: Measure): Promise<Measured> {
  const folder = `${making.partial}.reference${PARTIAL}`;
  try {
    making.options.onStage?.('checking float32 for comparison');
    await make({ ...making, variant: 'float32' }, recipeFor('', 'float32'), folder);
    return await measure(folder, { speed: false });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
