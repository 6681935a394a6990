import { ELEMENT } from '../../build/graph/onnx.ts';
import type { FileNode, FileTensor, OnnxFile } from './onnx-file.ts';

/** A product with a matrix of weights, in whatever form an exporter wrote it. */
export interface LinearLayer {
  node: FileNode;
  /** The activations. */
  input: string;
  matrix: FileTensor;
  inputs: number;
  outputs: number;
  /** Whether the matrix is stored with a row for each output. */
  byOutput: boolean;
  /** Whether the activations are [batch x channels x frames]: a convolution of one frame. */
  channelsFirst: boolean;
  bias: FileTensor | null;
  /** The addition of the bias, if it is an operator of its own. */
  addition: FileNode | null;
  /** The result. */
  output: string;
  /** Whether weights and activations are float16, as exporters leave them for GPUs. */
  half: boolean;
  /** Whether the activations are a Swish, x sigmoid(x), whose large values differ most between frames. */
  afterSwish: boolean;
}

const FEWEST = 2 ** 15; // weights: smaller matrices are left, because quantising their activations takes as long as their product

/** The linear layers of a file whose weights are constants, float32 or float16, that nothing else uses. */
export function linearLayers(file: OnnxFile): LinearLayer[] {
  return file.nodes.flatMap((node) => layerOf(file, node) ?? []);
}

function layerOf(file: OnnxFile, node: FileNode): LinearLayer | null {
  const form = node.domain ? null : formOf(node);
  const matrix = form && file.tensors.get(node.inputs[1]!);
  if (!form || !matrix?.data || !isFloat(matrix) || file.uses.get(matrix.name) !== 1) return null;
  const ranks = form.channelsFirst ? matrix.dims.length === 3 && matrix.dims[2] === 1 : matrix.dims.length === 2;
  if (!ranks || matrix.dims[0]! * matrix.dims[1]! < FEWEST) return null;
  const [outputs, inputs] = form.byOutput ? [matrix.dims[0]!, matrix.dims[1]!] : [matrix.dims[1]!, matrix.dims[0]!];
  const own = node.inputs[2] ? biasOf(file, node.inputs[2], outputs, matrix.type) : null;
  if (node.inputs[2] && !own) return null;
  const added = node.inputs[2] || form.channelsFirst ? null : additionOf(file, node, outputs, matrix.type);
  return {
    ...{ node, input: node.inputs[0]!, matrix, inputs, outputs, ...form },
    bias: own ?? added?.bias ?? null,
    addition: added?.node ?? null,
    output: (added?.node ?? node).outputs[0]!,
    half: matrix.type === ELEMENT.float16,
    afterSwish: isSwish(file, node.inputs[0]!),
  };
}

function isFloat({ type }: FileTensor): boolean {
  return type === ELEMENT.float32 || type === ELEMENT.float16;
}

function isSwish(file: OnnxFile, name: string): boolean {
  const product = file.nodes.find(({ op, outputs }) => op === 'Mul' && outputs[0] === name);
  const factors = product ? product.inputs.map((input) => file.nodes.find(({ outputs }) => outputs[0] === input)) : [];
  return factors.some((factor, i) => factor?.op === 'Sigmoid' && factor.inputs[0] === product!.inputs[1 - i]);
}

function formOf({ op, attributes }: FileNode): Pick<LinearLayer, 'byOutput' | 'channelsFirst'> | null {
  const number = (name: string, otherwise: number) => (attributes.get(name) as number | undefined) ?? otherwise;
  const all = (name: string, value: number) => ((attributes.get(name) as number[] | undefined) ?? []).every((one) => one === value);
  if (op === 'MatMul') return { byOutput: false, channelsFirst: false };
  if (op === 'Gemm' && !number('transA', 0) && number('alpha', 1) === 1 && number('beta', 1) === 1)
    return { byOutput: number('transB', 0) === 1, channelsFirst: false };
  if (op === 'Conv' && number('group', 1) === 1 && all('kernel_shape', 1) && all('strides', 1) && all('pads', 0) && all('dilations', 1))
    return { byOutput: true, channelsFirst: true };
  return null;
}

/** The only use of a product, if it adds a vector of weights. */
function additionOf(
  file: OnnxFile,
  { outputs: [product] }: FileNode,
  width: number,
  type: number,
): { node: FileNode; bias: FileTensor } | null {
  if (file.uses.get(product!) !== 1) return null;
  const node = file.nodes.find(({ op, inputs }) => op === 'Add' && inputs.includes(product!));
  const bias = node && biasOf(file, node.inputs.find((name) => name !== product)!, width, type);
  return bias ? { node: node!, bias } : null;
}

function biasOf(file: OnnxFile, name: string, width: number, type: number): FileTensor | null {
  const tensor = file.tensors.get(name);
  return tensor?.data && tensor.type === type && tensor.dims.length === 1 && tensor.dims[0] === width ? tensor : null;
}
