import type { Weights } from './graph.ts';
import { decodeGraph } from './onnx.ts';

/**
 * The weights of an ONNX file exported by PyTorch, by module name. A convolution with a fused norm has lost the names of its weights; its
 * output still names the module. A missing bias is all zeros.
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
        `Cannot read the model: found no weight ${name} in it; it is not the published one. "longhand models verify" checks the shipped files`,
      );
    return found;
  };
  return {
    shape: (name) => shapes.get(find(name))!,
    float32: (name) => new Float32Array(new Uint8Array(weights.get(find(name))!).buffer), // a copy, because weights in the file are not aligned
  };
}

/** Module name from an output: `/head/layer1/layer1.0/conv1/Conv_output_0` is `head.layer1.0.conv1`. */
function moduleOf(output: string): string {
  const parts = output.split('/').slice(1, -1);
  return parts.filter((part, i) => !parts[i + 1]?.startsWith(`${part}.`)).join('.');
}
