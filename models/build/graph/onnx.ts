import protobuf from 'protobufjs';

/** ONNX numbers of element types. */
export const ELEMENT = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9, float16: 10 } as const;
export type Element = keyof typeof ELEMENT;
const BYTES: Record<Element, number> = { float32: 4, uint8: 1, int8: 1, int32: 4, int64: 8, bool: 1, float16: 2 };

/** A weight. `load` is called once, when it is written: a model is never held in memory whole. */
export interface Constant {
  name: string;
  element: Element;
  dims: number[];
  /** The checkpoint's weight that it holds, alone or with the next one: an int8 matrix and its scales. */
  of?: string;
  load(): ArrayBufferView;
}

/** An input or output; a string is the name of a free dimension. */
export interface Port {
  name: string;
  element: Element;
  dims: (number | string)[];
}

/** Subgraph of a Scan or Loop node. It may use every tensor defined before the node. */
export interface Body {
  nodes: Node[];
  inputs: Port[];
  outputs: Port[];
}

/** A number is an integer; floats and bodies are wrapped. */
export type Attribute = number | { float: number } | { body: Body } | string | number[];

export interface Node {
  op: string;
  domain: string;
  inputs: string[];
  outputs: string[];
  attributes: Record<string, Attribute>;
}

export interface Model extends Body {
  constants: Constant[];
  /** Version of each operator set, by domain. */
  opsets: Record<string, number>;
}

const { root } = protobuf.parse(`
  syntax = "proto3";
  message ModelProto { int64 ir_version = 1; string producer_name = 2; GraphProto graph = 7; repeated OperatorSetIdProto opset_import = 8; }
  message OperatorSetIdProto { string domain = 1; int64 version = 2; }
  message GraphProto { repeated NodeProto node = 1; string name = 2; repeated TensorProto initializer = 5; repeated ValueInfoProto input = 11; repeated ValueInfoProto output = 12; }
  message NodeProto { repeated string input = 1; repeated string output = 2; string name = 3; string op_type = 4; repeated AttributeProto attribute = 5; string domain = 7; }
  message AttributeProto { string name = 1; float f = 2; int64 i = 3; bytes s = 4; GraphProto g = 6; repeated int64 ints = 8; int32 type = 20; }
  message TensorProto { repeated int64 dims = 1; int32 data_type = 2; string name = 8; bytes raw_data = 9; repeated StringStringEntryProto external_data = 13; int32 data_location = 14; }
  message StringStringEntryProto { string key = 1; string value = 2; }
  message ValueInfoProto { string name = 1; TypeProto type = 2; }
  message TypeProto { Tensor tensor_type = 1; message Tensor { int32 elem_type = 1; TensorShapeProto shape = 2; } }
  message TensorShapeProto { repeated Dimension dim = 1; message Dimension { oneof value { int64 dim_value = 1; string dim_param = 2; } } }
`);
// Field numbers in the ONNX schema of the three fields written by hand, so that weights can be streamed.
export const MODEL_GRAPH = 7;
const GRAPH_INITIALIZER = 5;
const TENSOR_RAW_DATA = 9;

/** Bytes of a constant's weights. */
export function byteLength(constant: Constant): number {
  return constant.dims.reduce((product, size) => product * size, BYTES[constant.element]);
}

/** Encodes the part of the file before the constants. `constantBytes`: length of the encoded constants that follow. */
export function encodeGraph(model: Model, constantBytes: number): Uint8Array {
  const opsetImport = Object.entries(model.opsets).map(([domain, version]) => ({ domain, version }));
  const head = encode('ModelProto', { irVersion: 9, producerName: 'longhand', opsetImport });
  const body = encode('GraphProto', toGraph(model));
  return Buffer.concat([head, prefix(MODEL_GRAPH, body.length + constantBytes), body]);
}

/** Encodes a constant without its weights, which must follow. */
export function encodeInline(constant: Constant): Uint8Array {
  const head = Buffer.concat([encodeTensor(constant, {}), prefix(TENSOR_RAW_DATA, byteLength(constant))]);
  return Buffer.concat([prefix(GRAPH_INITIALIZER, head.length + byteLength(constant)), head]);
}

/** Encodes a constant whose weights are in another file. */
export function encodeExternal(constant: Constant, location: string, offset: number): Uint8Array {
  const entries = { location, offset: String(offset), length: String(byteLength(constant)) };
  const externalData = Object.entries(entries).map(([key, value]) => ({ key, value }));
  const tensor = encodeTensor(constant, { externalData, dataLocation: 1 });
  return Buffer.concat([prefix(GRAPH_INITIALIZER, tensor.length), tensor]);
}

/** An operator as a file holds it. Of its attributes those that are numbers are read. */
export interface DecodedNode extends Pick<Node, 'op' | 'domain' | 'inputs' | 'outputs'> {
  attributes: Map<string, number | number[]>;
  /** Names that its subgraphs use. */
  nested: string[];
}

export function decodeNode(bytes: Uint8Array): DecodedNode {
  const node = root.lookupType('NodeProto').decode(bytes) as unknown as DecodedBody['node'][number];
  const attributes = node.attribute.map(({ name, type, f, i, ints }) => {
    return [name, type === 1 ? f : type === 2 ? Number(i) : ints.map(Number)] as const;
  });
  const inside = node.attribute.flatMap(({ g }) =>
    g ? [...everyNode(g).flatMap(({ input }) => input), ...g.output.map(({ name }) => name)] : [],
  );
  return {
    op: node.opType,
    domain: node.domain,
    inputs: node.input,
    outputs: node.output,
    attributes: new Map(attributes),
    nested: inside,
  };
}

export function encodeNode(node: Node): Uint8Array {
  return encode('NodeProto', toNode(node));
}

/** The version of a set of operators, as a model names it. */
export function encodeOpset(domain: string, version: number): Uint8Array {
  return encode('OperatorSetIdProto', { domain, version });
}

/** The parts of an ONNX file that are read. */
export interface Decoded {
  /** The operators, including those of subgraphs. */
  nodes: Pick<Node, 'op' | 'inputs' | 'outputs'>[];
  /** Inline weights, row-major. They are views: changing them changes the file. */
  weights: Map<string, Uint8Array>;
  shapes: Map<string, number[]>;
}

/** Reads an ONNX file with inline weights. */
export function decodeGraph(file: Uint8Array): Decoded {
  const { graph } = root.lookupType('ModelProto').decode(file) as unknown as { graph: DecodedGraph };
  return {
    nodes: everyNode(graph).map(({ opType, input, output }) => ({ op: opType, inputs: input, outputs: output })),
    weights: new Map(graph.initializer.map(({ name, rawData }) => [name, rawData])),
    shapes: new Map(graph.initializer.map(({ name, dims }) => [name, dims.map(Number)])),
  };
}

interface DecodedBody {
  node: {
    opType: string;
    domain: string;
    input: string[];
    output: string[];
    attribute: { name: string; type: number; f: number; i: Long; ints: Long[]; g: DecodedBody | null }[];
  }[];
  output: { name: string }[];
}

/** A 64-bit integer, as protobufjs decodes it. */
type Long = number | { toString(): string };

function everyNode({ node }: DecodedBody): DecodedBody['node'] {
  return node.flatMap((one) => [one, ...one.attribute.flatMap(({ g }) => (g ? everyNode(g) : []))]);
}

interface DecodedGraph extends DecodedBody {
  initializer: { name: string; dims: Long[]; rawData: Uint8Array }[];
}

function encodeTensor({ name, element, dims }: Constant, more: object): Uint8Array {
  return encode('TensorProto', { dims, dataType: ELEMENT[element], name, ...more });
}

function encode(type: string, message: object): Uint8Array {
  return root.lookupType(type).encode(message).finish();
}

/** Tag and length of a length-delimited field. */
export function prefix(field: number, length: number): Uint8Array {
  return protobuf.Writer.create()
    .uint32((field << 3) | 2)
    .uint32(length)
    .finish();
}

function toGraph({ nodes, inputs, outputs }: Body): object {
  return { node: nodes.map(toNode), name: 'whisper', input: inputs.map(toValue), output: outputs.map(toValue) };
}

function toNode({ op, domain, inputs, outputs, attributes }: Node): object {
  const attribute = Object.entries(attributes).map(([name, value]) => ({ name, ...toAttribute(value) }));
  return { input: inputs, output: outputs, name: outputs[0], opType: op, attribute, domain };
}

function toAttribute(value: Attribute): object {
  if (typeof value === 'number') return { i: value, type: 2 };
  if (typeof value === 'string') return { s: Buffer.from(value), type: 3 };
  if (Array.isArray(value)) return { ints: value, type: 7 };
  return 'float' in value ? { f: value.float, type: 1 } : { g: toGraph(value.body), type: 5 };
}

function toValue({ name, element, dims }: Port): object {
  const dim = dims.map((size) => (typeof size === 'number' ? { dimValue: size } : { dimParam: size }));
  return { name, type: { tensorType: { elemType: ELEMENT[element], shape: { dim } } } };
}
