import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { PROVIDERS, runtimeVersion } from '../../engine/runtime/gpu.ts';
import { isFull } from '../../models/choosing/space.ts';
import { checkSource, PLACES, type Places, replace } from './place.ts';
import { download, findWheel, fitsRequirement, unpack } from './wheel.ts';

const PROJECT = 'onnxruntime-gpu';
const WHEEL = /^(onnxruntime_gpu|nvidia_\w+)-.*\.whl$/; // `pip download` fetches those of numpy and others as well
const DEEPER = ['nvidia-cublas', 'nvidia-nvjitlink']; // dependencies of the named ones
const wanted = (library: string) => PROVIDERS.includes(library) || !library.includes('onnxruntime'); // no other provider, no Python

interface InstallOptions {
  /** A folder with the libraries or wheels, for installing offline. */
  from?: string;
  /** Base URL of the package index. */
  index?: string;
  /** Called with the current step. */
  onStage: (line: string) => void;
  places?: Places;
}

/**
 * Installs the CUDA provider of exactly onnxruntime's version, and the CUDA and cuDNN libraries that it requires. Returns the files. If
 * that fails, an earlier installation stays. `from` may be the installation itself, to restore its links.
 */
export async function install({ from, index, onStage, places = PLACES }: InstallOptions): Promise<string[]> {
  if (process.platform !== 'linux') throw new Error(`Cannot install the CUDA provider on ${process.platform}: it exists for Linux`);
  if (from) checkSource(from, places);
  await replace(places, async (to, downloads) => {
    if (from) await fromFolder(from, to);
    else await fromIndex(to, downloads, index, onStage);
    const files = readdirSync(to);
    const missing = PROVIDERS.filter((name) => !files.includes(name));
    if (missing.length)
      throw new Error(
        `Cannot install the CUDA provider: ${from ?? 'the wheel'} has no ${missing.join(' and no ')}; expected those of onnxruntime ${runtimeVersion()}`,
      );
  }).catch((cause) => {
    if (!isFull(cause)) throw cause;
    const remedy = 'nothing of it was kept, and an earlier installation stays; free 3 GB and try again';
    throw new Error(`Cannot install the CUDA provider in ${path.dirname(places.libraries)}: the disk is full; ${remedy}`, { cause });
  });
  return readdirSync(places.libraries);
}

/** Copies libraries and unpacks wheels. Rejects providers of another version than onnxruntime's if a wheel's name states it. */
async function fromFolder(from: string, to: string): Promise<void> {
  for (const name of readdirSync(from)) {
    const version = /^onnxruntime_gpu-([^-+]+)/.exec(name)?.[1];
    if (version && version !== runtimeVersion())
      throw new Error(`Cannot use ${name}: it must be for onnxruntime ${runtimeVersion()}, the installed version`);
    if (WHEEL.test(name)) await unpack(path.join(from, name), to, wanted).catch((cause) => notUnpacked(name, cause));
    else if (/\.so(\.\d+)*$/.test(name)) copyFileSync(path.join(from, name), path.join(to, name));
  }
}

function notUnpacked(name: string, cause: Error): never {
  if (isFull(cause)) throw cause;
  throw new Error(`Cannot unpack ${name}: it is cut short or damaged (${cause.message}); copy or download it again`, { cause });
}

async function fromIndex(to: string, downloads: string, index: string | undefined, onStage: (line: string) => void): Promise<void> {
  const get = async (project: string, fits: (version: string) => boolean) => {
    const wheel = await findWheel(project, fits, index);
    onStage(`${wheel.filename}, ${Math.round(wheel.size / 1e6)} MB`);
    const file = await download(wheel, downloads, () => {});
    const requirements = await unpack(file, to, wanted);
    rmSync(file);
    return requirements;
  };
  const named = await get(PROJECT, (version) => version === runtimeVersion());
  const all = [...named, ...DEEPER.filter((project) => !named.some((requirement) => requirement.startsWith(project)))];
  for (const requirement of all) {
    const { project, fits } = fitsRequirement(requirement);
    await get(project, fits);
  }
}
