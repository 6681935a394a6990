import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Variant } from './build/graph/graph.ts';
import { build, buildProbe, checkpointSha256, type Probe } from './build/whisper/build.ts';
import { isInt8, readDoubtfulHeads } from './build/whisper/config.ts';
import { variantForCpu } from './cpu.ts';
import { DESCRIPTOR, type Recipe, readWhisper, writeDescriptor } from './descriptor.ts';
import { inspect } from './inspect.ts';
import { install, refused } from './install.ts';
import { type Credit, creditOf } from './licence.ts';
import { candidates, type Losses, safer } from './recipes/ladder.ts';
import { recipeFor } from './recipes/recipes.ts';
import { type Restored, restore } from './restore.ts';
import { checkFrom, costsAccuracy, costsTime, increase, type Measure, type Measured, refusal, tooFarOff } from './self-check.ts';
import { checkpointBytes, checkSpace } from './space.ts';
import { checkNew, type Model } from './store.ts';
import { PARTIAL } from './unfinished.ts';
import { verify } from './verify.ts';

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

const SECONDS = 120; // time limit for trying faster recipes; the current one is finished
const HALF = 2; // bytes of a weight in half precision, as checkpoints are

/**
 * Converts a Whisper checkpoint folder into a model in `home`; or, for devices without 8-bit products, an int8 model of ours. The model appears
 * atomically. Throws if the name is taken, the folder is neither, or the self-check fails.
 */
export async function importModel(checkpoint: string, options: ImportOptions): Promise<Model> {
  const variant = options.variant ?? variantForCpu();
  const weights = isBuilt(checkpoint) ? await restored(checkpoint, variant, options.signal) : undefined;
  const name = options.name ?? (weights ? `${weights.model.name}-${variant}` : basename(resolve(checkpoint)));
  await checkNew(name, variant, options.home);
  const credit = weights ? { licence: weights.model.licence, attribution: null } : creditOf(checkpoint, name, options);
  const findings = options.force || weights ? [] : inspect(checkpoint);
  if (findings.length) throw refused(name, findings.join('; '));
  const bytes = weights ? HALF * weights.parameters : await checkpointBytes(checkpoint);
  await checkSpace(options.home, bytes, variant, Boolean(options.measure) && !options.quick);
  return install(name, options.home, async (partial) => {
    const sha256 = weights?.sha256 ?? (await checkpointSha256(checkpoint));
    const known = recipeFor(sha256, variant);
    const making = { checkpoint, weights, credit, known, name, variant, partial, options, createdAt: new Date().toISOString() };
    await (options.measure ? makeMeasured(making, options.measure) : make(making, known));
  });
}

/** Whether a folder is a model that was built, not a checkpoint. */
export function isBuilt(folder: string): boolean {
  return existsSync(join(folder, DESCRIPTOR));
}

async function restored(folder: string, variant: Variant, signal?: AbortSignal): Promise<Restored> {
  if (isInt8(variant))
    throw new Error(
      `Cannot convert ${folder} to ${variant}: it is a built model; choose --variant float16 for GPUs, or float32, or import its checkpoint`,
    );
  const [damage] = await verify(folder, undefined, signal); // otherwise it would get checksums of its own
  if (damage) throw new Error(`Cannot convert ${folder}: ${damage}; remove the model and import its checkpoint again`);
  return restore(folder);
}

interface Making {
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
async function make(making: Making, recipe: Recipe, folder = making.partial): Promise<void> {
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

/** Builds by the recipe that measures best: first a safe one, then faster ones as long as accuracy holds. */
async function makeMeasured(given: Making, measure: Measure): Promise<void> {
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
  const found = await measure(partial);
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
    return await measure(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
