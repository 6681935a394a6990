import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Device } from './session.ts';

/** Whether a session opens on the GPU; if not, what is missing and how to fix it. */
export interface GpuState {
  usable: boolean;
  found: string;
  /** Empty if there is nothing to do. */
  remedy: string;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RUNTIME = path.dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));

/** Where the CUDA libraries are installed; `scripts/longhand` adds this to the loader's path. */
export const LIBRARIES = path.join(ROOT, '.gpu', 'lib');
export const PROVIDERS = ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'];
/** Where onnxruntime looks for its execution providers. */
export const RUNTIME_FOLDER = path.join(RUNTIME, 'bin', 'napi-v6', process.platform, process.arch);

/** Version of onnxruntime. Providers of another version crash. */
export function runtimeVersion(): string {
  return (JSON.parse(readFileSync(path.join(RUNTIME, 'package.json'), 'utf8')) as { version: string }).version;
}

const TIMEOUT_MS = 60_000;
const INSTALL = 'Run scripts/longhand gpu install.';
const DRIVER = 'Install the NVIDIA driver (nvidia-smi must list the GPU); in a container, pass the GPU through (--gpus all).';

/** Opens a session on the GPU in a separate process, because an incompatible provider crashes its process. */
export function checkGpu(): Promise<GpuState> {
  const missing = PROVIDERS.filter((name) => !existsSync(path.join(RUNTIME_FOLDER, name)));
  if (missing.length)
    return Promise.resolve({ usable: false, found: `the CUDA provider is not installed (${missing.join(', ')})`, remedy: INSTALL });
  const args = ['--import', 'tsx', path.join(ROOT, 'engine', 'runtime', 'gpu-session.ts')];
  const env = { ...process.env, LD_LIBRARY_PATH: [LIBRARIES, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':') };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT, env, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      if (!error && stdout.includes('opened')) resolve({ usable: true, found: 'a session opens on the GPU', remedy: '' });
      else resolve(explain(`${stdout}\n${stderr}\n${error?.signal ? `ended by ${error.signal}` : ''}`));
    });
  });
}

/** Translates an error message of onnxruntime. */
export function explain(words: string): GpuState {
  const said = (found: string, remedy: string) => ({ usable: false, found, remedy });
  const library = /(lib[\w.+-]+?\.so[\d.]*): cannot open shared object file/.exec(words.replace(/Failed to load library \S+/g, ''))?.[1];
  if (library === 'libcuda.so.1') return said('the NVIDIA driver is missing: libcuda.so.1 was not found', DRIVER);
  if (library?.startsWith('libcudnn')) return said(`cuDNN is missing: ${library}`, INSTALL);
  if (library?.startsWith('libonnxruntime')) return said(`the CUDA provider is not installed (${library})`, INSTALL);
  if (library) return said(`a CUDA library is missing: ${library}`, INSTALL);
  if (/no CUDA-capable device|CUDA failure 100\b/.test(words)) return said('the driver found no CUDA-capable device', DRIVER);
  if (/driver version is insufficient|CUDA failure 35\b/.test(words))
    return said('the NVIDIA driver is too old for this CUDA version', 'Update the driver of NVIDIA.');
  if (/out of memory|CUDA failure 2\b/.test(words))
    return said('the GPU is out of memory', 'Stop other programs that use the GPU (nvidia-smi lists them).');
  const line = words
    .split('\n')
    .find((text) => /error|fail|ended/i.test(text))
    ?.trim();
  return said(`cannot open a session on the GPU: ${line?.slice(0, 200) ?? 'onnxruntime gave no reason'}`, INSTALL);
}

/**
 * Selects the device for speech recognition: the requested one, or with `auto` the GPU if it is usable and the model supports it, else the
 * CPU. 8-bit models never run on a GPU.
 */
export async function chooseDevice(asked: Device | 'auto', allowed: readonly Device[]): Promise<Device> {
  if (asked !== 'auto') return asked;
  return allowed.includes('cuda') && (await checkGpu()).usable ? 'cuda' : 'cpu';
}
