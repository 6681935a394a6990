import { spawnSync } from 'node:child_process';
import { type Descriptor, LOOP } from '../../models/descriptor.ts';

/** Memory of a GPU, in bytes. */
export interface GpuMemory {
  free: number;
  /** Peak of a thread: the model, and the windows that it decodes at once. */
  thread: number;
}

const MIB = 2 ** 20;
const HALF = 2; // bytes of a number
const SCORES = 1.5; // tensors of the size of an encoder layer's attention scores
const KEYS = 1.2; // of all keys and values of the cross-attention
const BASE = 300 * MIB; // of a thread
const MARGIN = 1.2;
const TIMEOUT_MS = 5000;

/**
 * The memory of the GPU in use, and of a thread with a float16 Whisper model. The estimate is at least that measured on an H200: a quarter of
 * what 4 threads took beyond 1 GB is 1.9 GB for base, 2.7 for small, 6.8 for medium and 4.2 for large-v3-turbo (docs/benchmarks.md). Null for other models, and if nvidia-smi
 * is not there to ask.
 */
export function gpuMemory(descriptor: Descriptor, rows: number, free: number | null = freeMemory()): GpuMemory | null {
  if (free === null || descriptor.architecture !== 'whisper' || descriptor.variant !== 'float16') return null;
  const { heads, layers, width } = descriptor.dimensions;
  const frames = descriptor.window.steps / 2;
  const row = SCORES * heads * frames ** 2 * HALF + KEYS * 2 * layers * frames * width * HALF;
  const weights = descriptor.files.filter(({ name }) => name.startsWith(LOOP)).reduce((sum, { bytes }) => sum + bytes, 0);
  return { free, thread: MARGIN * (weights + BASE + rows * row) };
}

/** Free memory of the first GPU that this process may use, as the driver's nvidia-smi says; null if it cannot be asked. */
function freeMemory(): number | null {
  const [gpu = '0'] = (process.env.CUDA_VISIBLE_DEVICES ?? '0').split(',');
  const query = [`--id=${gpu}`, '--query-gpu=memory.free', '--format=csv,noheader,nounits'];
  const { status, stdout } = spawnSync('nvidia-smi', query, { encoding: 'utf8', timeout: TIMEOUT_MS });
  const free = status === 0 ? Number.parseInt(stdout, 10) : Number.NaN;
  return Number.isNaN(free) ? null : free * MIB;
}
