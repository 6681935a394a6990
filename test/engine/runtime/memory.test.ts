import t from 'tap';
import { gpuMemory } from '../../../engine/runtime/gpu-memory.ts';
import { memoryOf } from '../../../engine/runtime/memory.ts';
import type { Descriptor } from '../../../models/descriptor.ts';

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
  t.equal(memoryOf(model(0.7), {}, machine(16, 64), 'cuda').threads, 4, 'nothing is known of the GPU');
  t.equal(memoryOf(model(0.7), {}, machine(16, 64), 'cuda', 6).threads, 6);
  t.equal(memoryOf(model(0.7), {}, machine(16, 64), 'webgpu').threads, 1);
  t.equal(memoryOf(model(0.7), {}, machine(16, 64), 'webgpu', 4).threads, 1, 'several abort the process');
});

const whisper = (heads: number, layers: number, width: number, loopBytes: number) =>
  ({
    ...{ architecture: 'whisper', variant: 'float16', window: { steps: 3000 }, dimensions: { heads, layers, width } },
    files: [
      { name: 'encoder.onnx', bytes: 9e9 },
      { name: 'loop.onnx', bytes: loopBytes / 2 },
      { name: 'loop.onnx.data', bytes: loopBytes / 2 },
    ],
  }) as unknown as Descriptor;
const ROWS = 16;

t.test('gpuMemory() estimates at least what a thread took on an H200', async (t) => {
  for (const [name, model, measured] of [
    ['base', whisper(8, 6, 512, 0.14e9), 1.9e9],
    ['small', whisper(12, 12, 768, 0.5e9), 2.7e9],
    ['medium', whisper(16, 24, 1024, 1.45e9), 6.8e9],
    ['large-v3-turbo', whisper(20, 4, 1280, 1.8e9), 4.2e9],
  ] as const) {
    const { thread } = gpuMemory(model, ROWS, 80e9)!;
    t.ok(thread >= measured && thread < 1.5 * measured, `${name}: ${thread / 1e9} GB`);
  }
  t.equal(gpuMemory(whisper(8, 6, 512, 1), ROWS, null), null, 'nvidia-smi is missing');
  t.equal(gpuMemory({ ...whisper(8, 6, 512, 1), variant: 'float32' } as Descriptor, ROWS, 80e9), null);
});

t.test("memoryOf() starts as many threads as the GPU's memory holds, but at least one and at most 8", async (t) => {
  const threads = (free: number, thread: number, asked?: number) =>
    memoryOf(model(0.7), {}, machine(16, 64), 'cuda', asked, { free: free * GIB, thread: thread * GIB }).threads;
  t.equal(threads(140, 2), 8);
  t.equal(threads(24, 4), 5, 'a gigabyte is left for the process');
  t.equal(threads(8, 9), 1);
  t.equal(threads(8, 9, 3), 3, 'as many as the operator wants');
  t.equal(memoryOf(model(0.7), {}, machine(2, 64), 'cuda', undefined, { free: 140 * GIB, thread: GIB }).threads, 2, 'one per core');
});
