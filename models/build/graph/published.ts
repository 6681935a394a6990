import type { Weights } from './graph.ts';
import { decodeGraph } from './onnx.ts';

/**
 * The weights of an ONNX file that PyTorch exported, by the names of its modules: a convolution that took in the norm behind it has lost its own names,
 * but its output still tells which module it was. One without a bias has one of zeros.
 */
export function publishedWeights(file: Uint8Array): Weights {
  const { nodes, weights, shapes } = decodeGraph(file);
  const names = new Map([...weights.keys()].map((name) => [name, name]));
  for (const { op, inputs, outputs } of nodes) {
    if (op !== 'Conv') continue;
    const [, weight, bias] = inputs as [string, string, string?];
    const own = `${moduleOf(outputs[0]!)}.bias`;
    names.set(`${moduleOf(outputs[0]!)}.weight`, weight).set(own, bias ?? own);
    if (bias) continue;
    shapes.set(own, [shapes.get(weight)![0]!]);
    weights.set(own, new Uint8Array(shapes.get(own)![0]! * Float32Array.BYTES_PER_ELEMENT));
  }
  const find = (name: string) => {
    const found = names.get(name);
    if (found === undefined)
      throw new Error(
        `Cannot read the network: found no weight ${name} in it; it is not the one that was published. "longhand models verify" compares the shipped files`,
      );
    return found;
  };
  return {
    shape: (name) => shapes.get(find(name))!,
    float32: (name) => new Float32Array(new Uint8Array(weights.get(find(name))!).buffer), // a copy: weights of a file are not aligned
  };
}

/** `/head/layer1/layer1.0/conv1/Conv_output_0` is `head.layer1.0.conv1`. */
function moduleOf(output: string): string {
  const parts = output.split('/').slice(1, -1);
  return parts.filter((part, i) => !parts[i + 1]?.startsWith(`${part}.`)).join('.');
}
