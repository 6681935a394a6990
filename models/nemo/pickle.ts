/*
 * Reads the pickles that PyTorch writes for a state dict. Pickles are programs: this interpreter knows the few functions and classes that
 * tensors need, and builds descriptions of them; nothing is executed or loaded. Every other name is refused.
 */

/** A tensor in a checkpoint: a view of a storage, in elements. */
export interface TensorView {
  storage: Storage;
  offset: number;
  shape: number[];
  strides: number[];
}

/** Numbers in a member of the archive. */
export interface Storage {
  /** Name of the member, without its folder. */
  key: string;
  dtype: Dtype;
  elements: number;
}

/** Element types of storages, by their classes in PyTorch; those that are not floats are only skipped. */
const STORAGES = {
  FloatStorage: 'float32',
  HalfStorage: 'float16',
  BFloat16Storage: 'bfloat16',
  DoubleStorage: 'float64',
  LongStorage: 'int64',
  IntStorage: 'int32',
  ShortStorage: 'int16',
  CharStorage: 'int8',
  ByteStorage: 'uint8',
  BoolStorage: 'bool',
} as const;
export type Dtype = (typeof STORAGES)[keyof typeof STORAGES];

type Value = null | boolean | number | string | Value[] | Map<Value, Value> | Named | { tensor: TensorView } | { storage: Storage };

/** A function or class. */
interface Named {
  name: string;
}

const DICT = 'collections.OrderedDict';
const TENSOR = 'torch._utils._rebuild_tensor_v2';
const PARAMETER = 'torch._utils._rebuild_parameter';
const KNOWN = new Set([DICT, TENSOR, PARAMETER, ...Object.keys(STORAGES).map((name) => `torch.${name}`)]);
const MOST_OPCODES = 2e6; // each adds one value at most; a model of 2000 tensors has 0.1 million
const MOST_DIMENSIONS = 8;

/** The tensors of a pickled state dict by name; those of its entry `state_dict`, if it has one. */
export function unpickle(bytes: Buffer): Map<string, TensorView> {
  const whole = new Machine(bytes).run();
  const inner = whole instanceof Map ? whole.get('state_dict') : null;
  const dict = inner instanceof Map ? inner : whole;
  if (!(dict instanceof Map)) throw new Error('found no dictionary in the checkpoint, wanted a state dict of tensors by name');
  const tensors = new Map<string, TensorView>();
  for (const [name, value] of dict) {
    if (typeof name === 'string' && isTensor(value)) tensors.set(name, value.tensor);
  }
  return tensors;
}

function isTensor(value: Value | undefined): value is { tensor: TensorView } {
  return typeof value === 'object' && value !== null && 'tensor' in value;
}

class Machine {
  readonly #bytes: Buffer;
  #at = 0;
  #stack: Value[] = [];
  #marks: Value[][] = [];
  readonly #memo = new Map<number, Value>();

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Interprets opcodes until STOP. */
  run(): Value {
    for (let count = 0; count < MOST_OPCODES; count++) {
      const opcode = this.#take(1)[0]!;
      if (opcode === 0x2e) return this.#pop(); // STOP
      const act = ACTIONS[opcode];
      if (!act) throw new Error(`found the pickle opcode 0x${opcode.toString(16)} in the checkpoint, wanted those of a state dict`);
      act(this.#hands);
    }
    throw new Error(`found more than ${MOST_OPCODES} pickle opcodes in the checkpoint, wanted those of a state dict`);
  }

  readonly #hands: Hands = {
    push: (value) => void this.#stack.push(value),
    pop: () => this.#pop(),
    top: () => this.#stack.at(-1) ?? null,
    mark: () => {
      this.#marks.push(this.#stack);
      this.#stack = [];
    },
    sinceMark: () => {
      const values = this.#stack;
      this.#stack = this.#marks.pop() ?? failed('a mark that is missing');
      return values;
    },
    take: (count) => this.#take(count),
    line: () => {
      const end = this.#bytes.indexOf(10, this.#at);
      if (end < 0) failed('a name without an end');
      return this.#take(end + 1 - this.#at)
        .toString('utf8')
        .slice(0, -1);
    },
    put: (index) => void this.#memo.set(index, this.#stack.at(-1) ?? null),
    get: (index) => this.#memo.get(index) ?? failed('a value that is missing'),
  };

  #take(count: number): Buffer {
    if (!(this.#at + count <= this.#bytes.length)) failed('its end too early');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  #pop(): Value {
    const value = this.#stack.pop();
    return value === undefined ? failed('a value that is missing') : value;
  }
}

/** The parts of the machine that opcodes use. */
interface Hands {
  push(value: Value): void;
  pop(): Value;
  top(): Value;
  mark(): void;
  sinceMark(): Value[];
  take(count: number): Buffer;
  line(): string;
  put(index: number): void;
  get(index: number): Value;
}

const ACTIONS: Record<number, (m: Hands) => void> = {
  128: (m) => void m.take(1), // PROTO
  40: (m) => m.mark(), // MARK
  41: (m) => m.push([]), // EMPTY_TUPLE
  93: (m) => m.push([]), // EMPTY_LIST
  125: (m) => m.push(new Map()), // EMPTY_DICT
  78: (m) => m.push(null), // NONE
  136: (m) => m.push(true), // NEWTRUE
  137: (m) => m.push(false), // NEWFALSE
  75: (m) => m.push(m.take(1)[0]!), // BININT1
  77: (m) => m.push(m.take(2).readUInt16LE()), // BININT2
  74: (m) => m.push(m.take(4).readInt32LE()), // BININT
  71: (m) => m.push(m.take(8).readDoubleBE()), // BINFLOAT
  138: (m) => m.push(longOf(m.take(m.take(1)[0]!))), // LONG1
  88: (m) => m.push(m.take(m.take(4).readUInt32LE()).toString('utf8')), // BINUNICODE
  113: (m) => m.put(m.take(1)[0]!), // BINPUT
  114: (m) => m.put(m.take(4).readUInt32LE()), // LONG_BINPUT
  104: (m) => m.push(m.get(m.take(1)[0]!)), // BINGET
  106: (m) => m.push(m.get(m.take(4).readUInt32LE())), // LONG_BINGET
  116: (m) => m.push(m.sinceMark()), // TUPLE
  133: (m) => m.push([m.pop()]), // TUPLE1
  134: (m) => m.push([m.pop(), m.pop()].reverse()), // TUPLE2
  135: (m) => m.push([m.pop(), m.pop(), m.pop()].reverse()), // TUPLE3
  97: (m) => appendTo(m, [m.pop()]), // APPEND
  101: (m) => appendTo(m, m.sinceMark()), // APPENDS
  115: (m) => setIn(m, [m.pop(), m.pop()].reverse()), // SETITEM
  117: (m) => setIn(m, m.sinceMark()), // SETITEMS
  98: (m) => void m.pop(), // BUILD: the metadata of a state dict
  99: (m) => m.push(named(`${m.line()}.${m.line()}`)), // GLOBAL
  81: (m) => m.push({ storage: storageOf(m.pop()) }), // BINPERSID
  82: (m) => m.push(applied(...([m.pop(), m.pop()] as const))), // REDUCE
};

function named(name: string): Named {
  if (KNOWN.has(name)) return { name };
  throw new Error(`found ${name.slice(0, 120)} in the checkpoint, wanted tensors only; nothing else is ever loaded from it`);
}

function appendTo(m: Hands, values: Value[]): void {
  const list = m.top();
  if (!Array.isArray(list)) failed('a list that is missing');
  else for (const value of values) list.push(value);
}

function setIn(m: Hands, pairs: Value[]): void {
  const dict = m.top();
  if (!(dict instanceof Map) || pairs.length % 2) failed('a dictionary that is missing');
  else for (let i = 0; i < pairs.length; i += 2) dict.set(pairs[i]!, pairs[i + 1]!);
}

/** The result of a call. Note the order: arguments were pushed last. */
function applied(values: Value, callee: Value): Value {
  const name = typeof callee === 'object' && callee !== null && 'name' in callee ? callee.name : '';
  if (!Array.isArray(values)) return failed('a call without arguments');
  if (name === DICT && values.length === 0) return new Map();
  if (name === PARAMETER && isTensor(values[0])) return values[0];
  if (name === TENSOR) return { tensor: tensorOf(values) };
  return failed(`a call of ${name || 'nothing'} that is not understood`);
}

function tensorOf([store, offset, shape, strides]: Value[]): TensorView {
  if (typeof store !== 'object' || store === null || !('storage' in store) || !isSize(offset))
    return failed('a tensor without its storage');
  if (!isSizes(shape) || !isSizes(strides) || shape.length !== strides.length) return failed('a tensor without its shape');
  return { storage: store.storage, offset, shape, strides };
}

/** A reference ("storage", class, key, device, elements). */
function storageOf(reference: Value): Storage {
  const [kind, type, key, , elements] = Array.isArray(reference) ? reference : [];
  const known = typeof type === 'object' && type !== null && 'name' in type ? type.name.replace(/^torch\./, '') : '';
  if (kind !== 'storage' || !(known in STORAGES) || typeof key !== 'string' || !isSize(elements))
    return failed('a storage that is not understood');
  return { key, dtype: STORAGES[known as keyof typeof STORAGES], elements };
}

function isSize(value: Value | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isSizes(value: Value | undefined): value is number[] {
  return Array.isArray(value) && value.length <= MOST_DIMENSIONS && value.every(isSize);
}

/** A whole number of up to 8 bytes, little-endian. */
function longOf(bytes: Buffer): number {
  if (bytes.length > 8) return failed('a number that is too large');
  return bytes.length ? Number(BigInt.asIntN(8 * bytes.length, BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`))) : 0;
}

function failed(what: string): never {
  throw new Error(`found ${what} in the checkpoint's data.pkl, wanted a state dict of PyTorch; it is damaged, download the file again`);
}
