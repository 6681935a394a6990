import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { requantise } from './build/graph/requantise.ts';
import { hasByteDotProduct } from './cpu.ts';
import { type Manifest, manifestOf, writeManifest } from './manifest.ts';
import { findModel, type Model } from './store.ts';
import { describe } from './verify.ts';

const PARTIAL = '.partial'; // being made, perhaps by another process

/**
 * Finds a recognition model as `findModel` does, in a form that is right on this processor: where 8-bit products saturate, an int8 model is turned into one
 * that does not once, kept under `home`, and that one is returned.
 */
export async function fittingModel(name: string, home: string, dotProduct: boolean = hasByteDotProduct()): Promise<Model> {
  const model = await findModel(name, home);
  if (model.kind !== 'whisper')
    throw new Error(`Cannot recognise speech with ${name}: it is for ${model.kind}; "longhand models list" shows the others`);
  if (dotProduct || model.variant !== 'int8') return model;
  const source = `${model.source}; without saturation, from ${model.files.map((file) => file.sha256.slice(0, 8)).join('-')}`;
  const folder = join(home, 'models', '.7bit', name, createHash('sha256').update(source).digest('hex').slice(0, 16));
  const manifest = (await manifestOf(folder).catch(() => null)) ?? (await convert(model, folder, source));
  return { ...model, ...manifest, folder };
}

/** Appears whole or not at all. Of several at once the first stays: its files are read already. */
async function convert(model: Model, folder: string, source: string): Promise<Manifest> {
  const partial = `${folder}.${randomUUID()}${PARTIAL}`;
  try {
    await mkdir(partial, { recursive: true });
    for (const { name } of model.files) {
      const bytes = await readFile(join(model.folder, name));
      if (name.endsWith('.onnx')) requantise(bytes);
      await writeFile(join(partial, name), bytes);
    }
    const files = await Promise.all(model.files.map(({ name }) => describe(partial, name)));
    const { name, kind, licence } = model;
    const manifest: Manifest = { name, kind, variant: 'int8-7bit', licence, source, createdAt: new Date().toISOString(), files };
    await writeManifest(partial, manifest);
    try {
      await rename(partial, folder);
    } catch (error) {
      const there = await manifestOf(folder).catch(() => null);
      if (!there) throw error;
      return there;
    }
    await removeOthers(folder);
    return manifest;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** What was made of another model that had this name. */
async function removeOthers(folder: string): Promise<void> {
  const [all, own] = [dirname(folder), basename(folder)];
  const others = (await readdir(all)).filter((entry) => entry !== own && !entry.endsWith(PARTIAL));
  await Promise.all(others.map((entry) => rm(join(all, entry), { recursive: true, force: true })));
}
