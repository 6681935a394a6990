import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Variant } from '../build/graph/graph.ts';
import { checkpointSha256 } from '../build/whisper/build.ts';
import { isInt8, readConfig } from '../build/whisper/config.ts';
import { parametersOf } from '../build/whisper/shapes.ts';
import { inspect } from '../checks/inspect.ts';
import { otherForm } from '../checks/other-forms.ts';
import { verify } from '../checks/verify.ts';
import { variantForCpu } from '../choosing/cpu.ts';
import { checkSpace } from '../choosing/space.ts';
import { DESCRIPTOR } from '../descriptor.ts';
import { recipeFor } from '../recipes/recipes.ts';
import { makeMeasured } from '../recipes/search.ts';
import { checkNew, type Model } from '../store.ts';
import { install, refused } from './install.ts';
import { creditOf } from './licence.ts';
import { type ImportOptions, make } from './making.ts';
import { type Restored, restore } from './restore.ts';

/**
 * Converts a Whisper checkpoint folder into a model in `home`; or, for devices without 8-bit products, an int8 model of ours. The model appears
 * atomically. Throws if the name is taken, the folder is neither, or the self-check fails.
 */
export async function importModel(checkpoint: string, options: ImportOptions): Promise<Model> {
  const variant = options.variant ?? variantForCpu();
  const other = otherForm(checkpoint);
  if (other) throw new Error(`Cannot import ${checkpoint}: ${other}`);
  const weights = isBuilt(checkpoint) ? await restored(checkpoint, variant, options.signal) : undefined;
  const name = options.name ?? (weights ? `${weights.model.name}-${variant}` : basename(resolve(checkpoint)));
  await checkNew(name, variant, options.home);
  const credit = weights ? { licence: weights.model.licence, attribution: null } : creditOf(checkpoint, name, options);
  const findings = options.force || weights ? [] : inspect(checkpoint);
  if (findings.length) throw refused(name, findings.join('; '));
  await checkSpace(options.home, parametersOf(readConfig(checkpoint)), variant, Boolean(options.measure) && !options.quick);
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
