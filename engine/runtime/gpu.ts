import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Device } from './session.ts';

/** Whether a session opens on the GPU, and if not, what is missing and what mends it. */
export interface GpuState {
  usable: boolean;
  found: string;
  /** '' where nothing is to be done. */
  remedy: string;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RUNTIME = path.dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));

/** Where the libraries for GPUs lie: `scripts/longhand` tells the loader. */
export const LIBRARIES = path.join(ROOT, '.gpu', 'lib');
export const PROVIDERS = ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'];
/** Where the runtime looks for its providers. */
export const RUNTIME_FOLDER = path.join(RUNTIME, 'bin', 'napi-v6', process.platform, process.arch);

/** The version of the runtime; providers of another one crash. */
export function runtimeVersion(): string {
  return (JSON.parse(readFileSync(path.join(RUNTIME, 'package.json'), 'utf8')) as { version: string }).version;
}

const TIMEOUT_MS = 60_000;
const INSTALL = 'Run scripts/longhand gpu install.';
const DRIVER = 'Install the driver of NVIDIA (nvidia-smi must list the GPU); in a container, give it the GPU (--gpus all).';

/** Opens a session on the GPU in a process of its own: a provider that does not fit takes its process along. */
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

/** What the runtime's own words mean. */
export function explain(words: string): GpuState {
  const said = (found: string, remedy: string) => ({ usable: false, found, remedy });
  const library = /(lib[\w.+-]+?\.so[\d.]*): cannot open shared object file/.exec(words.replace(/Failed to load library \S+/g, ''))?.[1];
  if (library === 'libcuda.so.1') return said('there is no NVIDIA driver: libcuda.so.1 is missing', DRIVER);
  if (library?.startsWith('libcudnn')) return said(`cuDNN is missing: ${library}`, INSTALL);
  if (library?.startsWith('libonnxruntime')) return said(`the CUDA provider is not installed (${library})`, INSTALL);
  if (library) return said(`a library of CUDA is missing: ${library}`, INSTALL);
  if (/no CUDA-capable device|CUDA failure 100\b/.test(words)) return said('the driver finds no CUDA-capable device', DRIVER);
  if (/driver version is insufficient|CUDA failure 35\b/.test(words))
    return said('the NVIDIA driver is older than this CUDA needs', 'Update the driver of NVIDIA.');
  if (/out of memory|CUDA failure 2\b/.test(words))
    return said('the GPU has no memory left', 'End what else uses the GPU (nvidia-smi shows it).');
  const line = words
    .split('\n')
    .find((text) => /error|fail|ended/i.test(text))
    ?.trim();
  return said(`no session opens on the GPU: ${line?.slice(0, 200) ?? 'the runtime does not say why'}`, INSTALL);
}

/**
 * The device that recognition runs on: what was asked for, or with `auto` the GPU where one is usable and the model's networks may run there,
 * else the CPU. 8-bit networks never run on a GPU.
 */
export async function chooseDevice(asked: Device | 'auto', allowed: readonly Device[]): Promise<Device> {
  if (asked !== 'auto') return asked;
  return allowed.includes('cuda') && (await checkGpu()).usable ? 'cuda' : 'cpu';
}
