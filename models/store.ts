import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { VARIANTS, type Variant } from './build/graph/graph.ts';
import { verify } from './checks/verify.ts';
import { removeDerived } from './derived.ts';
import { DESCRIPTOR } from './descriptor.ts';
import { claimed } from './install/claim.ts';
import { type Manifest, manifestOf, SHIPPED, SHIPPED_FOLDER } from './manifest.ts';

/** A model on this machine. */
export interface Model extends Manifest {
  folder: string;
  /** Part of the project; cannot be removed. */
  shipped: boolean;
}

/** Stands for the best installed model that was checked on this machine; no model may have this name. */
export const AUTO = 'auto';

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

/** All usable models, the shipped ones first. */
export async function listModels(home: string): Promise<Model[]> {
  const shipped = SHIPPED.map((name) => join(SHIPPED_FOLDER, name)).map((folder) => ({ ...manifestOf(folder), folder, shipped: true }));
  const imported: Model[] = [];
  for (const name of await importedNames(home)) {
    const folder = join(home, 'models', name);
    const manifest = manifestIn(folder);
    if (manifest) imported.push({ ...manifest, name, folder, shipped: false });
  }
  return [...shipped, ...imported];
}

/** Names of the folders of imported models, or of links to them as on a larger disk, and of others that are no models. */
async function importedNames(home: string): Promise<string[]> {
  const models = join(home, 'models');
  const entries = (await readdir(models).catch(() => [])).filter((name) => !name.startsWith('.'));
  const areFolders = await Promise.all(entries.map((name) => isFolder(join(models, name))));
  return entries.filter((_, i) => areFolders[i]).sort();
}

/** Null if the folder is not a model. */
function manifestIn(folder: string): Manifest | null {
  try {
    return manifestOf(folder);
  } catch {
    return null;
  }
}

/** Finds a model by name: first among the shipped ones, then in `home`. Throws with the available names if it is missing. */
export async function findModel(name: string, home: string): Promise<Model> {
  const models = await listModels(home);
  const model = models.find((candidate) => candidate.name === name);
  if (model) return model;
  const folder = await importedFolder(name, home);
  if (folder) manifestOf(folder); // throws an explanation
  const names = models.filter(({ kind }) => kind !== 'diarization').map((candidate) => candidate.name);
  throw new Error(
    `Cannot find the model ${name}: found ${names.join(', ')}; get it with "longhand models pull" or "longhand models import"`,
  );
}

/** Re-reads every byte of a model. Returns one sentence per damaged file. */
export async function verifyModel(name: string, home: string, signal?: AbortSignal): Promise<string[]> {
  const model = await findModel(name, home);
  return verify(model.folder, model, signal);
}

/** The same for every model, and for those whose descriptor cannot be read. */
export async function verifyAll(home: string): Promise<{ name: string; findings: string[] }[]> {
  const usable = (await listModels(home)).map(({ name }) => name);
  const unusable = (await importedNames(home)).filter(
    (name) => !usable.includes(name) && existsSync(join(home, 'models', name, DESCRIPTOR)),
  );
  const found: { name: string; findings: string[] }[] = [];
  for (const name of usable) found.push({ name, findings: await verifyModel(name, home) });
  for (const name of unusable) found.push({ name, findings: await verifyModel(name, home).catch((error: Error) => [error.message]) });
  return found;
}

/** Deletes an imported model, including one that only an earlier version could open, and its figures. Throws for a shipped one. */
export async function removeModel(name: string, home: string): Promise<void> {
  if (await isDownload(name, home)) {
    const folder = downloadFolder(name, home);
    return claimed(claimOf(folder), `remove the download of ${name}`, () => rm(folder, { recursive: true }));
  }
  if ((SHIPPED as readonly string[]).includes(name))
    throw new Error(`Cannot remove the model ${name}: it is part of the project; only imported models can be removed`);
  await rm((await importedFolder(name, home)) ?? (await findModel(name, home)).folder, { recursive: true });
  await removeDerived(name, home);
}

/** Where `models pull` keeps the files of a repository, owner/name, until the model is installed. */
export function downloadFolder(repository: string, home: string): string {
  return join(home, 'models', '.downloads', repository.replace('/', '--'));
}

/** The file of the process that works on a download. */
export function claimOf(download: string): string {
  return `${download}.claim`;
}

async function isDownload(name: string, home: string): Promise<boolean> {
  const parts = name.split('/');
  return (
    parts.length === 2 && parts.every((part) => NAME.test(part)) && (await stat(downloadFolder(name, home)).catch(() => null)) !== null
  );
}

/** The folder of an imported model, whether or not it can be opened; null if there is none. */
async function importedFolder(name: string, home: string): Promise<string | null> {
  if (!NAME.test(name)) return null;
  const folder = join(home, 'models', name);
  return (await isFolder(folder)) ? folder : null;
}

/** Whether a path is that of a folder or of a link to one. */
async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}

/** Throws if a model of this name cannot be created. */
export async function checkNew(name: string, variant: Variant, home: string): Promise<void> {
  if (!NAME.test(name))
    throw new Error(
      `Cannot name a model "${name}": expected 1 to 64 letters, digits, dots, dashes or underscores, the first a letter or digit; choose another with --name`,
    );
  if (name === AUTO)
    throw new Error(`Cannot name a model "${AUTO}": LONGHAND_MODEL=${AUTO} selects the best of all; choose another name with --name`);
  if (!VARIANTS.includes(variant)) throw new Error(`Cannot build the variant "${variant}": wanted ${VARIANTS.join(', ')}`);
  const shipped = (SHIPPED as readonly string[]).includes(name);
  const taken = shipped ? join(SHIPPED_FOLDER, name) : await importedFolder(name, home);
  if (!taken) return;
  const remedy = shipped
    ? 'choose another with --name'
    : `remove it first ("longhand models remove ${name}") or choose another with --name`;
  throw new Error(`Cannot import the model: the name ${name} is taken by ${taken}; ${remedy}`);
}
