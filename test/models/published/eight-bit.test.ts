import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { seeded } from '../../../bench/random.ts';
import { type Feeds, float32, int64, openSession } from '../../../engine/runtime/session.ts';
import {
  cast,
  createGraph,
  floats,
  type Graph,
  index,
  input,
  ints,
  nested,
  op,
  output,
  slice,
  toActivation,
  toFloat32,
} from '../../../models/build/graph/graph.ts';
import { decodeGraph, ELEMENT } from '../../../models/build/graph/onnx.ts';
import { toBytes, writeModel } from '../../../models/build/graph/write.ts';
import { type EightBitOptions, toEightBits } from '../../../models/published/eight-bit/rewrite.ts';

const WIDTH = 192; // 192 x 192 is larger than the smallest matrix that is converted
const FRAMES = 20;
const random = seeded(11);
const numbers = (count: number, size = 1) => Float32Array.from({ length: count }, () => random.between(-size, size));
const NO_WEIGHTS = { shape: () => [], float32: () => new Float32Array() };

/** A network of `add`, from x [1 x FRAMES x WIDTH] to y of the same shape. */
function network(add: (g: Graph, x: string) => string, variant: 'float32' | 'float16' = 'float32'): Graph {
  const g = createGraph(NO_WEIGHTS, variant);
  const dims = [1, 'T', WIDTH];
  output(g, 'y', add(g, input(g, 'x', 'float32', dims)), 'float32', dims);
  return g;
}

const matrix = (g: Graph, dims = [WIDTH, WIDTH]) => {
  const values = numbers(
    dims.reduce((a, b) => a * b),
    0.1,
  );
  return floats(g, dims, () => values);
};
const vector = (g: Graph) => {
  const values = numbers(WIDTH);
  return floats(g, [WIDTH], () => values);
};
const turned = (g: Graph, x: string) => op(g, 'Transpose', [x], { perm: [0, 2, 1] });

const FORMS: Record<string, { add: (g: Graph, x: string) => string; products: string[] }> = {
  'a product': { add: (g, x) => op(g, 'MatMul', [x, matrix(g)]), products: ['DynamicQuantizeMatMul'] },
  'a product and its bias, in either order': {
    add: (g, x) => op(g, 'Add', [op(g, 'MatMul', [op(g, 'Add', [vector(g), op(g, 'MatMul', [x, matrix(g)])]), matrix(g)]), vector(g)]),
    products: ['DynamicQuantizeMatMul', 'DynamicQuantizeMatMul'],
  },
  'a Gemm with a row for each output': {
    add: (g, x) => {
      const flat = op(g, 'Squeeze', [x]);
      const axes = op(g, 'Shape', [x]);
      return op(g, 'Reshape', [op(g, 'Gemm', [flat, matrix(g), vector(g)], { transB: 1 }), axes]);
    },
    products: ['DynamicQuantizeMatMul'],
  },
  'a convolution of one frame': {
    add: (g, x) => turned(g, op(g, 'Conv', [turned(g, x), matrix(g, [WIDTH, WIDTH, 1]), vector(g)])),
    products: ['DynamicQuantizeMatMul'],
  },
  'a product after a Swish, with a scale for each frame': {
    add: (g, x) => {
      const sized = op(g, 'Mul', [x, floats(g, [1], () => Float32Array.of(5))]);
      return op(g, 'Add', [op(g, 'MatMul', [op(g, 'Mul', [op(g, 'Sigmoid', [sized]), sized]), matrix(g)]), vector(g)]);
    },
    products: ['DynamicQuantizeMatMul'],
  },
  'a convolution of one frame after a Swish, with a scale for each frame': {
    add: (g, x) => {
      const sized = turned(g, op(g, 'Mul', [x, floats(g, [1], () => Float32Array.of(5))]));
      const swish = op(g, 'Mul', [sized, op(g, 'Sigmoid', [sized])]);
      return turned(g, op(g, 'Conv', [swish, matrix(g, [WIDTH, WIDTH, 1]), vector(g)]));
    },
    products: ['DynamicQuantizeMatMul'],
  },
  'three products of the same input, which is quantised once': {
    add: (g, x) => {
      const [a, b, c] = [1, 2, 3].map(() => op(g, 'MatMul', [x, matrix(g)]));
      return op(g, 'Add', [op(g, 'Add', [a!, b!]), c!]);
    },
    products: ['DynamicQuantizeLinear', 'MatMulIntegerToFloat', 'MatMulIntegerToFloat', 'MatMulIntegerToFloat'],
  },
};

/** A network as it is and in 8 bits. */
async function converted(t: Test, graph: Graph, options: Pick<EightBitOptions, 'exact'> = {}) {
  const [from, to] = ['model.onnx', 'made.onnx'].map((name) => join(t.testdir(), name)) as [string, string];
  const exact = toBytes(graph);
  writeFileSync(from, exact);
  const files = await toEightBits(from, to, { saturates: true, ...options });
  const made = readFileSync(to);
  return { exact, made, files, kinds: decodeGraph(made).nodes.map(({ op }) => op) };
}

for (const [form, { add, products }] of Object.entries(FORMS)) {
  t.test(`toEightBits() converts ${form}, with nearly the same result`, async (t) => {
    const { exact, made, files, kinds } = await converted(t, network(add));
    t.strictSame(
      files.map(({ name, bytes }) => ({ name, bytes })),
      [{ name: 'made.onnx', bytes: made.length }],
    );
    t.strictSame(
      kinds.filter((kind) => /Quantize|Integer|MatMul|Gemm|Conv/.test(kind)),
      products,
    );
    t.ok(made.length < exact.length / 3, `${made.length} of ${exact.length} bytes`);
    t.equal(kinds.includes('ReduceMax'), form.endsWith('for each frame'));
    const difference = await farthest(exact, made);
    t.ok(difference > 0 && difference < 0.03, `differs by ${difference} of the largest`);
  });
}

t.test(
  'toEightBits() leaves what it cannot convert: small, shared and computed matrices, groups, wider convolutions, and those of subgraphs',
  async (t) => {
    const { exact, made, kinds } = await converted(
      t,
      network((g, x) => {
        const shared = matrix(g);
        const twice = op(g, 'MatMul', [op(g, 'MatMul', [x, shared]), shared]);
        const small = op(g, 'MatMul', [op(g, 'MatMul', [twice, matrix(g, [WIDTH, 4])]), matrix(g, [4, WIDTH])]);
        const computed = op(g, 'MatMul', [small, op(g, 'Softmax', [matrix(g)])]);
        const wide = op(g, 'Conv', [turned(g, computed), matrix(g, [WIDTH, WIDTH, 3])], { pads: [1, 1] });
        const two = op(g, 'Conv', [wide, matrix(g, [2 * WIDTH, WIDTH / 2, 1])], { group: 2 });
        const grouped = turned(g, slice(g, two, 0, WIDTH, 1));
        const always = op(g, 'Greater', [floats(g, [], () => Float32Array.of(2)), floats(g, [], () => Float32Array.of(1))]);
        const inside = () => {
          const { result, body } = nested(g, () => op(g, 'MatMul', [grouped, outer]));
          return { body: { ...body, outputs: [{ name: result, element: 'float32' as const, dims: [1, 'T', WIDTH] }] } };
        };
        const outer = matrix(g);
        return op(g, 'If', [always], { then_branch: inside(), else_branch: inside() });
      }),
    );
    t.strictSame(
      kinds,
      decodeGraph(exact).nodes.map(({ op }) => op),
    );
    t.equal(await farthest(exact, made), 0);
  },
);

t.test('toEightBits() converts float16 layers, alone, with a bias, sharing an input, and as convolutions', async (t) => {
  const half = network((g, x) => {
    const start = toActivation(g, x);
    const one = op(g, 'Add', [op(g, 'MatMul', [start, matrix(g)]), vector(g)]);
    const two = op(g, 'Add', [op(g, 'MatMul', [one, matrix(g)]), op(g, 'MatMul', [one, matrix(g)])]);
    return toFloat32(g, turned(g, op(g, 'Conv', [turned(g, two), matrix(g, [WIDTH, WIDTH, 1]), vector(g)])));
  }, 'float16');
  const { exact, made, kinds } = await converted(t, half);
  t.strictSame(
    kinds.filter((kind) => /Quantize|Integer|MatMul|Conv/.test(kind)),
    ['DynamicQuantizeMatMul', 'DynamicQuantizeLinear', 'MatMulIntegerToFloat', 'MatMulIntegerToFloat', 'DynamicQuantizeMatMul'],
  );
  t.ok(made.length < 0.6 * exact.length);
  const difference = await farthest(exact, made);
  t.ok(difference > 0 && difference < 0.05, `differs by ${difference} of the largest`);
});

/** A factor of 1 for each position of x before `end`, 0 for the others: [1, T, 1]. */
function before(g: Graph, x: string, end: string): string {
  const frames = op(g, 'Squeeze', [op(g, 'Shape', [x], { start: 1, end: 2 })]);
  const positions = op(g, 'Unsqueeze', [op(g, 'Range', [index(g, 0), frames, index(g, 1)]), ints(g, 0)]);
  return op(g, 'Unsqueeze', [cast(g, op(g, 'Less', [positions, end]), ELEMENT.float32), ints(g, 2)]);
}

t.test('toEightBits() leaves out masks of padding and what computes them, however many follow one another', async (t) => {
  const masked = network((g, x) => {
    const length = input(g, 'length', 'int64', [1]);
    const hidden = op(g, 'MatMul', [op(g, 'Mul', [x, before(g, x, length)]), matrix(g)]);
    const halved = op(g, 'Add', [op(g, 'Div', [op(g, 'Mul', [length, ints(g, 2)]), ints(g, 2)]), ints(g, 0)]);
    return op(g, 'Relu', [op(g, 'Mul', [before(g, x, halved), op(g, 'Mul', [hidden, before(g, x, length)])])]);
  });
  const { exact, made, kinds } = await converted(t, masked);
  t.strictSame(kinds, ['DynamicQuantizeMatMul', 'Relu']);
  const difference = await farthest(exact, made);
  t.ok(difference > 0 && difference < 0.03, `differs by ${difference} of the largest`);
});

t.test(
  'toEightBits() keeps factors that are no masks of padding: comparisons with features, with constants, and the other way round',
  async (t) => {
    const kept = network((g, x) => {
      const length = input(g, 'length', 'int64', [1]);
      const loudest = cast(g, op(g, 'ReduceMax', [x], { keepdims: 0 }), ELEMENT.int64);
      const one = op(g, 'Mul', [x, before(g, x, op(g, 'Add', [length, loudest]))]);
      const other = op(g, 'Mul', [one, before(g, x, ints(g, 7))]);
      const positions = op(g, 'Range', [index(g, 0), op(g, 'Squeeze', [length]), index(g, 1)]);
      const late = cast(g, op(g, 'Less', [ints(g, 3), positions]), ELEMENT.float32);
      return op(g, 'Relu', [op(g, 'Mul', [other, op(g, 'Unsqueeze', [late, ints(g, 0, 2)])])]);
    });
    const { exact, made, kinds } = await converted(t, kept);
    t.equal(kinds.filter((kind) => kind === 'Mul').length, 3);
    t.equal(await farthest(exact, made), 0);
  },
);

t.test('toEightBits() leaves the first and the last layer exact on request', async (t) => {
  const chain = () => network((g, x) => [1, 2, 3, 4].reduce((y) => op(g, 'MatMul', [y, matrix(g)]), x));
  const kinds = async (exact: EightBitOptions['exact']) => (await converted(t, chain(), { exact })).kinds;
  t.strictSame(await kinds(['first', 'last']), ['MatMul', 'DynamicQuantizeMatMul', 'DynamicQuantizeMatMul', 'MatMul']);
  t.strictSame(await kinds(['first']), ['MatMul', ...Array(3).fill('DynamicQuantizeMatMul')]);
});

t.test('toEightBits() reads weights from other files, and reports one that ends too early', async (t) => {
  const folder = t.testdir();
  const add = FORMS['a product']!.add;
  const exact = toBytes(network(add));
  const from = join(folder, 'model.onnx');
  await writeModel(
    from,
    network((g, x) => op(g, 'Add', [add(g, x), op(g, 'Softmax', [matrix(g, [1, 1, WIDTH])])])),
    { inlineLimit: 0 },
  );
  t.ok(statSync(from).size < 4096, 'the weights are elsewhere');
  await toEightBits(from, join(folder, 'made.onnx'), { saturates: true });
  const made = readFileSync(join(folder, 'made.onnx'));
  t.ok(made.length > WIDTH * WIDTH && made.length < exact.length / 3);
  const session = await openSession(made);
  t.ok((await session.run({ x: float32(numbers(WIDTH), [1, 1, WIDTH]) })).y!.data.length === WIDTH);
  await session.close();
  truncateSync(`${from}.data`, 1000);
  await t.rejects(
    toEightBits(from, join(folder, 'made.onnx'), { saturates: true }),
    /model\.onnx\.data ends after 1000 bytes, wanted \d+; download the model again/,
  );
});

/** The largest difference of the results of two networks, divided by the largest result. */
async function farthest(a: Uint8Array, b: Uint8Array): Promise<number> {
  const x = float32(numbers(FRAMES * WIDTH), [1, FRAMES, WIDTH]);
  const results = [];
  for (const bytes of [a, b]) {
    const session = await openSession(bytes);
    const feeds: Feeds = { x };
    if (session.inputs.includes('length')) feeds.length = int64(BigInt64Array.of(BigInt(FRAMES)), [1]);
    results.push((await session.run(feeds)).y!.data as Float32Array);
    await session.close();
  }
  const [exact, close] = results as [Float32Array, Float32Array];
  const most = (values: Float32Array) => values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  return most(exact.map((value, i) => value - close[i]!)) / most(exact);
}
