import type { Descriptor } from '../../models/descriptor.ts';
import { bytesForThread, type Machine, threadsFor } from './machine.ts';
import type { Device } from './session.ts';

/**
 * Most threads on a GPU: each loads the model into its memory, which they share. With WebGPU the process was aborted when several were
 * closed (onnxruntime 1.30, "double free or corruption" with four).
 */
const ON_DEVICE: Readonly<Record<Exclude<Device, 'cpu'>, number>> = { cuda: 4, webgpu: 1 };
const OTHER_NETWORKS_BYTES = 0.3 * 2 ** 30;

/** Threads of a pool and their memory. */
export interface PoolMemory {
  threads: number;
  /** For models loaded on demand, per thread. */
  othersBytes: number;
  /** Of all threads. */
  bytes: number;
}

/** Plans the memory of a pool: threads that can hold the resident model and the largest other one; what is left is for further ones. */
export function memoryOf(
  resident: Pick<Descriptor, 'memory'>,
  others: Readonly<Record<string, { descriptor: Pick<Descriptor, 'memory'> }>>,
  machine: Machine,
  device: Device,
  asked?: number,
): PoolMemory {
  const sizes = Object.values(others).map(({ descriptor }) => descriptor.memory.thread);
  const each = OTHER_NETWORKS_BYTES + resident.memory.thread;
  const largest = Math.max(0, ...sizes);
  const fitting = threadsFor(machine, each + largest);
  const threads = device === 'webgpu' ? ON_DEVICE.webgpu : (asked ?? (device === 'cpu' ? fitting : Math.min(fitting, ON_DEVICE[device])));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const othersBytes = Math.max(largest, Math.min(all, Math.floor(bytesForThread(machine, threads) - each)));
  return { threads, othersBytes, bytes: threads * (each + othersBytes) };
}
