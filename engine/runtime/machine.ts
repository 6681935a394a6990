import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join } from 'node:path';

/** Resources of this machine that the process may use. */
export interface Machine {
  /** Physical cores, lowered to the container's CPU limit. */
  cores: number;
  /** Physical memory, or the container's memory limit. */
  memoryBytes: number;
}

const OTHERS_BYTES = 0.7 * 2 ** 30; // the process without its threads, ffmpeg, and possibly PostgreSQL and the API
const SHARE = 0.8; // fraction of memory to plan with

/**
 * Number of worker threads: one per core, as far as memory allows.
 * @param threadBytes peak memory per thread
 */
export function threadsFor({ cores, memoryBytes }: Machine, threadBytes: number): number {
  return Math.max(1, Math.min(cores, Math.floor((SHARE * memoryBytes - OTHERS_BYTES) / threadBytes)));
}

/** Memory that each of a number of threads may take, bytes. */
export function bytesForThread({ memoryBytes }: Machine, threads: number): number {
  return (SHARE * memoryBytes - OTHERS_BYTES) / threads;
}

type Read = (path: string) => string;

/** Reads the limits of the machine. `root` holds `/proc` and `/sys`; a missing file means no limit. */
export function readMachine(root = '/'): Machine {
  const read: Read = (path) => {
    try {
      return readFileSync(join(root, path), 'utf8').trim();
    } catch {
      return ''; // not Linux, or another cgroup version
    }
  };
  const groups = controlGroups(read);
  return {
    cores: Math.max(1, Math.min(coresAllowed(read), ...groups.map(processors).map(Math.ceil))),
    memoryBytes: Math.min(totalmem(), ...groups.map(memory)),
  };
}

/** Physical cores with at least one hardware thread in the CPU affinity mask. */
function coresAllowed(read: Read): number {
  const [, allowed = ''] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read('proc/self/status')) ?? [];
  const cores = cpus(allowed).map((cpu) => read(`sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`) || `${cpu}`);
  return new Set(cores).size || availableParallelism();
}

/** Parses a CPU list such as `0-3,8`. */
function cpus(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return Number.isNaN(last - first) || range === '' ? [] : Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/** Reads a file of a cgroup. */
type Group = (controller: 'cpu' | 'memory', file: string) => string;

/**
 * The cgroups of this process, innermost first, for cgroup v1 and v2 (cgroups(7)). In a container the paths may be the host's and not
 * visible; then the outermost visible group is the container's own.
 */
function controlGroups(read: Read): Group[] {
  return read('proc/self/cgroup')
    .split('\n')
    .flatMap((line) => {
      const [, names, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
      if (names === undefined || path === undefined) return [];
      const folders = [path];
      while (folders.at(-1) !== '/') folders.push(dirname(folders.at(-1)!));
      return folders.map(
        (folder): Group =>
          (controller, file) => {
            if (names === '') return read(join('sys/fs/cgroup', folder, file));
            return names.split(',').includes(controller) ? read(join('sys/fs/cgroup', controller, folder, file)) : '';
          },
      );
    });
}

/** CPU quota of a cgroup, in CPUs. */
function processors(group: Group): number {
  const [quota, period] = (group('cpu', 'cpu.max') || `${group('cpu', 'cpu.cfs_quota_us')} ${group('cpu', 'cpu.cfs_period_us')}`).split(
    ' ',
  );
  const share = Number(quota) / Number(period);
  return share > 0 ? share : Number.POSITIVE_INFINITY;
}

/** Memory limit of a cgroup, in bytes. */
function memory(group: Group): number {
  const said = ['memory.max', 'memory.high', 'memory.limit_in_bytes'].map((file) => Number.parseInt(group('memory', file), 10));
  return Math.min(...said.filter((bytes) => bytes > 0));
}
