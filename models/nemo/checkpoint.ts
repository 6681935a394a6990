import { fromBfloat16, fromFloat16 } from '../build/whisper/safetensors.ts';
import { type Dtype, type TensorView, unpickle } from './pickle.ts';
import { type Region, readAll, readBuffer, within } from './region.ts';
import { zipMembers } from './zip.ts';

const PICKLE = '/data.pkl';
const MOST_PICKLE = 64 * 2 ** 20; // bytes; a model of 2000 tensors has 0.2 MB
const MOST_ELEMENTS = 2 ** 29; // of one tensor: 2 GiB in float32

const MOST_SHARED = 2; // bytes of all tensors, by those of the file: some share their data

const BYTES: Partial<Record<Dtype, number>> = { float32: 4, float16: 2, bfloat16: 2, float64: 8 };

/** The weights of a PyTorch checkpoint, read one tensor at a time without keeping any in memory. */
export class NemoCheckpoint {
  readonly #members: Map<string, Region>;
  readonly #tensors: Map<string, TensorView>;
  readonly #folder: string;

  /** Reads the list of tensors in a checkpoint, such as the `model_weights.ckpt` of a .nemo file. Throws if it is not one of PyTorch. */
  constructor(file: Region) {
    this.#members = zipMembers(file);
    const pickles = [...this.#members.keys()].filter((name) => name.endsWith(PICKLE));
    if (pickles.length !== 1) throw new Error(`found ${pickles.length} files data.pkl in the checkpoint, wanted one`);
    this.#folder = pickles[0]!.slice(0, -PICKLE.length);
    const order = this.#members.get(`${this.#folder}/byteorder`);
    if (order && readBuffer(order).toString('latin1') !== 'little') throw new Error('found big-endian weights, wanted little-endian');
    const pickle = this.#members.get(pickles[0]!)!;
    if (pickle.bytes > MOST_PICKLE) throw new Error(`found a data.pkl of ${pickle.bytes} bytes, wanted that of a state dict`);
    this.#tensors = unpickle(readBuffer(pickle));
    let bytes = 0;
    for (const [name, tensor] of this.#tensors) if (tensor.storage.dtype in BYTES) bytes += this.#place(name, tensor).bytes;
    if (bytes > MOST_SHARED * file.bytes)
      throw new Error(`found tensors with ${bytes} bytes in a checkpoint of ${file.bytes}, wanted each to have its own`);
  }

  names(): string[] {
    return [...this.#tensors.keys()];
  }

  has(name: string): boolean {
    return this.#tensors.has(name);
  }

  /** Number of parameters. */
  get parameters(): number {
    return [...this.#tensors.values()].reduce((sum, { shape }) => sum + product(shape), 0);
  }

  shape(name: string): number[] {
    return this.#tensor(name).shape;
  }

  /** The tensor as float32, row-major, converted from other floats. Throws if the checkpoint lacks it. */
  float32(name: string): Float32Array {
    const tensor = this.#tensor(name);
    const { dtype } = tensor.storage;
    if (!(dtype in BYTES)) throw new Error(`found the tensor ${name} with ${dtype}, wanted floats`);
    const values = floatsOf(readAll(this.#place(name, tensor)).buffer, dtype);
    return isRowMajor(tensor) ? values : rowMajor(values, tensor);
  }

  #tensor(name: string): TensorView {
    const found = this.#tensors.get(name);
    if (!found) throw new Error(`found no tensor ${name} in the checkpoint, wanted that of the network in model_config.yaml`);
    return found;
  }

  /** The bytes of a storage that a tensor views. Throws if it reaches beyond them. */
  #place(name: string, { storage: { key, dtype, elements }, offset, shape, strides }: TensorView): Region {
    const member = this.#members.get(`${this.#folder}/data/${key}`);
    if (!member) throw new Error(`found no data of the tensor ${name} in the checkpoint; it is damaged, download the file again`);
    const size = BYTES[dtype]!;
    const count = product(shape);
    const span = count === 0 ? 0 : 1 + shape.reduce((sum, length, i) => sum + (length - 1) * strides[i]!, 0);
    if (!(count <= MOST_ELEMENTS && span <= MOST_ELEMENTS))
      throw new Error(`found the tensor ${name} with ${count} numbers, wanted at most 2^29`);
    if (count > span) throw new Error(`found the tensor ${name} with ${count} numbers that overlap, wanted each once`);
    if (!(offset + span <= elements && elements * size <= member.bytes))
      throw new Error(
        `found the tensor ${name} beyond its data (${offset + span} of ${elements} numbers in ${member.bytes} bytes); download the file again`,
      );
    return within(member, offset * size, span * size, name);
  }
}

function product(shape: readonly number[]): number {
  return shape.reduce((result, size) => result * size, 1);
}

function floatsOf(bytes: ArrayBuffer, dtype: Dtype): Float32Array {
  if (dtype === 'float16') return fromFloat16(new Uint16Array(bytes));
  if (dtype === 'bfloat16') return fromBfloat16(new Uint16Array(bytes));
  return dtype === 'float64' ? Float32Array.from(new Float64Array(bytes)) : new Float32Array(bytes);
}

function isRowMajor({ shape, strides }: TensorView): boolean {
  let expected = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (shape[axis] !== 1 && strides[axis] !== expected) return false;
    expected *= shape[axis]!;
  }
  return true;
}

/** The elements of a view in row-major order. */
function rowMajor(values: Float32Array, { shape, strides }: TensorView): Float32Array {
  const out = new Float32Array(product(shape));
  const index = shape.map(() => 0);
  for (let i = 0, at = 0; i < out.length; i++) {
    out[i] = values[at]!;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      at += strides[axis]!;
      if (++index[axis]! < shape[axis]!) break;
      at -= index[axis]! * strides[axis]!;
      index[axis] = 0;
    }
  }
  return out;
}
