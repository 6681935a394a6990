import type { Recipe } from '../../descriptor.ts';
import * as graph from '../graph/graph.ts';
import { cast, constant, type Graph, index, input, ints, op, output, scalar } from '../graph/graph.ts';
import { ELEMENT, type Element, type Port } from '../graph/onnx.ts';
import { type Chosen, chooseGreedily } from './choose.ts';
import type { ModelDimensions } from './config.ts';
import { addDecoder } from './decoder.ts';
import { addEncoder } from './encoder.ts';

/** A tensor that a step of the loop passes to the next, and its value at the first one. */
interface Carried extends Port {
  initial: string;
  next: string;
}

const PREDICTED = ['special', 'textId', 'textMax', 'textLse', 'align'];

/**
 * Adds a graph that encodes W windows and greedily decodes R rows in one call, so that on a GPU keys and values never leave its memory. A
 * row is given whole in every call.
 *
 * Inputs: `frames` [W, 4, F, 100], see `addEncoder`; `of` int64 [R], the window of each row; its tokens so far, padded on the left:
 * `prefix`, `positions` int64 [R, Q] and `prefixMask` [R, 1, Q, 1+Q], with a masked position before them; `asked` int64 [R], 0 to R - 1;
 * the inputs of `chooseGreedily`; and `steps` int64 [], the maximum number of tokens.
 *
 * Outputs for the N steps until all rows have ended: the predictions of `addDecoder`, each named `<name>_all` and with N as its first
 * dimension; `chosen` int64 [N, R], the tokens chosen; `text_last` [R, E], the text logits of the last step: fetch them only if needed.
 */
export function addLoop(g: Graph, model: ModelDimensions, recipe: Recipe): void {
  const of = input(g, 'of', 'int64', ['R']);
  addEncoder(g, model, recipe);
  for (const { name } of g.outputs.splice(0)) forRows(g, name, of);
  const first: Record<string, string> = { ...firstInputs(g), ...firstCache(g, model, of), ended: filled(g, of, [], 'int64', 0) };
  const noText = filled(g, of, [model.endOfText], 'float32', 0);
  const { result: step, body } = graph.nested(g, () => addStep(g, model, recipe));
  const ports = new Map([...body.inputs, ...body.outputs].map((port) => [port.name, port]));
  const carry = (name: string, next: string): Carried => ({ ...ports.get(name)!, initial: first[name]!, next });
  const carried = [
    ...Object.entries(step.next).map(([name, next]) => carry(name, next)),
    ...step.chosen.carried.map((port) => ({ ...port, initial: first[port.name]! })),
    { ...ports.get('text')!, name: 'textBefore', initial: noText, next: 'text' },
  ];
  const predicted = [...PREDICTED.map((name) => ports.get(name)!), { name: step.chosen.token, element: 'int64' as const, dims: ['B'] }];
  const inputs = [port('iteration', 'int64'), port('unfinished', 'bool'), ...carried];
  const outputs = [port(step.unfinished, 'bool'), ...carried.map(afterStep), ...predicted];
  const start = constant(g, 'bool', [], () => Uint8Array.of(1));
  const given = [input(g, 'steps', 'int64', []), start, ...carried.map(({ initial }) => initial)];
  const results = graph.ops(g, 'Loop', given, outputs.length - 1, { body: { body: { nodes: body.nodes, inputs, outputs } } });
  const [text, ...all] = results.slice(carried.length - 1);
  output(g, 'text_last', text!, 'float32', ['R', model.endOfText]);
  predicted.forEach(({ element, dims }, i) => {
    output(g, PREDICTED[i] ? `${PREDICTED[i]}_all` : 'chosen', all[i]!, element, ['N', ...dims]);
  });
}

/** One step: a run of the decoder, the choice of a token, and the inputs of the next step. */
function addStep(g: Graph, model: ModelDimensions, recipe: Recipe) {
  addDecoder(g, model, recipe);
  const chosen = chooseGreedily(g, model);
  const least = op(g, 'ReduceMin', [cast(g, chosen.ended, ELEMENT.float32)], { keepdims: 0 });
  return { chosen, unfinished: op(g, 'Less', [least, scalar(g, 0.5)]), next: { ...nextInputs(g, chosen), ...nextCache(g, model) } };
}

/** Output of a step: onnxruntime takes dimensions of the same name for equal, and these grow. */
function afterStep({ next, element, dims }: Carried): Port {
  return { name: next, element, dims: dims.map((dim) => (dim === 'Q' || dim === 'P' || dim === 'N' ? `${dim}_next` : dim)) };
}

/** Gives every row the encoder's output of its window: `name` [W, …] becomes [R, …]. */
function forRows(g: Graph, name: string, of: string): void {
  const windows = `${name}_windows`;
  for (const node of g.nodes) node.outputs = node.outputs.map((made) => (made === name ? windows : made));
  g.nodes.push({ op: 'Gather', domain: '', inputs: [windows, of], outputs: [name], attributes: { axis: 0 } });
}

/** Inputs of the first step, and those that no step changes. */
function firstInputs(g: Graph): Record<string, string> {
  input(g, 'asked', 'int64', ['R']);
  input(g, 'latestStart', 'int64', []);
  return {
    tokens: input(g, 'prefix', 'int64', ['R', 'Q']),
    pos: input(g, 'positions', 'int64', ['R', 'Q']),
    mask: input(g, 'prefixMask', 'float32', ['R', 1, 'Q', 'Q+1']),
    timed: input(g, 'withTimestamps', 'int64', ['R']),
    last: input(g, 'lastToken', 'int64', ['R']),
    second: input(g, 'secondLastToken', 'int64', ['R']),
    latest: input(g, 'lastTimestamp', 'int64', ['R']),
  };
}

/** The decoder's inputs at the step after one that chose a token: the position after the last one, which sees what that saw and itself. */
function nextInputs(g: Graph, { token }: Chosen): Record<string, string> {
  const last = (x: string, axis: number) => op(g, 'Gather', [x, ints(g, -1)], { axis });
  const seen = last('mask', 2);
  return {
    tokens: op(g, 'Unsqueeze', [token, ints(g, 1)]),
    pos: op(g, 'Add', [last('pos', 1), index(g, 1)]),
    mask: op(g, 'Concat', [seen, last(seen, 3)], { axis: 3 }),
  };
}

/** The cache with the keys and values of a step appended. */
function nextCache(g: Graph, { decoderLayers }: ModelDimensions): Record<string, string> {
  const next: Record<string, string> = {};
  for (let l = 0; l < decoderLayers; l++) {
    const keys = op(g, 'Transpose', [`nk${l}`], { perm: [0, 1, 3, 2] });
    next[`pk${l}`] = op(g, 'Concat', [`pk${l}`, keys], { axis: 3 });
    next[`pv${l}`] = op(g, 'Concat', [`pv${l}`, `nv${l}`], { axis: 2 });
  }
  return next;
}

/** A cache of one position, which the mask excludes: some operators do not accept tensors without elements. */
function firstCache(g: Graph, { width, decoderHeads: H, decoderLayers }: ModelDimensions, of: string): Record<string, string> {
  const keys = filled(g, of, [H, width / H, 1], 'float32', 0);
  const values = filled(g, of, [H, 1, width / H], 'float32', 0);
  const layers = Array.from({ length: decoderLayers }, (_, l) => l);
  return Object.fromEntries(layers.flatMap((l) => [[`pk${l}`, keys] as const, [`pv${l}`, values] as const]));
}

/** A tensor [R, …dims] of one value. */
function filled(g: Graph, of: string, dims: number[], element: 'float32' | 'int64', value: number): string {
  const load = () => (element === 'int64' ? BigInt64Array.of(BigInt(value)) : Float32Array.of(value));
  const shape = dims.length ? op(g, 'Concat', [op(g, 'Shape', [of]), ints(g, ...dims)], { axis: 0 }) : op(g, 'Shape', [of]);
  return op(g, 'Expand', [constant(g, element, dims.map(() => 1).concat(1), load), shape]);
}

function port(name: string, element: Element): Port {
  return { name, element, dims: [] };
}
