import type { Descriptor } from '../../models/descriptor.ts';
import { bytesForThread, type Machine, threadsFor } from './machine.ts';
import type { Device } from './session.ts';

const ON_DEVICE = 4; // threads: each loads the model into the GPU's memory, which they share
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
  const threads = asked ?? (device === 'cpu' ? fitting : Math.min(fitting, ON_DEVICE));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const othersBytes = Math.max(largest, Math.min(all, Math.floor(bytesForThread(machine, threads) - each)));
  return { threads, othersBytes, bytes: threads * (each + othersBytes) };
}
