import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join } from 'node:path';

/** What this process may use of its machine. */
export interface Machine {
  /** Cores, second threads of one not counted; fewer where a container is given less of their time. */
  cores: number;
  /** Memory; in a container, what it is given of it. */
  memoryBytes: number;
}

const OTHERS_BYTES = 0.7 * 2 ** 30; // the process without its threads, ffmpeg; beside it perhaps PostgreSQL and the API
const SHARE = 0.8; // of the memory that is planned for

/**
 * How many threads an engine has: one for each core, as far as the memory reaches.
 * @param threadBytes what each takes at most
 */
export function threadsFor({ cores, memoryBytes }: Machine, threadBytes: number): number {
  return Math.max(1, Math.min(cores, Math.floor((SHARE * memoryBytes - OTHERS_BYTES) / threadBytes)));
}

type Read = (path: string) => string;

/** Looks at the machine. `root`: where `/proc` and `/sys` are; what is missing there limits nothing. */
export function readMachine(root = '/'): Machine {
  const read: Read = (path) => {
    try {
      return readFileSync(join(root, path), 'utf8').trim();
    } catch {
      return ''; // not Linux, or another version of control groups
    }
  };
  const groups = controlGroups(read);
  return {
    cores: Math.max(1, Math.min(coresAllowed(read), ...groups.map(processors).map(Math.ceil))),
    memoryBytes: Math.min(totalmem(), ...groups.map(memory)),
  };
}

/** Cores of which this process may use a thread. */
function coresAllowed(read: Read): number {
  const [, allowed = ''] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read('proc/self/status')) ?? [];
  const cores = cpus(allowed).map((cpu) => read(`sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`) || `${cpu}`);
  return new Set(cores).size || availableParallelism();
}

/** The numbers in a list such as `0-3,8`. */
function cpus(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return Number.isNaN(last - first) || range === '' ? [] : Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/** Reads a file of a control group. */
type Group = (controller: 'cpu' | 'memory', file: string) => string;

/**
 * The control groups that hold this process, and those around them, in both versions of the kernel's interface (cgroups(7)). In a container the
 * paths may be those of the host, which it does not see; then the outermost one is its own.
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

/** Processors whose whole time a group may use. */
function processors(group: Group): number {
  const [quota, period] = (group('cpu', 'cpu.max') || `${group('cpu', 'cpu.cfs_quota_us')} ${group('cpu', 'cpu.cfs_period_us')}`).split(
    ' ',
  );
  const share = Number(quota) / Number(period);
  return share > 0 ? share : Number.POSITIVE_INFINITY;
}

/** Bytes of memory that a group may use. */
function memory(group: Group): number {
  const said = ['memory.max', 'memory.high', 'memory.limit_in_bytes'].map((file) => Number.parseInt(group('memory', file), 10));
  return Math.min(...said.filter((bytes) => bytes > 0));
}
