import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { byteLength, type Constant, encodeExternal, encodeGraph, encodeInline, type Model } from './onnx.ts';

export interface WrittenFile {
  name: string;
  bytes: number;
  sha256: string;
}

export interface WriteOptions {
  /** Called with the bytes of weights written since the last call. */
  onBytes?: (bytes: number) => void;
  /** Weights larger than this in total are written to a separate file beside the graph: protobuf is limited to 2 GiB. */
  inlineLimit?: number;
  signal?: AbortSignal;
}

const INLINE_LIMIT = 1.5 * 2 ** 30;
const EXTERNAL_ALIGN = 4096; // page size: onnxruntime maps external weights
const EXTERNAL_FROM = 1024; // bytes; smaller constants stay in the graph, where shape inference reads them

/**
 * Writes an ONNX file, loading and releasing one weight at a time: `model.constants` is empty afterwards. Weights above the limit go to
 * `<path>.data`. Returns the files written with their checksums.
 */
export function writeModel(path: string, model: Model, options: WriteOptions = {}): Promise<WrittenFile[]> {
  return writeParts(path, { constants: model.constants, encode: (bytes) => encodeGraph(model, bytes) }, options);
}

/** An ONNX file to be written: its weights, and all that comes before them, given the length of the encoded weights. */
export interface Parts {
  constants: Constant[];
  encode(constantBytes: number): Uint8Array;
}

/** The same for a graph that is encoded already. */
export async function writeParts(path: string, parts: Parts, options: WriteOptions = {}): Promise<WrittenFile[]> {
  const total = weightBytes(parts);
  if (total > (options.inlineLimit ?? INLINE_LIMIT)) return writeExternal(path, parts, options);
  const heads = parts.constants.map(encodeInline);
  const file = await HashedFile.create(path);
  try {
    await file.write(parts.encode(heads.reduce((sum, head) => sum + head.length, total)));
    for (const head of heads) {
      await file.write(head);
      await writeWeights(file, parts.constants.shift()!, options);
    }
    return [file.finish()];
  } finally {
    await file.close();
  }
}

/** The same file in memory, for small models. */
export function toBytes(model: Model): Uint8Array {
  const constants = model.constants.flatMap((constant) => {
    const { buffer, byteOffset, byteLength: length } = constant.load();
    return [encodeInline(constant), new Uint8Array(buffer, byteOffset, length)];
  });
  const bytes = constants.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([encodeGraph(model, bytes), ...constants]);
}

export function weightBytes({ constants }: Pick<Model, 'constants'>): number {
  return constants.reduce((sum, constant) => sum + byteLength(constant), 0);
}

async function writeExternal(path: string, { constants, encode }: Parts, options: WriteOptions): Promise<WrittenFile[]> {
  const data = await HashedFile.create(`${path}.data`);
  const graph = await HashedFile.create(path);
  try {
    const outside = constants.filter((constant) => byteLength(constant) >= EXTERNAL_FROM);
    const offsets = new Map<Constant, number>();
    let end = 0;
    for (const constant of outside) {
      offsets.set(constant, end);
      end = Math.ceil((end + byteLength(constant)) / EXTERNAL_ALIGN) * EXTERNAL_ALIGN;
    }
    const heads = constants.map((c) => (offsets.has(c) ? encodeExternal(c, basename(data.path), offsets.get(c)!) : encodeInline(c)));
    const inside = constants.reduce((sum, c) => sum + (offsets.has(c) ? 0 : byteLength(c)), 0);
    await graph.write(encode(heads.reduce((sum, head) => sum + head.length, inside)));
    for (const head of heads) {
      const constant = constants.shift()!;
      await graph.write(head);
      if (offsets.has(constant)) await data.write(new Uint8Array(offsets.get(constant)! - data.bytes));
      await writeWeights(offsets.has(constant) ? data : graph, constant, options);
      offsets.delete(constant);
    }
    return [graph.finish(), data.finish()];
  } finally {
    await graph.close();
    await data.close();
  }
}

async function writeWeights(file: HashedFile, constant: Constant, { onBytes, signal }: WriteOptions): Promise<void> {
  signal?.throwIfAborted();
  const { buffer, byteOffset, byteLength: length } = constant.load();
  if (length !== byteLength(constant)) {
    throw new Error(
      `Cannot write the weight ${constant.name}: found ${length} bytes, wanted ${byteLength(constant)} for [${constant.dims}]; the checkpoint does not match its config.json`,
    );
  }
  await file.write(new Uint8Array(buffer, byteOffset, length));
  onBytes?.(length);
}

/** A file that is hashed while it is written. */
class HashedFile {
  readonly path: string;
  bytes = 0;
  private readonly handle: FileHandle;
  private readonly hash = createHash('sha256');

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.handle = handle;
  }

  static async create(path: string): Promise<HashedFile> {
    return new HashedFile(path, await open(path, 'w'));
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.hash.update(chunk);
    await this.handle.writeFile(chunk);
    this.bytes += chunk.length;
  }

  finish(): WrittenFile {
    return { name: basename(this.path), bytes: this.bytes, sha256: this.hash.digest('hex') };
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}
