import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { requantise } from '../build/graph/requantise.ts';
import { describe } from '../checks/verify.ts';
import { conversionsFolder } from '../derived.ts';
import { DESCRIPTOR, type Descriptor, type DeviceName, readDescriptor, writeDescriptor } from '../descriptor.ts';
import { PARTIAL, removeUnfinished } from '../install/unfinished.ts';
import { manifestOf } from '../manifest.ts';
import { AUTO, findModel, type Model } from '../store.ts';
import { bestInstalled } from './choose.ts';
import { hasByteDotProduct } from './cpu.ts';

const ENCODER = 'encoder.onnx';

/**
 * Finds an ASR model as `findModel` does, in a form suited to this CPU: where 8-bit products saturate, an int8 model is converted once to
 * one that does not, stored under `home`, and that one is returned. `auto` is the best of the models checked on this machine for the device
 * that `device` finds, which is called for nothing else.
 */
export async function fittingModel(
  wanted: string,
  home: string,
  dotProduct: boolean = hasByteDotProduct(),
  device: () => DeviceName | Promise<DeviceName> = () => 'cpu',
): Promise<Model> {
  const model =
    wanted === AUTO
      ? await bestInstalled(home, { cores: availableParallelism(), memoryBytes: memoryHere() }, await device())
      : await findModel(wanted, home);
  const { name } = model;
  if (model.kind === 'diarization')
    throw new Error(`Cannot recognise speech with ${name}: it is for ${model.kind}; "longhand models list" shows the others`);
  if (dotProduct || model.variant !== 'int8' || !isOurs(model.descriptor)) return model;
  const source = `${model.source}; without saturation, from ${model.files.map((file) => file.sha256.slice(0, 8)).join('-')}`;
  const folder = join(conversionsFolder(name, home), createHash('sha256').update(source).digest('hex').slice(0, 16));
  if (!isModel(folder)) await convert(model, folder, source);
  return { ...model, ...manifestOf(folder), folder };
}

/** Bytes of this machine, or of the limit of its container. */
function memoryHere(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/** Whether its 8-bit products are those of our graphs. */
function isOurs(descriptor?: Descriptor): boolean {
  return descriptor?.architecture === 'whisper' || Boolean(descriptor?.converted);
}

/** Appears atomically. If several processes convert concurrently, the first result is kept, because it may already be in use. */
async function convert(model: Model, folder: string, source: string): Promise<void> {
  const partial = `${folder}.${randomUUID()}${PARTIAL}`;
  const descriptor = readDescriptor(model.folder);
  const peakConstants = descriptor.architecture === 'whisper' ? descriptor.crossAttention.peakConstants : [];
  await removeUnfinished(dirname(folder));
  try {
    await mkdir(partial, { recursive: true });
    for (const { name } of model.files) {
      const bytes = await readFile(join(model.folder, name));
      if (name.endsWith('.onnx')) requantise(bytes, name === ENCODER ? peakConstants : []);
      await writeFile(join(partial, name), bytes);
    }
    const files = await Promise.all(model.files.map(({ name }) => describe(partial, name)));
    const made: Descriptor = { ...descriptor, variant: 'int8-7bit', source, createdAt: new Date().toISOString(), files };
    writeDescriptor(partial, made);
    try {
      await rename(partial, folder);
    } catch (error) {
      if (!isModel(folder)) throw error;
      return;
    }
    await removeOthers(folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

function isModel(folder: string): boolean {
  return existsSync(join(folder, DESCRIPTOR));
}

/** Removes conversions of another model that had this name. */
async function removeOthers(folder: string): Promise<void> {
  const [all, own] = [dirname(folder), basename(folder)];
  const others = (await readdir(all)).filter((entry) => entry !== own && !entry.endsWith(PARTIAL));
  await Promise.all(others.map((entry) => rm(join(all, entry), { recursive: true, force: true })));
}
