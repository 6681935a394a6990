import t from 'tap';
import { memoryOf } from '../../../engine/runtime/memory.ts';

const GIB = 2 ** 30;
const model = (gib: number) => ({ memory: { row: 0, thread: gib * GIB } });
const machine = (cores: number, gib: number) => ({ cores, memoryBytes: gib * GIB });

t.test('memoryOf() starts threads that can hold the resident model and the largest other one', async (t) => {
  const others = { small: { descriptor: model(1) }, large: { descriptor: model(2) } };
  t.match(memoryOf(model(0.7), {}, machine(4, 16), 'cpu'), { threads: 4, othersBytes: 0 });
  const roomy = memoryOf(model(0.7), others, machine(4, 64), 'cpu');
  t.match(roomy, { threads: 4, othersBytes: 3 * GIB }, 'both at once');
  t.equal(roomy.bytes, 4 * (1 + 3) * GIB);
  const narrow = memoryOf(model(0.7), others, machine(4, 16), 'cpu');
  t.equal(narrow.threads, 4);
  t.ok(narrow.othersBytes >= 2 * GIB && narrow.othersBytes < 3 * GIB, 'not both at once');
  t.ok(narrow.bytes <= 16 * GIB);
  t.equal(memoryOf(model(0.7), others, machine(4, 8), 'cpu').threads, 1, 'fewer threads');
  t.match(memoryOf(model(0.7), others, machine(4, 8), 'cpu', 3), { threads: 3, othersBytes: 2 * GIB }, 'as many as the operator wants');
});

t.test('memoryOf() starts few threads on a GPU, and one with WebGPU whatever is asked', async (t) => {
  t.equal(memoryOf(model(0.7), {}, machine(16, 64), 'cuda').threads, 4);
  t.equal(memoryOf(model(0.7), {}, machine(16, 64), 'cuda', 6).threads, 6);
  t.equal(memoryOf(model(0.7), {}, machine(16, 64), 'webgpu').threads, 1);
  t.equal(memoryOf(model(0.7), {}, machine(16, 64), 'webgpu', 4).threads, 1, 'several abort the process');
});
