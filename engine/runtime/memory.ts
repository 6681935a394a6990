import type { Descriptor } from '../../models/descriptor.ts';
import type { GpuMemory } from './gpu-memory.ts';
import { bytesForThread, type Machine, threadsFor } from './machine.ts';
import type { Device } from './session.ts';

/** Most threads on a GPU. On an H200, 8 transcribe several recordings 17 to 49 % faster than 4, and 12 or 16 no faster than 8. */
const ON_CUDA = 8;
/** The same if its memory is not known: each thread loads the model into it. */
const ON_UNKNOWN = 4;
/** With several threads on WebGPU the process was aborted when they were closed (onnxruntime 1.30, "double free or corruption"). */
const ON_WEBGPU = 1;
const CONTEXT_BYTES = 2 ** 30; // on the GPU, of the process
const OTHER_NETWORKS_BYTES = 0.3 * 2 ** 30;

/** Threads of a pool and their memory. */
export interface PoolMemory {
  threads: number;
  /** For models loaded on demand, per thread. */
  othersBytes: number;
  /** Of all threads. */
  bytes: number;
}

/**
 * Plans the memory of a pool: threads that can hold the resident model and the largest other one; what is left is for further ones.
 * @param gpu memory of the GPU; null: not known
 */
export function memoryOf(
  resident: Pick<Descriptor, 'memory'>,
  others: Readonly<Record<string, { descriptor: Pick<Descriptor, 'memory'> }>>,
  machine: Machine,
  device: Device,
  asked?: number,
  gpu?: GpuMemory | null,
): PoolMemory {
  const sizes = Object.values(others).map(({ descriptor }) => descriptor.memory.thread);
  const each = OTHER_NETWORKS_BYTES + resident.memory.thread;
  const largest = Math.max(0, ...sizes);
  const fitting = threadsFor(machine, each + largest);
  const threads = device === 'webgpu' ? ON_WEBGPU : (asked ?? (device === 'cpu' ? fitting : Math.min(fitting, onCuda(gpu))));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const othersBytes = Math.max(largest, Math.min(all, Math.floor(bytesForThread(machine, threads) - each)));
  return { threads, othersBytes, bytes: threads * (each + othersBytes) };
}

/** Threads that a GPU's memory holds. */
function onCuda(gpu?: GpuMemory | null): number {
  if (!gpu) return ON_UNKNOWN;
  return Math.max(1, Math.min(ON_CUDA, Math.floor((gpu.free - CONTEXT_BYTES) / gpu.thread)));
}
