import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes of a number, by the types that are read. */
const BYTES = { F32: 4, F16: 2, BF16: 2, F64: 8 } as const;
type Dtype = keyof typeof BYTES;

interface Entry {
  file: number;
  dtype: Dtype;
  shape: number[];
  /** Bytes of the file, `end` exclusive. */
  begin: number;
  end: number;
}

export const ONE_FILE = 'model.safetensors';
export const INDEX = 'model.safetensors.index.json';
const MAX_HEADER_BYTES = 100_000_000; // limit of the format
const WRAPPERS = /^(?:base_model\.model\.|module\.|_orig_mod\.)+/; // before the names of a model that was saved within PEFT, DataParallel or torch.compile

/** The weights of a checkpoint folder, read one tensor at a time without keeping any in memory. Close it after use. */
export class Checkpoint {
  private readonly files: number[] = [];
  private readonly entries = new Map<string, Entry>();
  /** Types of the tensors that are not read, such as those of quantised checkpoints. */
  private readonly others = new Map<string, string>();

  /** Opens `model.safetensors`, or the shards listed in `model.safetensors.index.json`. Throws if there is neither or a file is damaged. */
  constructor(folder: string) {
    try {
      for (const name of shardsOf(folder)) this.readHeader(join(folder, name));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  has(name: string): boolean {
    return this.find(name) !== undefined;
  }

  names(): string[] {
    return [...this.entries.keys()];
  }

  /** Number of parameters. */
  get parameters(): number {
    return [...this.entries.values()].reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1), 0);
  }

  shape(name: string): number[] {
    return this.entry(name).shape;
  }

  /** The tensor as float32, row-major, converted from other floats. Throws if the checkpoint lacks it. */
  float32(name: string): Float32Array {
    const { file, dtype, begin, end } = this.entry(name);
    const bytes = new Uint8Array(end - begin);
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(file, bytes, at, bytes.length - at, begin + at);
      if (count === 0) throw new Error(`Cannot read the tensor ${name}: its file ends early; copy or download the checkpoint again`);
      at += count;
    }
    if (dtype === 'F32') return new Float32Array(bytes.buffer);
    if (dtype === 'F64') return Float32Array.from(new Float64Array(bytes.buffer));
    const halves = new Uint16Array(bytes.buffer);
    return dtype === 'F16' ? fromFloat16(halves) : fromBfloat16(halves);
  }

  close(): void {
    for (const file of this.files.splice(0)) closeSync(file);
  }

  private find(name: string): Entry | undefined {
    return found(this.entries, name);
  }

  private entry(name: string): Entry {
    const entry = this.find(name);
    if (entry) return entry;
    const dtype = found(this.others, name);
    throw new Error(
      dtype === undefined
        ? `Cannot build the model: the checkpoint has no tensor ${name}; expected a Whisper checkpoint in the Hugging Face layout`
        : `Cannot build the model: the tensor ${name} is ${dtype}, wanted ${Object.keys(BYTES).join(', ')}; use the checkpoint before it was quantised`,
    );
  }

  /** safetensors: header length (8 bytes, little-endian), JSON header, tensor bytes. */
  private readHeader(path: string): void {
    const file = openSync(path, 'r');
    this.files.push(file);
    const head = Buffer.alloc(8);
    const length = readSync(file, head, 0, 8, 0) === 8 ? Number(head.readBigUInt64LE()) : 0;
    const json = Buffer.alloc(length > 0 && length <= MAX_HEADER_BYTES ? length : 0);
    const whole = json.length > 0 && readSync(file, json, 0, length, 8) === length;
    const header = whole ? headerOf(json.toString('utf8')) : null;
    if (!header) {
      throw new Error(`Cannot read ${path}: it is not a safetensors file (is it a Git LFS pointer, or cut short?); download it again`);
    }
    const room = fstatSync(file).size - 8 - length;
    for (const [name, { dtype, shape, data_offsets }] of Object.entries(header)) {
      const [begin, end] = data_offsets;
      if (end > room) throw new Error(`Cannot read the tensor ${name}: its file ends early; copy or download the checkpoint again`);
      if (!isRead(dtype)) {
        this.others.set(name.replace(WRAPPERS, ''), dtype);
        continue;
      }
      const wanted = shape.reduce((product, size) => product * size, BYTES[dtype]);
      if (end - begin !== wanted)
        throw new Error(
          `Cannot read ${path}: the tensor ${name}, ${dtype} [${shape}], has ${end - begin} bytes, wanted ${wanted}; download it again`,
        );
      this.entries.set(name.replace(WRAPPERS, ''), { file, dtype, shape, begin: 8 + length + begin, end: 8 + length + end });
    }
  }
}

/** Checkpoints of the bare model use the same names without the prefix `model.`. */
function found<T>(tensors: ReadonlyMap<string, T>, name: string): T | undefined {
  return tensors.get(name) ?? tensors.get(name.replace(/^model\./, ''));
}

function isRead(dtype: string): dtype is Dtype {
  return Object.hasOwn(BYTES, dtype);
}

type Header = Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }>;

/** The tensors listed in a header's text; null if it is invalid. */
function headerOf(text: string): Header | null {
  try {
    const { __metadata__: _, ...tensors } = JSON.parse(text) as Header;
    const listed = ({ shape, data_offsets: [begin, end] }: Header[string]) => Array.isArray(shape) && 0 <= begin && begin <= end;
    return Object.values(tensors).every(listed) ? tensors : null;
  } catch {
    return null;
  }
}

/** File names of the weights in a checkpoint folder. */
export function shardsOf(folder: string): string[] {
  if (existsSync(join(folder, ONE_FILE))) return [ONE_FILE];
  if (!existsSync(join(folder, INDEX))) {
    throw new Error(`Cannot find weights in ${folder}: wanted ${ONE_FILE} or ${INDEX}; convert other formats to safetensors first`);
  }
  const shards = shardsOfIndex(readFileSync(join(folder, INDEX), 'utf8'));
  const missing = shards.find((name) => !existsSync(join(folder, name)));
  if (missing) throw new Error(`Cannot find weights in ${folder}: ${INDEX} names ${missing}, which is missing; download it as well`);
  return shards;
}

/** The distinct shard names in the text of `model.safetensors.index.json`. */
export function shardsOfIndex(text: string): string[] {
  const map = weightMap(text);
  if (!map) throw new Error(`Cannot use ${INDEX}: it does not say which file holds which weights; download it again`);
  const names = [...new Set(Object.values(map))].sort();
  const odd = names.find((name) => typeof name !== 'string' || !/^[\w-][\w.-]*$/.test(name)); // untrusted: prevent paths outside the folder
  if (odd !== undefined) throw new Error(`Cannot use ${INDEX}: it names the file "${odd}"; expected plain file names`);
  return names;
}

function weightMap(text: string): Record<string, string> | null {
  try {
    const map = (JSON.parse(text) as { weight_map?: Record<string, string> } | null)?.weight_map;
    return map && typeof map === 'object' && Object.keys(map).length ? map : null;
  } catch {
    return null;
  }
}

let table: Float32Array | undefined;

/** Converts IEEE half precision to float32 with a table of all 65,536 values. */
export function fromFloat16(halves: Uint16Array): Float32Array {
  table ??= Float32Array.from({ length: 65536 }, (_, h) => halfValue(h));
  const out = new Float32Array(halves.length);
  for (let i = 0; i < out.length; i++) out[i] = table[halves[i]!]!;
  return out;
}

function halfValue(h: number): number {
  const sign = h & 0x8000 ? -1 : 1;
  const exponent = (h >> 10) & 31;
  const fraction = h & 1023;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Converts bfloat16, the upper half of float32. */
export function fromBfloat16(halves: Uint16Array): Float32Array {
  const bits = new Uint32Array(halves.length);
  for (let i = 0; i < bits.length; i++) bits[i] = halves[i]! << 16;
  return new Float32Array(bits.buffer);
}
