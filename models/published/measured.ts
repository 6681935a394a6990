import { rm } from 'node:fs/promises';
import type { Variant } from '../build/graph/graph.ts';
import { isInt8 } from '../build/whisper/config.ts';
import { checkFrom, frameRefusal, type Measured, tooFarOff } from '../checks/self-check.ts';
import { readDescriptor, writeDescriptor } from '../descriptor.ts';
import { refused } from '../install/install.ts';
import type { ImportOptions } from '../install/making.ts';
import { PARTIAL } from '../install/unfinished.ts';

/** A CTC or transducer model that is being imported. */
export interface Import extends Pick<ImportOptions, 'measure' | 'quick' | 'force' | 'onStage'> {
  name: string;
  variant: Variant;
  /** Writes the model to a folder in a variant, replacing what is there. */
  write(folder: string, variant: Variant): Promise<void>;
}

/**
 * Writes a model and runs the self-check. If 8 bits, converted here, are too far from float32, float32 is taken. Throws if the model fails.
 */
export async function writeMeasured(folder: string, making: Import): Promise<void> {
  const { name, variant, measure, quick, force, onStage, write } = making;
  await write(folder, variant);
  if (!measure) return;
  onStage?.(`checking ${variant} on recordings`);
  let measured = await measure(folder);
  const reference = converted(folder) && isInt8(variant) && !quick ? await measureReference(folder, measure, making) : undefined;
  if (reference && tooFarOff(measured, reference)) {
    onStage?.('8 bits differ too much from float32, which is used instead');
    await rm(folder, { recursive: true });
    await write(folder, 'float32');
    measured = reference;
  }
  const why = force ? null : frameRefusal(measured);
  if (why) throw refused(name, why);
  const check = checkFrom(measured);
  const descriptor = readDescriptor(folder);
  const thread = Math.max(descriptor.memory.thread, check.threadBytes);
  writeDescriptor(folder, { ...descriptor, memory: { ...descriptor.memory, thread }, check: { ...check, reference: reference?.rates } });
}

/** Whether the model in a folder was converted to 8 bits here. */
function converted(folder: string): boolean {
  const descriptor = readDescriptor(folder);
  return descriptor.architecture !== 'whisper' && descriptor.converted;
}

async function measureReference(folder: string, measure: NonNullable<Import['measure']>, { write, onStage }: Import): Promise<Measured> {
  const reference = `${folder}.reference${PARTIAL}`;
  try {
    onStage?.('checking float32 for comparison');
    await write(reference, 'float32');
    return await measure(reference);
  } finally {
    await rm(reference, { recursive: true, force: true });
  }
}
