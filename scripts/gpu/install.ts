import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { PROVIDERS, runtimeVersion } from '../../engine/runtime/gpu.ts';
import { link, prepare } from './place.ts';
import { download, findWheel, fitsRequirement, unpack } from './wheel.ts';

const PROJECT = 'onnxruntime-gpu';
const DEEPER = ['nvidia-cublas', 'nvidia-nvjitlink']; // dependencies of the named ones
const wanted = (library: string) => PROVIDERS.includes(library) || !library.includes('onnxruntime'); // no other provider, no Python

interface InstallOptions {
  /** A folder with the libraries or wheels, for installing offline. */
  from?: string;
  /** Base URL of the package index. */
  index?: string;
  /** Called with the current step. */
  onStage: (line: string) => void;
}

/** Installs the CUDA provider of exactly onnxruntime's version, and the CUDA and cuDNN libraries that it requires. Returns the files. */
export async function install({ from, index, onStage }: InstallOptions): Promise<string[]> {
  if (process.platform !== 'linux') throw new Error(`Cannot install the CUDA provider on ${process.platform}: it exists for Linux`);
  const to = prepare();
  if (from) await fromFolder(from, to);
  else await fromIndex(to, index, onStage);
  const files = readdirSync(to);
  const missing = PROVIDERS.filter((name) => !files.includes(name));
  if (missing.length)
    throw new Error(
      `Cannot install the CUDA provider: found no ${missing.join(' and no ')}; expected those of onnxruntime ${runtimeVersion()}`,
    );
  link();
  return files;
}

/** Copies libraries and unpacks wheels. Rejects providers of another version than onnxruntime's if a wheel's name states it. */
async function fromFolder(from: string, to: string): Promise<void> {
  for (const name of readdirSync(from)) {
    const version = /^onnxruntime_gpu-([\d.]+)-/.exec(name)?.[1];
    if (version && version !== runtimeVersion())
      throw new Error(`Cannot use ${name}: it must be for onnxruntime ${runtimeVersion()}, the installed version`);
    if (name.endsWith('.whl')) await unpack(path.join(from, name), to, wanted);
    else if (/\.so(\.\d+)*$/.test(name)) copyFileSync(path.join(from, name), path.join(to, name));
  }
}

async function fromIndex(to: string, index: string | undefined, onStage: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(path.join(path.dirname(to), 'download-'));
  try {
    const get = async (project: string, fits: (version: string) => boolean) => {
      const wheel = await findWheel(project, fits, index);
      onStage(`${wheel.filename}, ${Math.round(wheel.size / 1e6)} MB`);
      const file = await download(wheel, folder, () => {});
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
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
