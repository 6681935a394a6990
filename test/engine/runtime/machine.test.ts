import { availableParallelism, totalmem } from 'node:os';
import t from 'tap';
import { readMachine, threadsFor } from '../../../engine/runtime/machine.ts';

const GIB = 2 ** 30;

/** A machine with this many cores of two threads each; this process may use the CPUs in `allowed`. */
function machineOf(cores: number, allowed: string, groups: string, files: Record<string, Record<string, string>> = {}) {
  const cpu = Object.fromEntries(
    Array.from({ length: 2 * cores }, (_, i) => [
      `cpu${i}`,
      { topology: { thread_siblings_list: `${i % cores},${(i % cores) + cores}\n` } },
    ]),
  );
  return {
    proc: { self: { status: `Name:\tnode\nCpus_allowed_list:\t${allowed}\nMems_allowed_list:\t0\n`, cgroup: groups } },
    sys: { devices: { system: { cpu } }, fs: { cgroup: files } },
  };
}

t.test('readMachine() counts the physical cores that this process may use', async (t) => {
  t.equal(readMachine(t.testdir(machineOf(8, '0-15', '0::/\n'))).cores, 8);
  t.equal(readMachine(t.testdir(machineOf(8, '0-3,8-11', '0::/\n'))).cores, 4);
  t.equal(readMachine(t.testdir(machineOf(8, '2', '0::/\n'))).cores, 1);
});

t.test('readMachine() counts logical processors if the topology is unknown', async (t) => {
  const { proc } = machineOf(0, '0-3', '');
  t.equal(readMachine(t.testdir({ proc })).cores, 4, 'without a topology');
  t.strictSame(readMachine(t.testdir()), { cores: availableParallelism(), memoryBytes: totalmem() }, 'without /proc files');
});

t.test('readMachine() applies the limits of a container and of its parent groups', async (t) => {
  const pod = { 'cpu.max': '250000 100000\n', 'memory.max': 'max\n', 'memory.high': 'max\n' };
  const slice = { 'cpu.max': 'max 100000\n', 'memory.max': `${GIB / 4}\n` };
  const root = t.testdir(machineOf(8, '0-15', '0::/slice/pod\n', { slice: { ...slice, pod } as never }));
  t.strictSame(readMachine(root), { cores: 3, memoryBytes: GIB / 4 });
});

t.test('readMachine() reads cgroup v1, where paths may be those of the host', async (t) => {
  const groups = '4:memory:/docker/0123\n3:cpu,cpuacct:/docker/0123\n1:name=systemd:/docker/0123\n0::/docker/0123\n';
  const files = {
    cpu: { 'cpu.cfs_quota_us': '400000\n', 'cpu.cfs_period_us': '100000\n' },
    memory: { 'memory.limit_in_bytes': `${GIB / 8}\n` },
  };
  t.strictSame(readMachine(t.testdir(machineOf(8, '0-15', groups, files))), { cores: 4, memoryBytes: GIB / 8 });
});

t.test('readMachine() recognises the values that mean no limit', async (t) => {
  const groups = '4:memory:/\n3:cpu,cpuacct:/\n0::/\n';
  const files = {
    cpu: { 'cpu.cfs_quota_us': '-1\n', 'cpu.cfs_period_us': '100000\n' },
    memory: { 'memory.limit_in_bytes': '9223372036854771712\n' },
    unified: { 'cpu.max': 'max 100000\n', 'memory.max': 'max\n' },
  };
  t.strictSame(readMachine(t.testdir(machineOf(8, '0-15', groups, files))), { cores: 8, memoryBytes: totalmem() });
});

t.test('threadsFor() returns one thread per core, limited by memory', async (t) => {
  const thread = 0.55 * GIB;
  t.equal(threadsFor({ cores: 2, memoryBytes: 4 * GIB }, thread), 2);
  t.equal(threadsFor({ cores: 32, memoryBytes: 3 * GIB }, thread), 3);
  t.equal(threadsFor({ cores: 32, memoryBytes: 32 * GIB }, thread), 32);
  t.equal(threadsFor({ cores: 32, memoryBytes: GIB / 2 }, thread), 1, 'at least one');
});
