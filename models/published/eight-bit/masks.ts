import { type FileNode, type OnnxFile, usesOf, withInputs } from './onnx-file.ts';

const LENGTHS = new Set(['length', 'feature_lengths']); // names of the input
const VIEWS = new Set(['Expand', 'Unsqueeze', 'Squeeze', 'Reshape', 'Transpose', 'Cast', 'Identity']);

/**
 * A network without its masks of padding, and without what computes them. Such a mask is 1 at positions below the length of a recording:
 * `Range < length`, where the length depends on no sample. Windows are recognised one by one without padding, so it is 1 everywhere. NeMo's
 * exports multiply the largest tensors of their networks by such masks, which takes up to 25 % of the time.
 */
export function withoutMasks(file: OnnxFile): OnnxFile {
  const kept = new Map<string, string>();
  const masked = new Set<FileNode>();
  const fixed = new Set([...file.outputs, ...file.nodes.flatMap(({ nested }) => nested)]);
  for (const [node, factor] of paddingMasks(file)) {
    if (fixed.has(node.outputs[0]!)) continue;
    kept.set(node.outputs[0]!, kept.get(factor) ?? factor);
    masked.add(node);
  }
  if (!masked.size) return file;
  const nodes = file.nodes
    .filter((node) => !masked.has(node))
    .map((node) =>
      node.inputs.some((name) => kept.has(name))
        ? withInputs(
            node,
            node.inputs.map((name) => kept.get(name) ?? name),
          )
        : node,
    );
  const rest = { ...file, nodes: living(nodes, file.outputs) };
  return { ...rest, uses: usesOf(rest) };
}

/** The operators that an output depends on, in order. */
function living(nodes: readonly FileNode[], outputs: readonly string[]): FileNode[] {
  const needed = new Set(outputs);
  const found = nodes.toReversed().filter((node) => {
    const lives = node.outputs.some((name) => needed.has(name));
    if (lives) for (const name of [...node.inputs, ...node.nested]) needed.add(name);
    return lives;
  });
  return found.reverse();
}

/** The products with masks of padding, in order, each with the factor that is not the mask. */
function paddingMasks(file: OnnxFile): Map<FileNode, string> {
  const producers = new Map(file.nodes.flatMap((node) => node.outputs.map((output) => [output, node] as const)));
  const found = new Map<FileNode, string>();
  for (const node of file.nodes) {
    if (node.op !== 'Mul' || node.domain) continue;
    const [a, b] = node.inputs as [string, string];
    if (isMask(b, producers, file)) found.set(node, a);
    else if (isMask(a, producers, file)) found.set(node, b);
  }
  return found;
}

type Producers = ReadonlyMap<string, FileNode>;

function isMask(name: string, producers: Producers, file: OnnxFile): boolean {
  const comparison = beneath(name, producers);
  if (comparison?.op !== 'Less') return false;
  const [positions, length] = comparison.inputs as [string, string];
  return beneath(positions, producers)?.op === 'Range' && dependence(length, producers, file, new Map()) === 'length';
}

/** The operator that computes a tensor's numbers, before they are repeated, reshaped or cast. */
function beneath(name: string, producers: Producers): FileNode | undefined {
  let node = producers.get(name);
  while (node && VIEWS.has(node.op)) node = producers.get(node.inputs[0]!);
  return node;
}

type Dependence = 'length' | 'features' | 'shapes';

/** The input on which a tensor depends, besides shapes and constants: a length that the network is given, or features. */
function dependence(name: string, producers: Producers, file: OnnxFile, known: Map<string, Dependence>): Dependence {
  const before = known.get(name);
  if (before) return before;
  const node = producers.get(name);
  const parts = node && node.op !== 'Shape' ? node.inputs.filter(Boolean).map((input) => dependence(input, producers, file, known)) : [];
  const given = LENGTHS.has(name) ? 'length' : file.tensors.has(name) ? 'shapes' : 'features';
  const computed = parts.includes('features') || node?.nested.length ? 'features' : parts.includes('length') ? 'length' : 'shapes';
  const result = node ? computed : given;
  known.set(name, result);
  return result;
}
